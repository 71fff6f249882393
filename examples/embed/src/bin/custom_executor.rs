//! An executor of this program's own. The program fails if the call does not
//! reach it. The name of the called tool can be given as an argument.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use serde_json::json;
use windlass::config::{LoadOptions, load};
use windlass::executors::Function;
use windlass::runtime::protocol::{Parameters, ToolError};
use windlass::runtime::{
    AdoptError, Executor, Job, JobDescription, Reporter, RunMode, RunOptions, RunPolicy,
    SessionOptions, Start, ToolDefinition,
};

static STARTED: AtomicUsize = AtomicUsize::new(0);

/// Greets in the name of the project's folder, which a function is not told.
struct Greeter;

#[async_trait]
impl Executor for Greeter {
    async fn start(&self, start: Start, reporter: Reporter) -> Result<Arc<dyn Job>, ToolError> {
        STARTED.fetch_add(1, Ordering::Relaxed);
        let name = start.args["name"].as_str().unwrap_or_default();
        let greeting = format!("Hello {name}, from {}", start.root.display());
        // Any `Job` will do, of your own or of another executor.
        let function = Function::new(move |_| std::future::ready(Ok(greeting.clone())));
        function.start(start, reporter).await
    }

    async fn adopt(&self, _: JobDescription, _: Reporter) -> Result<Arc<dyn Job>, AdoptError> {
        Err(AdoptError::Unsupported)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    windlass::init();
    tokio::runtime::Runtime::new()?.block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let mut greet = ToolDefinition::new("greet");
    greet.run = RunPolicy::starting(RunMode::Unattended);
    greet.shape.parameters = Parameters::exactly([("name", json!({"type": "string"}))], &["name"]);
    let config = load(&LoadOptions::for_process(std::env::current_dir()?))?;
    let builder = windlass::Windlass::builder(config).tool(greet, Arc::new(Greeter));
    let session = builder.build().await?.session(SessionOptions::default());
    let tool = std::env::args().nth(1).unwrap_or("greet".to_owned());
    let call = json!({"id": "1", "tool": tool, "arguments": {"name": "Ada"}});
    let batch = serde_json::from_value(json!({"batch": "1", "calls": [call]}))?;
    let reply = session.run(batch, RunOptions::default()).await;
    println!("{}", reply.replies[0].content.to_text());
    session.close().await;
    assert_eq!(STARTED.load(Ordering::Relaxed), 1, "calls of the executor");
    Ok(())
}
