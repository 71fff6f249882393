//! Executors under a runtime, with real programs.

mod contract;

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use windlass_executors::{Function, FunctionCall, Launcher, LauncherOptions, Shell};
use windlass_protocol::{Batch, ReplyContent, ToolCall, ToolError};
use windlass_runtime::{Catalogue, RunOptions, Runtime, Session, SessionOptions, ToolDefinition};

fn session() -> Session {
    let launcher = Launcher::new(LauncherOptions::default()).unwrap();
    let mut catalogue = Catalogue::new();
    let shell = Arc::new(Shell::new(launcher));
    catalogue.register(Shell::definition(), shell).unwrap();
    let reverse = Function::new(|call: FunctionCall| async move {
        match call.args.get("text").and_then(|text| text.as_str()) {
            Some("panic") => panic!("as it was told"),
            Some(text) => Ok(text.chars().rev().collect()),
            None => Err(ToolError::new("`text` is missing")),
        }
    });
    let mut definition = ToolDefinition::new("reverse");
    definition.shape.parameters.additional = true;
    catalogue.register(definition, Arc::new(reverse)).unwrap();
    Runtime::new(catalogue).session(SessionOptions {
        trusted: true,
        root: std::env::temp_dir(),
        ..SessionOptions::default()
    })
}

async fn call(session: &Session, tool: &str, arguments: serde_json::Value) -> (String, bool) {
    let batch = Batch {
        id: "b".to_owned(),
        calls: vec![ToolCall {
            id: "c".to_owned(),
            tool: tool.to_owned(),
            arguments: serde_json::from_value(arguments).unwrap(),
        }],
    };
    let reply = tokio::time::timeout(
        Duration::from_mins(1),
        session.run(batch, RunOptions::default()),
    );
    let reply = reply.await.expect("it is answered").replies.remove(0);
    let ReplyContent::Text(text) = reply.content else {
        panic!("a one-shot is answered with text");
    };
    (text, reply.is_error)
}

/// A program may have exited before the job that runs it is there. The body of
/// this test is not a worker of its runtime, so both happen side by side.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_that_exit_at_once_are_answered() {
    let session = session();
    for _ in 0..200 {
        let answer = call(&session, "shell", json!({"command": ":"})).await;
        assert_eq!(answer, (String::new(), false));
    }
    session.close().await;
}

#[tokio::test]
async fn a_function_is_a_tool() {
    let session = session();
    let reversed = call(&session, "reverse", json!({"text": "abc"})).await;
    assert_eq!(reversed, ("cba".to_owned(), false));
    let failed = call(&session, "reverse", json!({})).await;
    assert_eq!(failed, ("`text` is missing".to_owned(), true));
}

#[tokio::test]
async fn a_function_that_panics_has_ended() {
    let session = session();
    let answer = call(&session, "reverse", json!({"text": "panic"})).await;
    let expected = "the function ended without a result".to_owned();
    assert_eq!(answer, (expected, true));
}

// Programs are held together here as they are in the product.
#[cfg(target_os = "linux")]
windlass_process::init_before_main!();
