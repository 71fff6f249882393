use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use windlass_runtime::protocol::{Batch, BatchReply, ToolCall};
use windlass_runtime::{Catalogue, RunOptions, Runtime, SessionOptions};

use super::*;

/// Adds two numbers.
///
/// Both may be negative.
#[derive(Deserialize, JsonSchema)]
struct Add {
    /// The first number.
    left: i64,
    right: i64,
}

fn add() -> FunctionTool {
    FunctionTool::new("add", |add: Add| async move {
        let sum = add.left.checked_add(add.right);
        sum.ok_or_else(|| ToolError::new("the sum is too large"))
    })
}

async fn call(tool: FunctionTool, arguments: Value) -> BatchReply {
    let (definition, executor) = tool.into_parts().unwrap();
    let name = definition.name.clone();
    let mut catalogue = Catalogue::new();
    catalogue.register(definition, executor).unwrap();
    let session = Runtime::new(catalogue).session(SessionOptions {
        trusted: true,
        ..SessionOptions::default()
    });
    let Value::Object(arguments) = arguments else {
        panic!("arguments are an object");
    };
    let batch = Batch {
        id: "b".to_owned(),
        calls: vec![ToolCall {
            id: "c".to_owned(),
            tool: name,
            arguments,
        }],
    };
    let reply = session.run(batch, RunOptions::default()).await;
    session.close().await;
    reply
}

async fn said(tool: FunctionTool, arguments: Value) -> (String, bool) {
    let reply = call(tool, arguments).await.replies.remove(0);
    (reply.content.to_text(), reply.is_error)
}

#[test]
fn a_struct_gives_the_parameters_and_the_words_for_the_model() {
    let (definition, _) = add().into_parts().unwrap();
    assert_eq!(definition.summary.as_deref(), Some("Adds two numbers."));
    assert_eq!(
        definition.description.as_deref(),
        Some("Both may be negative.")
    );
    assert_eq!(
        definition.shape.parameters.to_object_schema(),
        json!({
            "type": "object",
            "properties": {
                "left": {"type": "integer", "description": "The first number."},
                "right": {"type": "integer"},
            },
            "required": ["left", "right"],
            "additionalProperties": false,
        })
    );
}

#[tokio::test]
async fn a_typed_function_is_called_and_its_result_is_json() {
    let reply = said(add(), json!({"left": 40, "right": 2})).await;
    assert_eq!(reply, ("42".to_owned(), false));
}

#[tokio::test]
async fn an_error_of_a_function_is_the_calls_error() {
    let (text, is_error) = said(add(), json!({"left": i64::MAX, "right": 1})).await;
    assert!(is_error && text.contains("the sum is too large"), "{text}");
}

#[tokio::test]
async fn arguments_that_do_not_fit_reach_no_function() {
    let (text, is_error) = said(add(), json!({"left": "x", "right": 1})).await;
    assert!(is_error && text.contains("`left`"), "{text}");
}

#[tokio::test]
async fn a_function_of_json_is_called_with_what_its_schema_admits() {
    let tool = || {
        let schema = json!({
            "type": "object", "properties": {"word": {"type": "string"}},
            "required": ["word"], "additionalProperties": false,
        });
        FunctionTool::with_schema("echo", &schema, |arguments| async move {
            Ok(arguments["word"].clone())
        })
    };
    let reply = said(tool(), json!({"word": "hi"})).await;
    assert_eq!(reply, ("hi".to_owned(), false));
    let (text, is_error) = said(tool(), json!({"other": "hi"})).await;
    assert!(is_error, "{text}");
}

#[test]
fn arguments_that_are_no_struct_are_an_error() {
    let tool = FunctionTool::new("add", |_: Vec<i64>| async move { Ok("never") });
    let error = tool.into_parts().err().unwrap();
    assert_eq!(
        error.to_string(),
        "the arguments of tool `add` are not a struct with named fields; wrap them in one, or give \
         their schema"
    );
}
