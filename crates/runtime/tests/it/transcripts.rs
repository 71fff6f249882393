//! The conversations of the protocol's design, whole.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_protocol::{HandleAction, Parameters, Typing};
use windlass_runtime::{Await, Catalogue, RunOptions, Runtime, Session, SessionOptions};
use windlass_testing::{Scripted, ScriptedJob, batch, lasting};

/// A session with these tools and `await`.
fn session<const N: usize>(tools: [(&str, &Scripted); N]) -> Session {
    let mut catalogue = Catalogue::new();
    for (name, scripted) in tools {
        catalogue
            .register(lasting(name), scripted.executor())
            .unwrap();
    }
    let builtin = Arc::new(Await);
    catalogue
        .register_builtin(Await::definition(), builtin)
        .unwrap();
    Runtime::new(catalogue).session(SessionOptions::default())
}

async fn replies<const N: usize>(session: &Session, calls: [(&str, Value); N]) -> Value {
    json!(session.run(batch(calls), RunOptions::default()).await)
}

/// Interactive staging: the first hunk is shown at once, the prompt a little
/// later, and the last answer ends it.
fn staging(job: &ScriptedJob) {
    job.write("diff --git a/...");
    job.on_input(|job: &ScriptedJob, typing: &Typing| {
        assert_eq!(typing, &Typing::input("y"));
        job.write("Next hunk: ...");
    });
}

#[tokio::test]
async fn staging_hunks_interactively() {
    let git = Scripted::new();
    git.opening(staging);
    let session = session([("git", &git)]);
    let spawn =
        json!({"action": "spawn", "id": "staging", "command": "stage", "args": ["--patch"]});
    insta::assert_json_snapshot!(replies(&session, [("git", spawn)]).await, @r#"
    {
      "batch": "b",
      "replies": [
        {
          "id": "c1",
          "content": {
            "id": "staging",
            "state": "running",
            "content": "diff --git a/..."
          },
          "is_error": false
        }
      ]
    }
    "#);
    let job = git.next().await;
    assert_eq!(
        json!(job.args()),
        json!({"command": "stage", "args": ["--patch"]})
    );
    job.write("Stage hunk? [y/n/...]");
    let fetch = || [("git", json!({"action": "fetch", "id": "staging"}))];
    insta::assert_json_snapshot!(replies(&session, fetch()).await, @r#"
    {
      "batch": "b",
      "replies": [
        {
          "id": "c1",
          "content": {
            "id": "staging",
            "state": "running",
            "content": "Stage hunk? [y/n/...]"
          },
          "is_error": false
        }
      ]
    }
    "#);
    let apply = json!({"action": "apply", "id": "staging", "input": "y"});
    insta::assert_json_snapshot!(replies(&session, [("git", apply)]).await, @r#"
    {
      "batch": "b",
      "replies": [
        {
          "id": "c1",
          "content": {
            "id": "staging",
            "state": "running",
            "content": "Next hunk: ..."
          },
          "is_error": false
        }
      ]
    }
    "#);
    job.end_saying("Staged 3 hunks.");
    insta::assert_json_snapshot!(replies(&session, fetch()).await, @r#"
    {
      "batch": "b",
      "replies": [
        {
          "id": "c1",
          "content": {
            "id": "staging",
            "state": "stopped",
            "result": "Staged 3 hunks."
          },
          "is_error": false
        }
      ]
    }
    "#);
}

#[tokio::test]
async fn checking_and_testing_in_one_batch() {
    let check = Scripted::new();
    let test = Scripted::new();
    let session = session([("cargo_check", &check), ("cargo_test", &test)]);
    let running = tokio::spawn({
        let session = session.clone();
        async move {
            let calls = [
                (
                    "cargo_check",
                    json!({"action": "spawn", "id": "check", "package": "jp_cli"}),
                ),
                (
                    "cargo_test",
                    json!({"action": "spawn", "id": "test", "package": "jp_cli"}),
                ),
                ("await", json!({"all": ["check", "test"]})),
            ];
            replies(&session, calls).await
        }
    });
    let test = test.next().await;
    let check = check.next().await;
    // Both spawns are answered before the tools end.
    let mut journal = session.journal().tail(0);
    let mut answered = 0;
    while answered < 2 {
        let (_, entry) = journal.next().await.unwrap();
        answered += usize::from(matches!(
            entry.event,
            windlass_runtime::SessionEvent::Replied { .. }
        ));
    }
    test.end_saying("test result: ok. 42 passed");
    check.end_saying("ok, 0 warnings");
    insta::assert_json_snapshot!(running.await.unwrap(), @r#"
    {
      "batch": "b",
      "replies": [
        {
          "id": "c1",
          "content": {
            "id": "check",
            "state": "running"
          },
          "is_error": false
        },
        {
          "id": "c2",
          "content": {
            "id": "test",
            "state": "running"
          },
          "is_error": false
        },
        {
          "id": "c3",
          "content": {
            "completed": [
              {
                "id": "check",
                "state": "stopped",
                "result": "ok, 0 warnings"
              },
              {
                "id": "test",
                "state": "stopped",
                "result": "test result: ok. 42 passed"
              }
            ],
            "pending": []
          },
          "is_error": false
        }
      ]
    }
    "#);
}

#[tokio::test]
async fn racing_two_searches() {
    let crates = Scripted::new();
    crates.opening(|job| job.end_saying("tokio, async-std, ..."));
    let github = Scripted::new();
    let session = session([("crate_search", &crates), ("github_code_search", &github)]);
    let calls = [
        (
            "crate_search",
            json!({"action": "spawn", "id": "crates", "query": "async runtime"}),
        ),
        (
            "github_code_search",
            json!({"action": "spawn", "id": "github", "query": "async runtime"}),
        ),
        ("await", json!({"any": ["crates", "github"]})),
    ];
    let replies = replies(&session, calls).await;
    insta::assert_json_snapshot!(replies["replies"][2], @r#"
    {
      "id": "c3",
      "content": {
        "completed": [
          {
            "id": "crates",
            "state": "stopped",
            "result": "tokio, async-std, ..."
          }
        ],
        "pending": [
          {
            "id": "github",
            "state": "running"
          }
        ]
      },
      "is_error": false
    }
    "#);
    assert!(!github.next().await.has_ended(), "the loser runs on");
}

#[tokio::test(start_paused = true)]
async fn waiting_no_longer_than_said() {
    let check = Scripted::new();
    check.opening(|job| job.end_saying("ok"));
    let test = Scripted::new();
    let session = session([("cargo_check", &check), ("cargo_test", &test)]);
    let calls = [
        ("cargo_check", json!({"action": "spawn", "id": "check"})),
        ("cargo_test", json!({"action": "spawn", "id": "test"})),
        (
            "await",
            json!({"all": ["check", "test"], "timeout_secs": 30}),
        ),
    ];
    let replies = replies(&session, calls).await;
    insta::assert_json_snapshot!(replies["replies"][2]["content"], @r#"
    {
      "completed": [
        {
          "id": "check",
          "state": "stopped",
          "result": "ok"
        }
      ],
      "pending": [
        {
          "id": "test",
          "state": "running"
        }
      ],
      "timed_out": true
    }
    "#);
}

#[tokio::test]
async fn an_action_that_a_tool_does_not_declare_cannot_be_called() {
    let check = Scripted::new();
    let mut definition = lasting("cargo_check");
    definition.shape.parameters = Parameters {
        properties: [("package".to_owned(), json!({"type": "string"}))]
            .into_iter()
            .collect(),
        ..Parameters::default()
    };
    let actions = [
        HandleAction::Spawn,
        HandleAction::Fetch,
        HandleAction::Abort,
    ];
    definition.shape.actions = actions.into_iter().collect();
    let mut catalogue = Catalogue::new();
    catalogue.register(definition, check.executor()).unwrap();
    let session = Runtime::new(catalogue).session(SessionOptions::default());
    let calls = [
        (
            "cargo_check",
            json!({"action": "spawn", "id": "check", "package": "jp_cli"}),
        ),
        (
            "cargo_check",
            json!({"action": "apply", "id": "check", "input": "y"}),
        ),
    ];
    let replies = replies(&session, calls).await;
    insta::assert_json_snapshot!(replies["replies"][1], @r#"
    {
      "id": "c2",
      "content": "`apply` is not an action of this tool; it has spawn, fetch, abort",
      "is_error": true
    }
    "#);
}
