//! Rules, and replies that settle more than what they were given to.

use insta::assert_snapshot;
use serde_json::json;
use windlass_protocol::{Decider, PermissionReply, PermissionRule, RuleAction};
use windlass_runtime::{RunMode, RunPolicy, SessionEvent, Subject};

use crate::support::{Cast, NOBODY, PERSON, Stage};

/// A tool that runs the commands in `run`, separated by `;`.
fn with_rules(cast: Cast, mode: RunMode, rules: &[(&str, RuleAction)]) -> Stage {
    let rules: Vec<PermissionRule> = rules
        .iter()
        .map(|(pattern, action)| PermissionRule {
            permission: "tool".into(),
            pattern: (*pattern).into(),
            action: *action,
        })
        .collect();
    let stage = Stage::with(cast, |setup| {
        setup.tool.run = RunPolicy::starting(mode);
        setup.tool.permissions = rules;
    });
    stage.tool.subject(|args| {
        let line = args["run"].as_str().unwrap();
        let first = line.split(' ').next().unwrap();
        Subject::new("tool", line.split("; ")).remembering([format!("{first} *")])
    });
    stage.tool.opening(|job| job.end_saying("ran"));
    stage
}

fn run(line: &str) -> [(&'static str, serde_json::Value); 1] {
    [("tool", json!({"run": line}))]
}

#[tokio::test]
async fn a_rule_allows_without_asking_and_the_journal_says_which() {
    let stage = with_rules(NOBODY, RunMode::Ask, &[("ls *", RuleAction::Allow)]);
    assert_eq!(stage.run(run("ls -l")).await, "c1 ran");
    let decided = stage
        .seen(|event| matches!(event, SessionEvent::PermissionDecided { .. }))
        .await;
    let SessionEvent::PermissionDecided { request, decision } = decided else {
        unreachable!()
    };
    assert_eq!(request.patterns, ["ls -l"]);
    assert_eq!(decision.by, Decider::Rule);
    assert_eq!(decision.reply, Some(PermissionReply::Once));
    assert_eq!(decision.rule.as_ref().unwrap().pattern, "ls *");
}

#[tokio::test]
async fn a_denial_holds_for_tools_that_run_unattended_too() {
    let mut told = Vec::new();
    for mode in [RunMode::Ask, RunMode::Unattended, RunMode::Edit] {
        let stage = with_rules(PERSON, mode, &[("rm *", RuleAction::Deny)]);
        told.push(stage.run(run("ls; rm -rf x")).await);
        assert!(stage.tool.started().is_empty());
    }
    assert_snapshot!(told.join("\n"), @"
    c1 ! the configuration denies `rm *` of `tool`; nothing has run
    c1 ! the configuration denies `rm *` of `tool`; nothing has run
    c1 ! the configuration denies `rm *` of `tool`; nothing has run
    ");
}

#[tokio::test]
async fn an_ask_holds_for_tools_that_run_unattended_too() {
    let stage = with_rules(
        PERSON,
        RunMode::Unattended,
        &[("git push *", RuleAction::Ask)],
    );
    assert_eq!(stage.run(run("git status")).await, "c1 ran");
    let running = stage.go(run("git push origin"));
    stage.person.next_permission().await.once();
    assert_eq!(running.await.unwrap(), "c1 ran");
}

#[tokio::test]
async fn an_allowed_tool_that_may_be_edited_is_shown_all_the_same() {
    let stage = with_rules(PERSON, RunMode::Edit, &[("*", RuleAction::Allow)]);
    let running = stage.go(run("ls"));
    stage.person.next_permission().await.once();
    assert_eq!(running.await.unwrap(), "c1 ran");
}

#[tokio::test]
async fn a_rejection_rejects_what_else_is_being_asked() {
    let stage = with_rules(PERSON, RunMode::Ask, &[]);
    let running = stage.go([("tool", json!({"run": "a"})), ("tool", json!({"run": "b"}))]);
    let first = stage.person.next_permission().await;
    let second = stage.person.next_permission().await;
    let id = second.asked.id.clone();
    first.reject(Some("no"));
    assert_snapshot!(running.await.unwrap(), @"
    c1 ! the user rejected `tool`: no
    c2 ! the user rejected another request, and `tool` with it; nothing has run
    ");
    second.withdrawn().await;
    let told = stage.seen(|event| matches!(event, SessionEvent::PermissionReplied { id: told, .. } if *told == id)).await;
    let SessionEvent::PermissionReplied { decision, .. } = told else {
        unreachable!()
    };
    assert_eq!(decision.by, Decider::Another);
    assert_eq!(decision.reply, Some(PermissionReply::Reject));
}

#[tokio::test]
async fn always_lets_what_it_covers_go_on_and_nothing_else() {
    let stage = with_rules(PERSON, RunMode::Ask, &[]);
    let running = stage.go([
        ("tool", json!({"run": "ls a"})),
        ("tool", json!({"run": "ls b"})),
        ("tool", json!({"run": "rm b"})),
    ]);
    let first = stage.person.next_permission().await;
    let second = stage.person.next_permission().await;
    let third = stage.person.next_permission().await;
    first.always();
    second.withdrawn().await;
    assert!(third.is_open());
    third.once();
    assert_eq!(running.await.unwrap(), "c1 ran\nc2 ran\nc3 ran");
}

#[tokio::test]
async fn what_would_be_typed_is_what_is_asked_about() {
    let stage = Stage::with(PERSON, |setup| setup.tool.run.apply = RunMode::Ask);
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    let apply = |input| {
        [(
            "tool",
            json!({"action": "apply", "id": "a", "input": input}),
        )]
    };
    let running = stage.go(apply("rm -rf x\n"));
    let prompt = stage.person.next_permission().await;
    assert_eq!(prompt.asked.permission, "tool.apply");
    assert_eq!(prompt.asked.patterns, ["rm -rf x"]);
    assert_eq!(prompt.asked.always, ["rm -rf x"]);
    prompt.always();
    running.await.unwrap();
    let again = stage.run(apply("rm -rf x")).await;
    assert_snapshot!(again, @r#"c1 {"id":"a","state":"running"}"#);
    let running = stage.go(apply("rm *"));
    let prompt = stage.person.next_permission().await;
    assert!(
        prompt.asked.always.is_empty(),
        "a star would stand for more"
    );
    prompt.reject(None);
    assert!(running.await.unwrap().starts_with("c1 !"));
}
