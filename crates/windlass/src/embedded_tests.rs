use std::path::Path;

use serde_json::{Value, json};
use windlass_config::LoadOptions;
use windlass_executors::{Function, SchemaError};
use windlass_runtime::protocol::{Batch, Parameters, PermissionRule, RuleAction, ToolCall};
use windlass_runtime::{RegisterError, RunMode, RunOptions, RunPolicy, SessionOptions};

use super::*;
use crate::{Builder, FunctionTool, Windlass};

/// A configuration of this text, in a folder of its own.
fn config(folder: &Path, text: &str) -> Config {
    let file = folder.join("windlass.toml");
    std::fs::write(&file, text).unwrap();
    let mut config = windlass_config::load(&LoadOptions {
        cwd: folder.to_owned(),
        explicit: vec![file],
        ..LoadOptions::default()
    })
    .unwrap();
    config.record = false;
    config
}

/// Builds with a configuration of this text.
async fn build(text: &str, add: impl FnOnce(Builder) -> Builder) -> Result<Windlass, BuildError> {
    let folder = tempfile::tempdir().unwrap();
    let builder = Windlass::builder(config(folder.path(), text));
    add(builder).build().await
}

fn definition(name: &str) -> ToolDefinition {
    let mut definition = ToolDefinition::new(name);
    definition.shape.one_shot = true;
    definition
}

fn hello() -> Arc<dyn Executor> {
    Arc::new(Function::new(|_| async { Ok("hello".to_owned()) }))
}

async fn error(text: &str, add: impl FnOnce(Builder) -> Builder) -> BuildError {
    build(text, add).await.err().expect("it cannot be built")
}

/// The reply to a call without arguments.
async fn call(windlass: &Windlass, tool: &str, trusted: bool) -> (String, bool) {
    let session = windlass.session(SessionOptions {
        trusted,
        ..SessionOptions::default()
    });
    let batch = Batch {
        id: "b".to_owned(),
        calls: vec![ToolCall {
            id: "c".to_owned(),
            tool: tool.to_owned(),
            arguments: serde_json::Map::new(),
        }],
    };
    let reply = session
        .run(batch, RunOptions::default())
        .await
        .replies
        .remove(0);
    session.close().await;
    (reply.content.to_text(), reply.is_error)
}

#[tokio::test]
async fn a_tool_of_any_name_is_offered_and_runs() {
    let windlass = build("", |builder| builder.tool(definition("greet"), hello())).await;
    let windlass = windlass.unwrap();
    let (text, is_error) = call(&windlass, "greet", true).await;
    assert_eq!((text.as_str(), is_error), ("hello", false));
}

#[tokio::test]
async fn the_name_of_a_built_in_tool_is_taken() {
    for name in BUILTINS {
        let error = error("", |builder| builder.tool(definition(name), hello())).await;
        assert_eq!(
            error.to_string(),
            format!(
                "tool `{name}` cannot be added: a built-in tool has that name; choose another name"
            )
        );
    }
}

#[tokio::test]
async fn two_tools_of_one_name_are_an_error() {
    let schema = json!({"type": "object"});
    let error = error("", |builder| {
        builder
            .tool(definition("greet"), hello())
            .function(FunctionTool::with_schema("greet", &schema, |_| async {
                Ok("hi")
            }))
    });
    let BuildError::NameTaken { name, owner } = error.await else {
        panic!("the name is taken");
    };
    assert_eq!((name.as_str(), owner), ("greet", NameOwner::Program));
}

#[tokio::test]
async fn the_name_of_a_configured_tool_is_taken_even_where_it_is_off() {
    let text = "[conversation.tools.greet]\ncommand = \"true\"\nenable = false\nparameters = {}\n";
    let error = error(text, |builder| builder.tool(definition("greet"), hello())).await;
    let text = error.to_string();
    assert!(
        text.contains("the configuration has a tool of that name (") && text.contains(":1:"),
        "{text}"
    );
}

#[tokio::test]
async fn a_name_that_no_provider_takes_is_an_error() {
    let error = error("", |builder| builder.tool(definition("say hi"), hello())).await;
    assert!(
        matches!(error, BuildError::Register(RegisterError::BadName(name)) if name == "say hi")
    );
}

#[tokio::test]
async fn parameters_that_no_provider_takes_are_an_error() {
    let mut definition = definition("greet");
    definition.shape.parameters =
        Parameters::exactly([("a name", json!({"type": "string"}))], &["a name"]);
    let error = error("", |builder| builder.tool(definition, hello())).await;
    let problem = SchemaError::ParameterName("a name".to_owned());
    assert!(matches!(error, BuildError::Unfit { problem: found, .. } if found == problem));
}

#[tokio::test]
async fn where_every_tool_is_off_an_added_one_is_off_and_that_is_reported() {
    let text = "[conversation.tools.\"*\"]\nenable = false\n";
    let windlass = build(text, |builder| builder.tool(definition("greet"), hello())).await;
    let windlass = windlass.unwrap();
    let problems: Vec<String> = windlass
        .problems()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        problems,
        ["tool `greet` is not offered: `enable` of conversation.tools.\"*\" is false"]
    );
    let (text, is_error) = call(&windlass, "greet", true).await;
    assert!(is_error && text.contains("`enable`"), "{text}");
}

#[tokio::test]
async fn policies_of_an_added_tool_hold_unless_the_configuration_speaks() {
    let mut unattended = definition("greet");
    unattended.run = RunPolicy::starting(RunMode::Unattended);
    unattended.permissions = vec![PermissionRule {
        permission: "greet".to_owned(),
        pattern: "*".to_owned(),
        action: RuleAction::Allow,
    }];
    let rules = unattended.permissions.clone();
    let windlass = build("", |builder| builder.tool(unattended.clone(), hello())).await;
    let windlass = windlass.unwrap();
    assert_eq!(call(&windlass, "greet", false).await.0, "hello");
    let tool = windlass.runtime().tools().get("greet").unwrap();
    assert_eq!(tool.definition().permissions, rules);
    let text = "[conversation.tools.\"*\"]\nrun = \"skip\"\n";
    let windlass = build(text, |builder| builder.tool(unattended, hello())).await;
    let windlass = windlass.unwrap();
    let run = windlass.runtime().tools().get("greet").unwrap();
    assert_eq!(run.definition().run.one_shot, RunMode::Skip);
}

#[tokio::test]
async fn a_function_that_takes_no_struct_is_an_error() {
    let tool = FunctionTool::new("sum", |_: Vec<i64>| async { Ok(Value::Null) });
    let error = error("", |builder| builder.function(tool)).await;
    assert!(matches!(error, BuildError::NotStruct { tool } if tool == "sum"));
}

#[tokio::test]
async fn a_tool_is_added_to_one_session_that_is_under_way() {
    let windlass = build("", |builder| builder).await.unwrap();
    let session = windlass.session_with_tools(SessionOptions::default());
    let other = windlass.session_with_tools(SessionOptions::default());
    let add = |name: &str| windlass.add_tool(&session, definition(name), hello());
    add("greet").unwrap();
    assert!(session.tools().get("greet").is_some());
    assert!(other.tools().get("greet").is_none());
    assert!(windlass.runtime().tools().get("greet").is_none());
    assert!(matches!(add("shell"), Err(BuildError::NameTaken { .. })));
    assert!(matches!(
        add("greet"),
        Err(BuildError::Register(RegisterError::Twice(_)))
    ));
    let off = "[conversation.tools.\"*\"]\nenable = false\n";
    let windlass = build(off, |builder| builder).await.unwrap();
    let session = windlass.session_with_tools(SessionOptions::default());
    let refused = windlass.add_tool(&session, definition("greet"), hello());
    assert!(matches!(refused, Err(BuildError::Disabled { tool }) if tool == "greet"));
}
