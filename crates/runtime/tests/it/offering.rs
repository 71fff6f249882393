//! Which tools an assistant is shown, what can be registered, and what
//! `describe_tools` says.

use std::sync::Arc;

use insta::assert_snapshot;
use serde_json::json;
use windlass_protocol::{Examples, Parameters, ToolShape};
use windlass_runtime::{
    Await, Catalogue, DescribeTools, RegisterError, RunOptions, Runtime, SessionOptions,
    ToolDefinition,
};
use windlass_testing::{Scripted, batch, lasting};

use crate::support::{NOBODY, Stage};

fn offered(tools: impl IntoIterator<Item = ToolDefinition>) -> Vec<String> {
    let mut catalogue = Catalogue::new();
    for tool in tools {
        catalogue
            .register(tool, Scripted::new().executor())
            .unwrap();
    }
    catalogue
        .register_builtin(Await::definition(), Arc::new(Await))
        .unwrap();
    catalogue
        .register_builtin(DescribeTools::definition(), Arc::new(DescribeTools))
        .unwrap();
    catalogue
        .offered()
        .map(|tool| tool.definition().name.clone())
        .collect()
}

fn documented(mut tool: ToolDefinition) -> ToolDefinition {
    tool.description = Some("In detail.".into());
    tool
}

#[test]
fn await_is_offered_only_when_a_tool_can_last() {
    assert_eq!(offered([ToolDefinition::new("plain")]), ["plain"]);
    assert_eq!(offered([lasting("tool")]), ["tool", "await"]);
}

#[test]
fn describe_tools_is_offered_only_when_there_is_documentation() {
    assert_eq!(
        offered([documented(ToolDefinition::new("plain"))]),
        ["plain", "describe_tools"]
    );
    let mut with_examples = ToolDefinition::new("plain");
    with_examples.examples = Some(Examples::Text("plain {}".into()));
    assert_eq!(offered([with_examples]), ["plain", "describe_tools"]);
    let mut with_summary = ToolDefinition::new("plain");
    with_summary.summary = Some("A line.".into());
    assert_eq!(offered([with_summary]), ["plain"]);
}

#[test]
fn other_tools_may_take_the_place_of_all() {
    let register = |catalogue: &mut Catalogue, name: &str| {
        let tool = ToolDefinition::new(name);
        catalogue
            .register(tool, Scripted::new().executor())
            .unwrap();
    };
    let mut catalogue = Catalogue::new();
    assert!(!catalogue.may_change());
    catalogue.expect_replacement();
    assert!(catalogue.may_change());
    for name in ["stays", "changes", "goes"] {
        register(&mut catalogue, name);
    }
    let runtime = Runtime::new(catalogue);
    let changes = runtime.tools().changes();
    let mut successor = runtime.tools().successor();
    successor.share(runtime.tools().get("stays").unwrap());
    register(&mut successor, "changes");
    register(&mut successor, "comes");
    let late = successor.late();
    let before = Arc::clone(runtime.tools().get("stays").unwrap());
    assert!(runtime.replace_tools(&Runtime::new(successor)));
    assert!(changes.has_changed().unwrap());
    let names = || -> Vec<String> {
        let tools = runtime.tools().offered();
        tools.map(|tool| tool.definition().name.clone()).collect()
    };
    assert_eq!(names(), ["stays", "changes", "comes"]);
    assert!(Arc::ptr_eq(&before, runtime.tools().get("stays").unwrap()));
    assert!(runtime.tools().get("goes").is_none());
    let mut changes = runtime.tools().changes();
    changes.mark_unchanged();
    let come = (ToolDefinition::new("late"), Scripted::new().executor());
    assert!(late.fill([come]).is_empty());
    assert!(
        changes.has_changed().unwrap(),
        "who watched the first sees it"
    );
    assert_eq!(names(), ["stays", "changes", "comes", "late"]);
    assert!(!runtime.replace_tools(&Runtime::new(Catalogue::new())));
    assert_eq!(names().len(), 4);
}

#[test]
fn appended_tools_are_offered_in_their_layer_alone() {
    let tool = |name: &str| (ToolDefinition::new(name), Scripted::new().executor());
    let append = |runtime: &Runtime, name: &str| {
        let (definition, executor) = tool(name);
        runtime.tools().append(definition, executor)
    };
    let names = |runtime: &Runtime| -> Vec<String> {
        let tools = runtime.tools().offered();
        tools.map(|tool| tool.definition().name.clone()).collect()
    };
    let mut catalogue = Catalogue::new();
    let (definition, executor) = tool("base");
    catalogue.register(definition, executor).unwrap();
    catalogue.expect_replacement();
    let late = catalogue.late();
    let runtime = Runtime::new(catalogue);
    let (one, other) = (runtime.layered(), runtime.layered());
    let changes = one.tools().changes();
    append(&one, "first").unwrap();
    append(&one, "second").unwrap();
    assert!(changes.has_changed().unwrap());
    assert_eq!(names(&one), ["base", "first", "second"]);
    assert_eq!(names(&other), ["base"]);
    assert_eq!(names(&runtime), ["base"]);
    assert!(other.tools().get("first").is_none());
    for taken in ["base", "first"] {
        let twice = append(&one, taken).unwrap_err();
        assert_eq!(twice, RegisterError::Twice(taken.to_owned()));
    }
    assert!(late.fill([tool("late")]).is_empty());
    assert_eq!(names(&one), ["base", "late", "first", "second"]);
    let mut successor = runtime.tools().successor();
    let (definition, executor) = tool("trusted");
    successor.register(definition, executor).unwrap();
    assert!(one.tools().may_change());
    assert!(runtime.replace_tools(&Runtime::new(successor)));
    assert_eq!(names(&one), ["trusted", "first", "second"]);
}

#[test]
fn what_providers_would_not_take_cannot_be_registered() {
    let mut catalogue = Catalogue::new();
    let mut register = |tool: ToolDefinition| catalogue.register(tool, Scripted::new().executor());
    for name in ["", "1st", "a b", "-a", "ä", &"a".repeat(49)] {
        let error = register(ToolDefinition::new(name)).unwrap_err();
        assert_eq!(error, RegisterError::BadName(name.to_owned()));
    }
    register(ToolDefinition::new("a".repeat(48))).unwrap();
    register(ToolDefinition::new("_a-1")).unwrap();
    let twice = register(ToolDefinition::new("_a-1")).unwrap_err();
    assert_eq!(
        twice.to_string(),
        "there are two tools named `_a-1`; rename one of them"
    );
}

#[test]
fn parameters_of_a_lasting_tool_may_not_take_the_names_of_every_handle() {
    let mut refusals = Vec::new();
    for name in ToolShape::RESERVED {
        let with = |mut tool: ToolDefinition| {
            tool.shape
                .parameters
                .properties
                .insert(name.to_owned(), json!({}));
            Catalogue::new().register(tool, Scripted::new().executor())
        };
        refusals.push(with(lasting("tool")).unwrap_err().to_string());
        with(ToolDefinition::new("plain")).unwrap();
    }
    assert_snapshot!(refusals.join("\n"), @"
    tool `tool` has actions, which use the name of its parameter `action`; rename it
    tool `tool` has actions, which use the name of its parameter `id`; rename it
    tool `tool` has actions, which use the name of its parameter `input`; rename it
    tool `tool` has actions, which use the name of its parameter `view`; rename it
    tool `tool` has actions, which use the name of its parameter `keys`; rename it
    tool `tool` has actions, which use the name of its parameter `enter`; rename it
    ");
}

#[test]
fn parameters_must_be_json_schema() {
    let mut tool = ToolDefinition::new("tool");
    tool.shape.parameters = Parameters {
        properties: [("x".to_owned(), json!({"type": "strang"}))]
            .into_iter()
            .collect(),
        ..Parameters::default()
    };
    let error = Catalogue::new()
        .register(tool, Scripted::new().executor())
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("the parameters of tool `tool` are not a JSON Schema: "),
        "{error}"
    );
}

#[tokio::test]
async fn describe_tools_tells_what_the_schemas_leave_out() {
    let stage = Stage::with(NOBODY, |setup| {
        setup.tool.summary = Some("Works.".into());
        setup.tool.description = Some("In detail.\n".into());
        setup.tool.examples = Some(Examples::List(vec![json!("tool {}"), json!({"path": "x"})]));
        setup.other.examples = Some(Examples::Text("other {}".into()));
    });
    assert_snapshot!(
        stage
            .run([("describe_tools", json!({"tools": ["tool", "other"]}))])
            .await,
        @r#"
    c1 # tool

    Works.

    In detail.

    Examples:
    - tool {}
    - {"path":"x"}

    # other

    Examples:
    other {}
    "#
    );
}

#[tokio::test]
async fn describe_tools_says_what_it_needs() {
    let stage = Stage::with(NOBODY, |setup| setup.tool = documented(setup.tool.clone()));
    let check = async |arguments, refusal: &str| {
        assert_eq!(
            stage.run([("describe_tools", arguments)]).await,
            format!("c1 ! {refusal}")
        );
    };
    check(json!({}), "missing `tools`").await;
    check(json!({"tools": []}), "`tools`: [] has less than 1 item").await;
    check(
        json!({"tools": ["tol"]}),
        "there is no tool `tol`; the tools are tool, other, await, describe_tools",
    )
    .await;
}

#[tokio::test]
async fn a_tool_that_could_not_be_had_is_not_offered_and_says_why() {
    let mut catalogue = Catalogue::new();
    catalogue.set_unavailable("gone", "its program crashed; mend it");
    catalogue
        .register(ToolDefinition::new("there"), Scripted::new().executor())
        .unwrap();
    catalogue
        .register_builtin(DescribeTools::definition(), Arc::new(DescribeTools))
        .unwrap();
    let offered: Vec<_> = catalogue.offered().map(|tool| tool.definition()).collect();
    assert_eq!(offered.len(), 1);
    let session = Runtime::new(catalogue).session(SessionOptions::default());
    let calls = [
        ("gone", json!({})),
        ("describe_tools", json!({"tools": ["gone"]})),
    ];
    for reply in session
        .run(batch(calls), RunOptions::default())
        .await
        .replies
    {
        assert!(reply.is_error);
        assert_eq!(
            reply.content.to_text(),
            "`gone` cannot be used: its program crashed; mend it"
        );
    }
}

#[tokio::test]
async fn definitions_of_a_parameter_are_checked_like_any_other_schema() {
    let mut tool = ToolDefinition::new("walk");
    tool.shape.parameters = Parameters::from_object_schema(&json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/Node"}, "b": {"$ref": "#/properties/a"}},
        "$defs": {"Node": {
            "type": "object",
            "properties": {"next": {"$ref": "#/$defs/Node"}, "name": {"type": "string"}},
        }},
    }));
    let scripted = Scripted::new();
    scripted.opening(|job| job.end_saying("ran"));
    let mut catalogue = Catalogue::new();
    catalogue.register(tool, scripted.executor()).unwrap();
    let session = Runtime::new(catalogue).session(SessionOptions {
        trusted: true,
        ..SessionOptions::default()
    });
    let deep = |name| json!({"next": {"next": {"name": name}}});
    let calls = [
        (
            "walk",
            json!({"a": deep(json!("x")), "b": deep(json!("y"))}),
        ),
        ("walk", json!({"a": deep(json!(1))})),
        ("walk", json!({"b": deep(json!(2))})),
    ];
    let replies = session
        .run(batch(calls), RunOptions::default())
        .await
        .replies;
    let told: Vec<_> = replies
        .iter()
        .map(|reply| reply.content.to_text())
        .collect();
    assert_eq!(
        told,
        [
            "ran",
            "`a.next.next.name`: 1 is not of type \"string\"",
            "`b.next.next.name`: 2 is not of type \"string\"",
        ]
    );
}
