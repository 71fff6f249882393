//! A function of this program as a tool that assistants can call.
//!
//! It fails if the call does not reach the function. The name of the called
//! tool can be given as an argument.

use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use windlass::config::{LoadOptions, load};
use windlass::runtime::{RunOptions, SessionOptions};
use windlass::{FunctionTool, Windlass};

static CALLED: AtomicUsize = AtomicUsize::new(0);

/// Adds two numbers.
#[derive(Deserialize, JsonSchema)]
struct Add {
    left: i64,
    right: i64,
}

fn main() -> Result<(), Box<dyn Error>> {
    // Before anything else: tools are started by a copy of this program.
    windlass::init();
    tokio::runtime::Runtime::new()?.block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let add = FunctionTool::new("add", |add: Add| async move {
        CALLED.fetch_add(1, Ordering::Relaxed);
        Ok(add.left + add.right)
    });
    let config = load(&LoadOptions::for_process(std::env::current_dir()?))?;
    let windlass = Windlass::builder(config).function(add).build().await?;
    let session = windlass.session(SessionOptions {
        trusted: true,
        ..SessionOptions::default()
    });
    let tool = std::env::args().nth(1).unwrap_or("add".to_owned());
    let batch = json!({"batch": "1", "calls": [
        {"id": "sum", "tool": tool, "arguments": {"left": 40, "right": 2}},
    ]});
    let batch = serde_json::from_value(batch)?;
    let reply = session.run(batch, RunOptions::default()).await;
    println!("{}", reply.replies[0].content.to_text());
    session.close().await;
    assert_eq!(CALLED.load(Ordering::Relaxed), 1, "calls of the function");
    Ok(())
}
