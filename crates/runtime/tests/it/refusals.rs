//! Every refusal, word for word: each must say what would work.

use insta::assert_snapshot;
use serde_json::{Value, json};
use windlass_protocol::{ActionSet, HandleAction, Parameters, ToolShape};

use crate::support::{NOBODY, Stage};

/// A stage whose `tool` has one required parameter and no `abort`, and whose
/// `other` has no actions; a handle `h` of `tool` runs.
async fn strict() -> Stage {
    let stage = Stage::with(NOBODY, |setup| {
        setup.tool.shape = ToolShape {
            parameters: Parameters::exactly([("path", json!({"type": "string"}))], &["path"]),
            actions: [
                HandleAction::Spawn,
                HandleAction::Fetch,
                HandleAction::Apply,
            ]
            .into_iter()
            .collect(),
            one_shot: true,
            typing: false,
            lines: false,
            keep: false,
        };
        setup.other.shape = ToolShape::default();
    });
    stage
        .run([("tool", json!({"action": "spawn", "id": "h", "path": "x"}))])
        .await;
    stage
}

async fn check(tool: &str, arguments: Value, refusal: &str) {
    let stage = strict().await;
    let answered = stage.run([(tool, arguments.clone())]).await;
    assert_eq!(answered, format!("c1 ! {refusal}"), "{tool} {arguments}");
    assert_eq!(stage.tool.started().len(), 1, "nothing has run");
    assert_eq!(stage.other.started().len(), 0, "nothing has run");
    assert_eq!(stage.session.handles().len(), 1, "nothing is reserved");
}

#[tokio::test]
async fn unknown_tools() {
    check(
        "tol",
        json!({}),
        "there is no tool `tol`; the tools are tool, other, await",
    )
    .await;
}

#[tokio::test]
async fn undeclared_and_unknown_actions() {
    check(
        "tool",
        json!({"action": "abort", "id": "h"}),
        "`abort` is not an action of this tool; it has spawn, fetch, apply",
    )
    .await;
    check(
        "tool",
        json!({"action": "stop", "id": "h"}),
        "`stop` is not an action of this tool; it has spawn, fetch, apply",
    )
    .await;
    check(
        "tool",
        json!({"action": 3, "id": "h"}),
        "`3` is not an action of this tool; it has spawn, fetch, apply",
    )
    .await;
    check(
        "other",
        json!({"action": "spawn", "id": "x"}),
        "this tool has no actions; call it without `action`",
    )
    .await;
}

#[tokio::test]
async fn ids_that_are_missing_or_cannot_be() {
    check(
        "tool",
        json!({"action": "fetch"}),
        "action `fetch` needs an `id`; handles: h (tool, running)",
    )
    .await;
    check(
        "tool",
        json!({"action": "spawn", "path": "x"}),
        "action `spawn` needs an `id`",
    )
    .await;
    check(
        "tool",
        json!({"action": "fetch", "id": 1}),
        "`id` must be a string",
    )
    .await;
    check(
        "tool",
        json!({"action": "spawn", "id": "a b", "path": "x"}),
        "`a b` cannot be a handle ID; use 1 to 64 of A-Z a-z 0-9 _ . -",
    )
    .await;
}

#[tokio::test]
async fn unknown_handles_with_those_that_are() {
    check(
        "tool",
        json!({"action": "fetch", "id": "g"}),
        "Handle `g` not found; handles: h (tool, running)",
    )
    .await;
    check(
        "tool",
        json!({"action": "apply", "id": "g", "input": "x"}),
        "Handle `g` not found; handles: h (tool, running)",
    )
    .await;
}

#[tokio::test]
async fn arguments_that_are_missing_unknown_or_wrong() {
    check("tool", json!({}), "missing `path`").await;
    check(
        "tool",
        json!({"action": "spawn", "id": "a"}),
        "missing `path`, which action `spawn` needs",
    )
    .await;
    check(
        "tool",
        json!({"path": "x", "deep": true}),
        "unknown argument `deep`; this tool takes path",
    )
    .await;
    check(
        "other",
        json!({"x": 1}),
        "unknown argument `x`; this tool takes none",
    )
    .await;
    check(
        "tool",
        json!({"path": 7}),
        r#"`path`: 7 is not of type "string""#,
    )
    .await;
    check(
        "tool",
        json!({"action": "spawn", "id": "a", "path": 7}),
        r#"`path`: 7 is not of type "string""#,
    )
    .await;
    check(
        "tool",
        json!({"action": "apply", "id": "h"}),
        "action `apply` needs `input`",
    )
    .await;
}

#[tokio::test]
async fn another_tools_handle() {
    let stage = Stage::new();
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    for arguments in [
        json!({"action": "fetch", "id": "a"}),
        json!({"action": "apply", "id": "a", "input": "x"}),
        json!({"action": "abort", "id": "a"}),
    ] {
        assert_eq!(
            stage.run([("other", arguments)]).await,
            "c1 ! handle `a` belongs to `tool`; call `tool` with this id"
        );
    }
    let job = stage.tool.next().await;
    assert!(job.inputs().is_empty() && job.aborts().is_empty());
}

#[tokio::test]
async fn input_for_what_has_stopped() {
    let stage = Stage::new();
    stage.tool.opening(windlass_testing::ScriptedJob::end);
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    assert_snapshot!(
        stage
            .run([("tool", json!({"action": "apply", "id": "a", "input": "x"}))])
            .await,
        @"c1 ! handle `a` has stopped and takes no input; fetch it to read its result"
    );
}

#[tokio::test]
async fn input_that_the_tool_refuses() {
    let stage = Stage::new();
    stage
        .tool
        .opening(|job| job.refuse_input("stdin is closed; spawn it again to type"));
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    assert_eq!(
        stage
            .run([("tool", json!({"action": "apply", "id": "a", "input": "x"}))])
            .await,
        "c1 ! stdin is closed; spawn it again to type"
    );
    assert_eq!(
        stage
            .run([("tool", json!({"action": "fetch", "id": "a"}))])
            .await,
        r#"c1 {"id":"a","state":"running"}"#
    );
}

#[tokio::test]
async fn two_spawns_of_one_id_refuse_the_whole_batch() {
    let stage = Stage::new();
    let why = "handle `a` is spawned twice in this batch; choose another ID for one of them; no call of this batch has run";
    assert_eq!(
        stage
            .run([
                ("tool", json!({"action": "spawn", "id": "b"})),
                ("tool", json!({"action": "spawn", "id": "a"})),
                ("tool", json!({})),
                ("other", json!({"action": "spawn", "id": "a"})),
            ])
            .await,
        format!("c1 ! {why}\nc2 ! {why}\nc3 ! {why}\nc4 ! {why}")
    );
    assert!(stage.session.handles().is_empty());
    assert!(stage.tool.started().is_empty() && stage.other.started().is_empty());
    stage
        .run([("tool", json!({"action": "spawn", "id": "b"}))])
        .await;
    assert_eq!(stage.tool.started().len(), 1);
}

#[tokio::test]
async fn a_spawn_of_an_active_id_refuses_the_whole_batch() {
    let stage = Stage::new();
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    let why = "handle `a` is already active; choose another ID; no call of this batch has run";
    assert_eq!(
        stage
            .run([
                ("tool", json!({"action": "spawn", "id": "new"})),
                ("tool", json!({"action": "fetch", "id": "a"})),
                ("other", json!({"action": "spawn", "id": "a"})),
            ])
            .await,
        format!("c1 ! {why}\nc2 ! {why}\nc3 ! {why}")
    );
    assert_eq!(stage.session.handles().len(), 1);
    assert_eq!(stage.tool.started().len(), 1);
}

#[tokio::test]
async fn an_unreadable_spawn_does_not_collide() {
    let stage = strict().await;
    assert_snapshot!(
        stage
            .run([
                ("tool", json!({"action": "spawn", "id": "a"})),
                ("tool", json!({"action": "spawn", "id": "a", "path": "x"})),
            ])
            .await,
        @r#"
    c1 ! missing `path`, which action `spawn` needs
    c2 {"id":"a","state":"running"}
    "#
    );
}

#[tokio::test]
async fn an_action_is_passed_on_to_a_tool_that_has_such_a_parameter() {
    let stage = Stage::with(NOBODY, |setup| {
        setup.tool.shape = ToolShape {
            parameters: Parameters {
                properties: [("action".to_owned(), json!({"type": "string"}))]
                    .into_iter()
                    .collect(),
                ..Parameters::default()
            },
            actions: ActionSet::NONE,
            ..ToolShape::default()
        };
    });
    stage.tool.opening(|job| job.end_saying("jumped"));
    assert_eq!(
        stage.run([("tool", json!({"action": "jump"}))]).await,
        "c1 jumped"
    );
}

#[tokio::test]
async fn a_list_of_allowed_values_is_complete() {
    let colours: Vec<String> = (0..12).map(|number| format!("c{number}")).collect();
    let stage = Stage::with(NOBODY, |setup| {
        let colour = json!({"type": "string", "enum": colours});
        setup.tool.shape.parameters = Parameters::exactly([("colour", colour)], &[]);
    });
    let refused = stage.run([("tool", json!({"colour": "c99"}))]).await;
    assert_snapshot!(
        refused,
        @r#"c1 ! `colour`: "c99" is not one of "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9", "c10", "c11""#
    );
}
