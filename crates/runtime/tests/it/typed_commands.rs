//! Rules speak of the commands that are typed into a tool that runs them.

use insta::assert_snapshot;
use serde_json::{Value, json};
use windlass_protocol::{PermissionRule, RuleAction};
use windlass_runtime::{RunMode, RunPolicy, Subject};

use crate::support::{PERSON, Stage};

fn rule(pattern: &str, action: RuleAction) -> PermissionRule {
    PermissionRule {
        permission: "tool".to_owned(),
        pattern: pattern.to_owned(),
        action,
    }
}

/// A tool that is like `bash`, under these rules. Its subject is the argument `run`.
fn shell(mode: RunMode, rules: Vec<PermissionRule>) -> Stage {
    let stage = Stage::with(PERSON, |setup| {
        setup.tool.run = RunPolicy::starting(mode);
        setup.tool.permissions = rules;
    });
    stage
        .tool
        .subject(|args| Subject::new("tool", args["run"].as_str()));
    stage.tool.opening(|job| job.run_typed("bash"));
    stage
}

fn spawn(run: &str) -> (&'static str, Value) {
    ("tool", json!({"action": "spawn", "id": "a", "run": run}))
}

fn typed(input: &str) -> (&'static str, Value) {
    (
        "tool",
        json!({"action": "apply", "id": "a", "input": input}),
    )
}

const WELL: &str = r#"c1 {"id":"a","state":"running"}"#;

#[tokio::test]
async fn a_denied_command_is_not_typed_though_typing_is_unattended() {
    let stage = shell(RunMode::Unattended, vec![rule("touch *", RuleAction::Deny)]);
    stage.run([spawn("bash")]).await;
    assert_snapshot!(
        stage.run([typed("touch x")]).await,
        @"c1 ! the configuration denies `touch *` of `tool`; nothing has run"
    );
    assert_eq!(stage.tool.job("a").unwrap().inputs(), []);
    assert_eq!(stage.run([typed("ls")]).await, WELL);
    assert_eq!(stage.tool.job("a").unwrap().inputs().len(), 1);
}

#[tokio::test]
async fn a_command_that_a_rule_asks_about_is_asked_about() {
    let stage = shell(RunMode::Unattended, vec![rule("rm *", RuleAction::Ask)]);
    stage.run([spawn("bash")]).await;
    let running = stage.go([typed("rm x")]);
    let prompt = stage.person.next_permission().await;
    assert_eq!(prompt.asked.permission, "tool");
    assert_eq!(prompt.asked.patterns, ["rm x"]);
    prompt.once();
    assert_eq!(running.await.unwrap(), WELL);
    assert_eq!(stage.tool.job("a").unwrap().inputs().len(), 1);
}

#[tokio::test]
async fn a_rule_that_allowed_the_start_has_not_allowed_what_is_typed() {
    let rules = vec![
        rule("git log *", RuleAction::Allow),
        rule("ls *", RuleAction::Allow),
    ];
    let stage = shell(RunMode::Ask, rules);
    stage.run([spawn("git log")]).await;
    assert_eq!(stage.run([typed("ls -l")]).await, WELL);
    let running = stage.go([typed("touch x")]);
    stage.person.next_permission().await.reject(None);
    assert_eq!(
        running.await.unwrap(),
        "c1 ! the user rejected `tool`; nothing has run"
    );
}

#[tokio::test]
async fn a_rule_that_allows_the_program_allows_what_it_reads() {
    for pattern in ["bash", "bash *"] {
        let stage = shell(RunMode::Ask, vec![rule(pattern, RuleAction::Allow)]);
        stage.run([spawn("bash")]).await;
        assert_eq!(stage.run([typed("touch x")]).await, WELL, "{pattern}");
    }
}

#[tokio::test]
async fn what_a_person_has_started_takes_typing_unasked() {
    let stage = shell(RunMode::Ask, vec![rule("ls *", RuleAction::Allow)]);
    let running = stage.go([spawn("bash")]);
    stage.person.next_permission().await.once();
    running.await.unwrap();
    assert_eq!(stage.run([typed("touch x")]).await, WELL);
}
