//! Asking before something runs.

use insta::assert_snapshot;
use serde_json::json;
use windlass_protocol::{
    Arguments, Decider, DecisionRecord, HandleAction, Parameters, PermissionAnswer, PermissionId,
    PermissionReply, PermissionRequest, PermissionRule, RuleAction,
};
use windlass_runtime::{RunMode, RunPolicy, SessionEvent, Subject};

use crate::support::{Cast, NOBODY, PERSON, Stage};

/// The metadata but for how the request is shown, which is tested where it is
/// made.
fn unrendered(request: &PermissionRequest) -> serde_json::Value {
    let mut metadata = request.metadata.clone();
    assert!(metadata.shift_remove("rendering").is_some());
    json!(metadata)
}

fn asking(cast: Cast, mode: RunMode) -> Stage {
    let stage = Stage::with(cast, |setup| {
        setup.tool.run = RunPolicy::starting(mode);
    });
    stage.tool.opening(|job| job.end_saying("ran"));
    stage
}

#[tokio::test]
async fn an_unattended_tool_runs_without_asking() {
    let stage = asking(PERSON, RunMode::Unattended);
    assert_eq!(stage.run([("tool", json!({}))]).await, "c1 ran");
}

#[tokio::test]
async fn a_tool_is_asked_about_unless_said() {
    assert_eq!(
        windlass_runtime::ToolDefinition::new("x").run,
        RunPolicy::starting(RunMode::Ask)
    );
    for (action, mode) in [
        (None, RunMode::Ask),
        (Some(HandleAction::Spawn), RunMode::Ask),
        (Some(HandleAction::Fetch), RunMode::Unattended),
        (Some(HandleAction::Apply), RunMode::Unattended),
        (Some(HandleAction::Abort), RunMode::Unattended),
    ] {
        assert_eq!(RunPolicy::default().mode(action), mode);
    }
}

#[tokio::test]
async fn a_request_says_what_would_be_done() {
    let stage = asking(PERSON, RunMode::Ask);
    stage.tool.subject(|args| {
        let pattern = format!("open {}", args["path"].as_str().unwrap());
        Subject::new("tool", [pattern]).remembering(["open *"])
    });
    let running = stage.go([("tool", json!({"path": "x"}))]);
    let prompt = stage.person.next_permission().await;
    let request = &prompt.asked;
    assert_eq!(request.session_id, *stage.session.id());
    assert_eq!(request.permission, "tool");
    assert_eq!(request.patterns, ["open x"]);
    assert_eq!(request.always, ["open *"]);
    assert_eq!(request.tool.as_ref().unwrap().call_id, "c1");
    assert_eq!(
        unrendered(request),
        json!({"tool": "tool", "arguments": {"path": "x"}})
    );
    prompt.once();
    assert_eq!(running.await.unwrap(), "c1 ran");
}

#[tokio::test]
async fn a_request_shows_the_arguments_as_the_tool_would() {
    let stage = asking(PERSON, RunMode::Ask);
    stage.tool.set_display("open x, then close it");
    let running = stage.go([("tool", json!({"path": "x"}))]);
    let prompt = stage.person.next_permission().await;
    assert_eq!(
        unrendered(&prompt.asked),
        json!({"tool": "tool", "arguments": {"path": "x"}, "display": "open x, then close it"})
    );
    prompt.once();
    assert_eq!(running.await.unwrap(), "c1 ran");
}

#[tokio::test]
async fn once_is_once() {
    let stage = asking(PERSON, RunMode::Ask);
    for _ in 0..2 {
        let running = stage.go([("tool", json!({}))]);
        stage.person.next_permission().await.once();
        assert_eq!(running.await.unwrap(), "c1 ran");
    }
}

#[tokio::test]
async fn always_covers_what_its_patterns_cover_and_no_more() {
    let stage = asking(PERSON, RunMode::Ask);
    stage
        .tool
        .subject(|args| Subject::new("tool", args["run"].as_str()).remembering(["git status *"]));
    let running = stage.go([("tool", json!({"run": "git status"}))]);
    stage.person.next_permission().await.always();
    running.await.unwrap();
    for covered in ["git status", "git status -s"] {
        assert_eq!(
            stage.run([("tool", json!({"run": covered}))]).await,
            "c1 ran"
        );
    }
    for other in ["git push", "git statusquo", "rm git status"] {
        let running = stage.go([("tool", json!({"run": other}))]);
        stage.person.next_permission().await.reject(None);
        assert_eq!(
            running.await.unwrap(),
            "c1 ! the user rejected `tool`; nothing has run"
        );
    }
}

#[tokio::test]
async fn a_rejection_carries_the_persons_words_and_nothing_runs() {
    let stage = asking(PERSON, RunMode::Ask);
    let running = stage.go([("tool", json!({}))]);
    stage
        .person
        .next_permission()
        .await
        .reject(Some("use cargo instead"));
    assert_eq!(
        running.await.unwrap(),
        "c1 ! the user rejected `tool`: use cargo instead"
    );
    assert!(stage.tool.started().is_empty());
}

#[tokio::test]
async fn a_rejected_spawn_is_told_once_and_its_id_is_free_again() {
    let stage = asking(PERSON, RunMode::Ask);
    let spawn = || [("tool", json!({"action": "spawn", "id": "a"}))];
    let running = stage.go(spawn());
    stage.person.next_permission().await.reject(None);
    assert_eq!(
        running.await.unwrap(),
        "c1 ! the user rejected `tool`; nothing has run"
    );
    assert_snapshot!(
        stage
            .run([("tool", json!({"action": "fetch", "id": "a"}))])
            .await,
        @r#"c1 {"id":"a","state":"stopped","result":"the user rejected `tool`; nothing has run","error":{"transient":false}}"#
    );
    let running = stage.go(spawn());
    stage.person.next_permission().await.once();
    assert_eq!(
        running.await.unwrap(),
        r#"c1 {"id":"a","state":"stopped","result":"ran"}"#
    );
}

#[tokio::test]
async fn nobody_to_ask_is_a_refusal_that_does_not_say_how_to_weaken_the_guard() {
    let why = "`tool` needs the user's permission and no user can be asked, so nothing has run; \
               tell the user";
    let stage = asking(NOBODY, RunMode::Ask);
    assert_eq!(
        stage.run([("tool", json!({}))]).await,
        format!("c1 ! {why}")
    );
    let stage = asking(PERSON, RunMode::Ask);
    let running = stage.go([("tool", json!({"action": "spawn", "id": "a"}))]);
    stage.person.next_permission().await.decline();
    assert_eq!(running.await.unwrap(), format!("c1 ! {why}"));
    assert!(stage.tool.started().is_empty());
}

#[tokio::test]
async fn a_trusted_session_asks_nobody() {
    let stage = Stage::with(NOBODY, |setup| {
        setup.tool.run = RunPolicy::default();
        setup.options.trusted = true;
    });
    stage.tool.opening(|job| job.end_saying("ran"));
    assert_eq!(stage.run([("tool", json!({}))]).await, "c1 ran");
}

#[tokio::test]
async fn a_skipped_tool_does_not_run_and_that_is_no_error() {
    let stage = Stage::with(NOBODY, |setup| {
        setup.tool.run = RunPolicy::starting(RunMode::Skip);
    });
    assert_snapshot!(
        stage
            .run([
                ("tool", json!({})),
                ("tool", json!({"action": "spawn", "id": "a"}))
            ])
            .await,
        @"
    c1 skipped: the configuration sets `tool` not to run
    c2 skipped: the configuration sets `tool` not to run
    "
    );
    assert!(stage.tool.started().is_empty());
}

#[tokio::test]
async fn every_action_has_a_mode_of_its_own() {
    let stage = Stage::with(PERSON, |setup| {
        setup.tool.run = RunPolicy {
            one_shot: RunMode::Skip,
            spawn: RunMode::Unattended,
            fetch: RunMode::Skip,
            apply: RunMode::Ask,
            abort: RunMode::Ask,
        };
    });
    let running = stage.go([
        ("tool", json!({"action": "spawn", "id": "a"})),
        ("tool", json!({"action": "fetch", "id": "a"})),
        ("tool", json!({"action": "apply", "id": "a", "input": "x"})),
        ("tool", json!({"action": "abort", "id": "a"})),
        ("tool", json!({})),
    ]);
    let apply = stage.person.next_permission().await;
    assert_eq!(
        unrendered(&apply.asked),
        json!({"tool": "tool", "action": "apply", "handle": "a", "arguments": {"input": "x"}})
    );
    apply.reject(None);
    let abort = stage.person.next_permission().await;
    assert_eq!(abort.asked.metadata["action"], json!("abort"));
    abort.reject(None);
    assert_snapshot!(running.await.unwrap(), @r#"
    c1 {"id":"a","state":"running"}
    c2 skipped: the configuration sets `tool` not to run
    c3 ! the user rejected `tool`; nothing has run
    c4 ! the user rejected `tool`; nothing has run
    c5 skipped: the configuration sets `tool` not to run
    "#);
    let job = stage.tool.next().await;
    assert!(job.inputs().is_empty() && job.aborts().is_empty());
}

fn edited(arguments: serde_json::Value) -> PermissionAnswer {
    let arguments: Arguments = serde_json::from_value(arguments).unwrap();
    PermissionAnswer {
        reply: PermissionReply::Once,
        message: None,
        arguments: Some(arguments),
    }
}

#[tokio::test]
async fn a_person_may_edit_the_arguments() {
    let stage = asking(PERSON, RunMode::Edit);
    let running = stage.go([("tool", json!({"path": "x"}))]);
    let prompt = stage.person.next_permission().await;
    assert_eq!(prompt.asked.metadata["edit"], json!(true));
    prompt.reply(edited(json!({"path": "y"})));
    assert_snapshot!(running.await.unwrap(), @r#"
    c1 ran
    notice warning edited: the user changed your call of `tool` before it ran; it ran as: {"path":"y"}
    "#);
    assert_eq!(json!(stage.tool.next().await.args()), json!({"path": "y"}));
}

#[tokio::test]
async fn a_bad_edit_is_the_persons_to_mend() {
    let stage = Stage::with(PERSON, |setup| {
        setup.tool.run = RunPolicy::starting(RunMode::Edit);
        setup.tool.run.apply = RunMode::Edit;
        setup.tool.shape.parameters =
            Parameters::exactly([("path", json!({"type": "string"}))], &["path"]);
    });
    let requests = stage.session.requests();
    let bad = |id: &PermissionId, edit| {
        let told = requests.reply(id, edited(edit)).unwrap_err();
        assert_eq!(requests.len(), 1, "it stays open");
        told.to_string()
    };
    let running = stage.go([("tool", json!({"action": "spawn", "id": "a", "path": "x"}))]);
    let prompt = stage.person.next_permission().await;
    assert_snapshot!(
        bad(&prompt.asked.id, json!({"path": 1})),
        @r#"the edited arguments are invalid: `path`: 1 is not of type "string"; the request stays open, edit them again"#
    );
    let told = bad(&prompt.asked.id, json!({}));
    assert_snapshot!(told, @r#"the edited arguments are invalid: "path" is a required property; the request stays open, edit them again"#);
    prompt.reply(edited(json!({"path": "y"})));
    running.await.unwrap();
    let job = stage.tool.next().await;
    assert_eq!(json!(job.args()), json!({"path": "y"}));

    let apply = json!({"action": "apply", "id": "a", "input": "ls"});
    let running = stage.go([("tool", apply)]);
    let prompt = stage.person.next_permission().await;
    for edit in [json!({"keys": "esc"}), json!({}), json!({"inptu": "x"})] {
        bad(&prompt.asked.id, edit);
    }
    prompt.reply(edited(json!({"input": "pwd"})));
    running.await.unwrap();
    assert_eq!(job.inputs()[0].input, Some(json!("pwd")));
}

#[tokio::test]
async fn a_request_says_which_handle_it_is_about() {
    let stage = Stage::with(PERSON, |setup| {
        setup.tool.run = RunPolicy::starting(RunMode::Ask);
        setup.tool.run.apply = RunMode::Ask;
        setup.tool.run.abort = RunMode::Ask;
    });
    for (call, title) in [
        (json!({"action": "spawn"}), "Run `tool`?"),
        (
            json!({"action": "apply", "input": "x"}),
            "Run `tool.apply` on handle `a`?",
        ),
        (
            json!({"action": "abort"}),
            "Run `tool.abort` on handle `a`?",
        ),
    ] {
        let mut call = call;
        call["id"] = json!("a");
        let running = stage.go([("tool", call)]);
        let prompt = stage.person.next_permission().await;
        assert_eq!(prompt.asked.metadata["handle"], json!("a"));
        assert_eq!(prompt.asked.metadata["rendering"]["title"], json!(title));
        prompt.once();
        running.await.unwrap();
    }
}

#[tokio::test]
async fn a_person_may_edit_what_is_typed() {
    let stage = Stage::with(PERSON, |setup| setup.tool.run.apply = RunMode::Edit);
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    let running = stage.go([(
        "tool",
        json!({"action": "apply", "id": "a", "input": "rm -r /"}),
    )]);
    let prompt = stage.person.next_permission().await;
    prompt.reply(edited(json!({"input": "ls", "keys": ["ctrl-d"]})));
    running.await.unwrap();
    let inputs = stage.tool.next().await.inputs();
    assert_eq!(inputs[0].input, Some(json!("ls")));
    assert_eq!(inputs[0].keys, ["ctrl-d"]);
}

/// A tool whose calls are known by their `run`, and remembered by its first
/// word.
fn known_by_first_word(stage: &Stage) {
    stage.tool.subject(|args| {
        let run = args["run"].as_str().unwrap();
        let first = run.split(' ').next().unwrap();
        Subject::new("tool", [run]).remembering([format!("{first} *")])
    });
}

fn edited_always(run: &str) -> PermissionAnswer {
    PermissionAnswer {
        reply: PermissionReply::Always,
        ..edited(json!({"run": run}))
    }
}

/// The reply to a call that a person changed to `echo harmless`.
const RAN_HARMLESS: &str = "c1 ran\nnotice warning edited: the user changed your call of `tool` before it ran; it ran as: {\"run\":\"echo harmless\"}";

#[tokio::test]
async fn always_remembers_what_ran_and_not_what_was_asked_for() {
    let stage = asking(PERSON, RunMode::Ask);
    known_by_first_word(&stage);
    let running = stage.go([("tool", json!({"run": "rm -rf x"}))]);
    let prompt = stage.person.next_permission().await;
    prompt.reply(edited_always("echo harmless"));
    assert_eq!(running.await.unwrap(), RAN_HARMLESS);

    assert_eq!(
        stage.run([("tool", json!({"run": "echo twice"}))]).await,
        "c1 ran"
    );
    let running = stage.go([("tool", json!({"run": "rm -rf y"}))]);
    stage.person.next_permission().await.reject(None);
    assert_eq!(
        running.await.unwrap(),
        "c1 ! the user rejected `tool`; nothing has run"
    );
}

#[tokio::test]
async fn an_edit_with_always_settles_only_what_its_own_subject_covers() {
    let stage = asking(PERSON, RunMode::Ask);
    known_by_first_word(&stage);
    let edited = stage.go([("tool", json!({"run": "rm -rf x"}))]);
    let prompt = stage.person.next_permission().await;
    let removing = stage.go([("tool", json!({"run": "rm -rf y"}))]);
    let other = stage.person.next_permission().await;
    prompt.reply(edited_always("echo harmless"));
    assert_eq!(edited.await.unwrap(), RAN_HARMLESS);
    assert!(other.is_open());
    other.reject(None);
    removing.await.unwrap();
}

#[tokio::test]
async fn an_edited_call_that_a_rule_denies_does_not_run_and_is_not_remembered() {
    let stage = Stage::with(PERSON, |setup| {
        setup.tool.run = RunPolicy::starting(RunMode::Edit);
        setup.tool.permissions = vec![PermissionRule {
            permission: "tool".into(),
            pattern: "rm *".into(),
            action: RuleAction::Deny,
        }];
    });
    stage.tool.opening(|job| job.end_saying("ran"));
    known_by_first_word(&stage);
    let running = stage.go([("tool", json!({"run": "echo harmless"}))]);
    let prompt = stage.person.next_permission().await;
    prompt.reply(edited_always("rm -rf x"));
    assert_snapshot!(
        running.await.unwrap(),
        @"c1 ! the configuration denies `rm *` of `tool`; nothing has run"
    );
    assert!(stage.tool.started().is_empty());
    let denied = stage.events().await.into_iter().any(|event| match event {
        SessionEvent::PermissionDecided { decision, .. } => decision.by == Decider::Rule,
        _ => false,
    });
    assert!(denied, "the record says which rule it was");
}

#[tokio::test]
async fn edited_arguments_that_are_not_understood_are_not_remembered() {
    let stage = Stage::with(PERSON, |setup| {
        setup.tool.run = RunPolicy::starting(RunMode::Ask);
        setup.tool.shape.parameters =
            Parameters::exactly([("path", json!({"type": "string"}))], &["path"]);
    });
    stage.tool.opening(|job| job.end_saying("ran"));
    let running = stage.go([("tool", json!({"path": "x"}))]);
    let prompt = stage.person.next_permission().await;
    prompt.reply(PermissionAnswer {
        reply: PermissionReply::Always,
        ..edited(json!({}))
    });
    stage.person.next_permission().await.once();
    assert_eq!(running.await.unwrap(), "c1 ran");
    let running = stage.go([("tool", json!({"path": "x"}))]);
    stage.person.next_permission().await.reject(None);
    running.await.unwrap();
}

#[tokio::test]
async fn aborting_a_pending_handle_withdraws_the_request_and_the_journal_says_so() {
    let stage = asking(PERSON, RunMode::Ask);
    let running = stage.go([("tool", json!({"action": "spawn", "id": "a"}))]);
    let prompt = stage.person.next_permission().await;
    let id = prompt.asked.id.clone();
    let told = stage
        .run([("await", json!({"all": ["a"], "timeout_secs": 0}))])
        .await;
    assert_snapshot!(told.replace(id.as_str(), "[permission]"), @r#"c1 {"completed":[],"pending":[{"id":"a","state":"pending","note":"waiting for the user: they allow it with `windlass permissions reply [permission] once` or on the page; tell them, and await this handle"}],"timed_out":true}"#);
    let aborted = r#"{"id":"a","state":"stopped","result":"aborted by the assistant","error":{"transient":false}"#;
    assert_eq!(
        stage
            .run([("tool", json!({"action": "abort", "id": "a"}))])
            .await,
        format!("c1 {aborted},\"ended\":0}}")
    );
    assert_eq!(running.await.unwrap(), format!("c1 {aborted}}}"));
    prompt.withdrawn().await;
    let decision = DecisionRecord::new(Decider::Withdrawn, None).into();
    let withdrawn = SessionEvent::PermissionReplied { id, decision };
    assert!(stage.events().await.contains(&withdrawn));
    assert!(stage.tool.started().is_empty());
    assert_eq!(stage.notices(), "");
}

#[tokio::test]
async fn the_journal_tells_each_request_and_its_reply() {
    let stage = asking(PERSON, RunMode::Ask);
    let running = stage.go([("tool", json!({}))]);
    let prompt = stage.person.next_permission().await;
    let request = prompt.asked.clone();
    prompt.always();
    running.await.unwrap();
    let events = stage.events().await;
    assert_eq!(
        events[0],
        SessionEvent::PermissionAsked(request.clone().into())
    );
    let replied = SessionEvent::PermissionReplied {
        id: request.id,
        decision: DecisionRecord::new(Decider::Person, Some(PermissionReply::Always)).into(),
    };
    assert_eq!(events[1], replied);
}

#[tokio::test]
async fn an_abort_while_a_tool_is_being_started_leaves_nothing_running() {
    let stage = Stage::new();
    stage.tool.hold();
    let running = stage.go([("tool", json!({"action": "spawn", "id": "a"}))]);
    stage.tool.attempted(1).await;
    let aborted = stage
        .run([("tool", json!({"action": "abort", "id": "a"}))])
        .await;
    assert_snapshot!(aborted, @r#"c1 {"id":"a","state":"stopped","result":"aborted by the assistant","error":{"transient":false},"ended":0}"#);
    running.await.unwrap();
    stage.tool.release();
    assert!(
        stage
            .tool
            .started()
            .iter()
            .all(windlass_testing::ScriptedJob::has_ended)
    );
}

#[tokio::test]
async fn an_abort_in_the_batch_of_its_spawn_waits_for_the_spawns_reply() {
    let stage = Stage::with(PERSON, |setup| {
        setup.tool.run = RunPolicy::starting(RunMode::Ask);
    });
    let running = stage.go([
        ("tool", json!({"action": "spawn", "id": "a"})),
        ("tool", json!({"action": "abort", "id": "a"})),
    ]);
    stage.person.next_permission().await.once();
    assert_snapshot!(running.await.unwrap(), @r#"
    c1 {"id":"a","state":"running"}
    c2 {"id":"a","state":"stopped","result":"aborted by the assistant","error":{"transient":false},"ended":1}
    "#);
}
