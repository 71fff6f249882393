//! An agent: a loop between any model and the tools of a runtime.
//!
//! It fails if the model does not call the tool, or never ends. The name of
//! the tool that the model calls can be given as an argument.

use std::error::Error;
use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use windlass::FunctionTool;
use windlass::runtime::protocol::{Batch, ToolCall};
use windlass::runtime::{Catalogue, RunOptions, Runtime, Session, SessionOptions};

static CALLED: AtomicUsize = AtomicUsize::new(0);

/// A model's reply: it continues with calls of tools, or breaks off with its
/// last word.
type Reply = ControlFlow<String, Vec<ToolCall>>;

/// The loop. The model is any function from the conversation to a reply.
async fn work(session: &Session, task: &str, model: impl Fn(&[String]) -> Reply) -> Option<String> {
    let mut heard = vec![task.to_owned()];
    for step in 0..8 {
        let calls = match model(&heard) {
            Continue(calls) => calls,
            Break(last_word) => return Some(last_word),
        };
        let id = step.to_string();
        let batch = Batch { id, calls };
        let answered = session.run(batch, RunOptions::default()).await;
        heard.extend(answered.replies.iter().map(|it| it.content.to_text()));
    }
    None
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let weather = FunctionTool::with_schema("weather", &schema, |_| async {
        CALLED.fetch_add(1, Ordering::Relaxed);
        Ok("sunny")
    });
    let (definition, executor) = weather.unattended().into_parts()?;
    let mut tools = Catalogue::new();
    tools.register(definition, executor)?;
    let session = Runtime::new(tools).session(SessionOptions::default());
    let tool = std::env::args().nth(1).unwrap_or("weather".to_owned());
    let call = json!([{"id": "1", "tool": tool, "arguments": {"city": "Oslo"}}]);
    let calls: Vec<ToolCall> = serde_json::from_value(call)?;
    let script = |heard: &[String]| match heard {
        [_task] => Continue(calls.clone()),
        heard => Break(format!("In Oslo it is {}.", heard[heard.len() - 1])),
    };
    let last_word = work(&session, "How is the weather in Oslo?", script).await;
    println!("{}", last_word.ok_or("the model does not end")?);
    assert_eq!(CALLED.load(Ordering::Relaxed), 1, "calls of the tool");
    Ok(())
}
