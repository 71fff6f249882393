//! The four actions, the order of calls on one handle, and what stays
//! readable once a handle has stopped.

use std::time::Duration;

use insta::assert_snapshot;
use serde_json::json;
use windlass_protocol::{ToolError, Typing};
use windlass_runtime::{Ending, Exit};

use crate::support::{NOBODY, Stage};

#[tokio::test]
async fn a_spawn_answers_with_what_the_tool_has_said() {
    let stage = Stage::new();
    stage.tool.opening(|job| job.write("hello\n"));
    assert_eq!(
        stage
            .run([("tool", json!({"action": "spawn", "id": "a", "path": "x"}))])
            .await,
        r#"c1 {"id":"a","state":"running","content":"hello\n"}"#
    );
    let job = stage.tool.next().await;
    assert_eq!(job.id(), Some("a"));
    assert_eq!(json!(job.args()), json!({"path": "x"}));
}

#[tokio::test(start_paused = true)]
async fn a_spawn_waits_until_the_tool_has_had_its_say() {
    let stage = Stage::new();
    stage.tool.opening(windlass_testing::ScriptedJob::hold);
    let running = stage.go([("tool", json!({"action": "spawn", "id": "a"}))]);
    let job = stage.tool.next().await;
    job.write("slowly");
    job.settle();
    assert_eq!(
        running.await.unwrap(),
        r#"c1 {"id":"a","state":"running","content":"slowly"}"#
    );
}

#[tokio::test(start_paused = true)]
async fn a_spawn_waits_no_longer_than_settle_max() {
    let stage = Stage::with(NOBODY, |setup| {
        setup.tool.limits.settle_max = Duration::from_secs(7);
    });
    stage.tool.opening(windlass_testing::ScriptedJob::hold);
    let began = tokio::time::Instant::now();
    assert_eq!(
        stage
            .run([("tool", json!({"action": "spawn", "id": "a"}))])
            .await,
        r#"c1 {"id":"a","state":"running"}"#
    );
    assert_eq!(began.elapsed().as_secs(), 7);
}

#[tokio::test(start_paused = true)]
async fn an_apply_waits_no_longer_than_settle_max() {
    let stage = Stage::with(NOBODY, |setup| {
        setup.tool.limits.settle_max = Duration::from_secs(7);
    });
    stage.tool.opening(windlass_testing::ScriptedJob::hold);
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    let began = tokio::time::Instant::now();
    stage
        .run([("tool", json!({"action": "apply", "id": "a", "input": "y"}))])
        .await;
    assert_eq!(began.elapsed().as_secs(), 7);
}

#[tokio::test]
async fn a_tool_that_ends_while_settling_answers_stopped_at_once() {
    let stage = Stage::new();
    stage.tool.opening(windlass_testing::ScriptedJob::hold);
    let running = stage.go([("tool", json!({"action": "spawn", "id": "a"}))]);
    let job = stage.tool.next().await;
    job.write("done");
    job.end();
    assert_eq!(
        running.await.unwrap(),
        r#"c1 {"id":"a","state":"stopped","result":"done"}"#
    );
}

#[tokio::test]
async fn a_spawn_that_cannot_start_shows_a_stopped_handle() {
    let stage = Stage::new();
    stage.tool.fail_to_start(ToolError {
        message: "no such program".into(),
        trace: vec!["not on the path".into()],
        transient: true,
    });
    assert_snapshot!(
        stage
            .run([("tool", json!({"action": "spawn", "id": "a"}))])
            .await,
        @r#"c1 {"id":"a","state":"stopped","result":"no such program","error":{"transient":true,"trace":["not on the path"]}}"#
    );
}

#[tokio::test]
async fn a_fetch_gives_what_is_new_since_the_last_reply() {
    let stage = Stage::new();
    stage.tool.opening(|job| job.write("one\n"));
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    let job = stage.tool.next().await;
    job.write("two\n");
    let fetch = || [("tool", json!({"action": "fetch", "id": "a"}))];
    assert_eq!(
        stage.run(fetch()).await,
        r#"c1 {"id":"a","state":"running","content":"two\n"}"#
    );
    assert_eq!(
        stage.run(fetch()).await,
        r#"c1 {"id":"a","state":"running"}"#
    );
    assert_eq!(
        stage
            .run([("tool", json!({"action": "fetch", "id": "a", "view": "all"}))])
            .await,
        r#"c1 {"id":"a","state":"running","content":"one\ntwo\n"}"#
    );
}

#[tokio::test]
async fn a_program_at_a_prompt_says_so() {
    let stage = Stage::new();
    stage.tool.opening(|job| job.at_prompt(true));
    assert_eq!(
        stage
            .run([("tool", json!({"action": "spawn", "id": "a"}))])
            .await,
        r#"c1 {"id":"a","state":"running","awaiting_input":true}"#
    );
    stage.tool.next().await.end();
    assert_eq!(
        stage
            .run([("tool", json!({"action": "fetch", "id": "a"}))])
            .await,
        r#"c1 {"id":"a","state":"stopped","result":""}"#
    );
}

#[tokio::test]
async fn an_apply_types_and_answers_with_what_came_of_it() {
    let stage = Stage::new();
    stage.tool.opening(|job| {
        job.on_input(|job, typing| {
            let input = typing.input.as_ref().unwrap();
            job.write(&format!("got {input}\n"));
        });
    });
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    assert_eq!(
        stage
            .run([("tool", json!({"action": "apply", "id": "a", "input": "y"}))])
            .await,
        r#"c1 {"id":"a","state":"running","content":"got \"y\"\n"}"#
    );
    let job = stage.tool.next().await;
    assert_eq!(job.inputs(), [Typing::input("y")]);
}

#[tokio::test]
async fn keys_and_enter_reach_the_tool() {
    let stage = Stage::new();
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    stage
        .run([(
            "tool",
            json!({"action": "apply", "id": "a", "input": "x", "enter": false, "keys": ["ctrl-c"]}),
        )])
        .await;
    let job = stage.tool.next().await;
    let typing = Typing {
        input: Some(json!("x")),
        enter: false,
        keys: vec!["ctrl-c".into()],
    };
    assert_eq!(job.inputs(), [typing]);
}

#[tokio::test]
async fn an_abort_says_who_did_it_how_many_ended_and_the_last_output() {
    let stage = Stage::with(NOBODY, |setup| {
        setup.tool.limits.grace = Duration::from_secs(9);
    });
    stage.tool.opening(|job| job.processes(3));
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    let job = stage.tool.next().await;
    job.write("last words");
    assert_snapshot!(
        stage
            .run([("tool", json!({"action": "abort", "id": "a"}))])
            .await,
        @r#"c1 {"id":"a","state":"stopped","content":"last words","result":"aborted by the assistant","error":{"transient":false},"ended":3}"#
    );
    assert_eq!(job.aborts(), [Duration::from_secs(9)]);
}

#[tokio::test]
async fn an_abort_names_what_survived_it() {
    let stage = Stage::new();
    stage
        .tool
        .opening(|job| job.survive(&["4711 (init)", "4712"]));
    assert_snapshot!(
        stage
            .run([
                ("tool", json!({"action": "spawn", "id": "a"})),
                ("tool", json!({"action": "abort", "id": "a"}))
            ])
            .await,
        @r#"
    c1 {"id":"a","state":"running"}
    c2 {"id":"a","state":"stopped","result":"aborted by the assistant; could not end 4711 (init), 4712","error":{"transient":false},"ended":1}
    "#
    );
}

#[tokio::test]
async fn aborting_what_has_stopped_is_no_error() {
    let stage = Stage::new();
    stage.tool.opening(|job| {
        job.write("done");
        job.end();
    });
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    assert_eq!(
        stage
            .run([("tool", json!({"action": "abort", "id": "a"}))])
            .await,
        r#"c1 {"id":"a","state":"stopped","result":"done","ended":0}"#
    );
}

#[tokio::test]
async fn aborting_a_stopped_handle_ends_what_it_left_running() {
    let stage = Stage::new();
    stage.tool.opening(|job| {
        job.leave_running(2);
        job.end();
    });
    assert_snapshot!(
        stage
            .run([("tool", json!({"action": "spawn", "id": "a"}))])
            .await,
        @r#"
    c1 {"id":"a","state":"stopped","result":""}
    notice warning left_running: `a` left 2 processes running; abort it to end them
    "#
    );
    assert_eq!(
        stage
            .run([("tool", json!({"action": "abort", "id": "a"}))])
            .await,
        r#"c1 {"id":"a","state":"stopped","result":"","ended":2}"#
    );
}

#[tokio::test]
async fn spawn_apply_and_fetch_of_one_batch_follow_each_other() {
    let stage = Stage::new();
    stage.tool.opening(|job| {
        job.write("? ");
        job.on_input(|job, typing| {
            job.write(typing.input.as_ref().unwrap().as_str().unwrap());
            job.hold();
        });
    });
    let running = stage.go([
        ("tool", json!({"action": "spawn", "id": "a"})),
        ("tool", json!({"action": "apply", "id": "a", "input": "hi"})),
        ("tool", json!({"action": "fetch", "id": "a"})),
    ]);
    let job = stage.tool.next().await;
    job.typed(1).await;
    job.write(" there");
    job.settle();
    assert_snapshot!(running.await.unwrap(), @r#"
    c1 {"id":"a","state":"running","content":"? "}
    c2 {"id":"a","state":"running","content":"hi there"}
    c3 {"id":"a","state":"running"}
    "#);
}

#[tokio::test]
async fn handles_do_not_wait_for_each_other() {
    let stage = Stage::new();
    stage.tool.opening(|job| {
        if job.id() == Some("slow") {
            job.hold();
        } else {
            job.end_saying("fast");
        }
    });
    let running = stage.go([
        ("tool", json!({"action": "spawn", "id": "slow"})),
        ("tool", json!({"action": "spawn", "id": "fast"})),
        ("tool", json!({"action": "fetch", "id": "fast"})),
    ]);
    stage.called("c3").await;
    assert!(!running.is_finished());
    stage.tool.job("slow").unwrap().settle();
    assert_snapshot!(running.await.unwrap(), @r#"
    c1 {"id":"slow","state":"running"}
    c2 {"id":"fast","state":"stopped","result":"fast"}
    c3 {"id":"fast","state":"stopped","result":"fast"}
    "#);
}

#[tokio::test]
async fn one_bad_call_does_not_hurt_the_others() {
    let stage = Stage::new();
    stage.tool.opening(|job| job.end_saying("fine"));
    assert_snapshot!(
        stage
            .run([
                ("tool", json!({})),
                ("nothing", json!({})),
                ("tool", json!({"action": "fetch", "id": "lost"})),
                ("tool", json!({"action": "spawn", "id": "a"})),
            ])
            .await,
        @r#"
    c1 fine
    c2 ! there is no tool `nothing`; the tools are tool, other, await
    c3 ! Handle `lost` not found; handles: a (tool, pending)
    c4 {"id":"a","state":"stopped","result":"fine"}
    "#
    );
}

#[tokio::test]
async fn the_first_reply_of_a_stopped_handle_tells_what_is_new_and_later_ones_all() {
    let stage = Stage::new();
    stage.tool.opening(|job| job.write("one\n"));
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    let job = stage.tool.next().await;
    job.write("two\n");
    job.end();
    let fetch = || [("tool", json!({"action": "fetch", "id": "a"}))];
    assert_eq!(
        stage.run(fetch()).await,
        r#"c1 {"id":"a","state":"stopped","result":"two\n"}"#
    );
    for _ in 0..2 {
        assert_eq!(
            stage.run(fetch()).await,
            r#"c1 {"id":"a","state":"stopped","result":"one\ntwo\n"}"#
        );
    }
}

#[tokio::test]
async fn a_bad_end_shows_how_the_process_exited() {
    let stage = Stage::new();
    stage.tool.opening(|job| {
        job.write("oh no");
        job.end_with(Ending {
            exit: Some(if job.id() == Some("a") {
                Exit::Code(3)
            } else {
                Exit::Signal("SIGSEGV".into())
            }),
            ..Ending::failed("it broke")
        });
    });
    assert_snapshot!(
        stage
            .run([
                ("tool", json!({"action": "spawn", "id": "a"})),
                ("tool", json!({"action": "spawn", "id": "b"}))
            ])
            .await,
        @r#"
    c1 {"id":"a","state":"stopped","content":"oh no","result":"it broke","error":{"transient":false},"exit_code":3}
    c2 {"id":"b","state":"stopped","content":"oh no","result":"it broke","error":{"transient":false},"signal":"SIGSEGV"}
    "#
    );
}

#[tokio::test]
async fn cut_output_says_how_much_is_missing_and_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let stage = Stage::with(NOBODY, |setup| {
        setup.tool.limits.output_limit = 4;
        setup.options.log_dir = Some(folder.path().to_owned());
    });
    stage.tool.opening(|job| job.write("0123456789"));
    let told = stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    let folder = folder.path().to_str().unwrap();
    assert_snapshot!(told.replace(folder, "[folder]"), @r#"c1 {"id":"a","state":"running","content":"6789","omitted_bytes":6,"log":"[folder]/1.log"}"#);
}

#[tokio::test]
async fn active_handles_are_never_dropped_for_stopped_ones() {
    let stage = Stage::new();
    stage
        .run([("tool", json!({"action": "spawn", "id": "old"}))])
        .await;
    stage.tool.opening(windlass_testing::ScriptedJob::end);
    for number in 0..100 {
        let id = format!("h{number}");
        stage
            .run([("tool", json!({"action": "spawn", "id": id}))])
            .await;
    }
    assert_eq!(
        stage
            .run([("tool", json!({"action": "fetch", "id": "old"}))])
            .await,
        r#"c1 {"id":"old","state":"running"}"#
    );
}

#[tokio::test]
async fn an_id_can_be_spawned_again_once_its_handle_has_stopped() {
    let stage = Stage::new();
    stage.tool.opening(|job| job.end_saying("first"));
    let spawn = || [("tool", json!({"action": "spawn", "id": "a"}))];
    stage.run(spawn()).await;
    stage.tool.opening(|job| job.write("second"));
    assert_eq!(
        stage.run(spawn()).await,
        r#"c1 {"id":"a","state":"running","content":"second"}"#
    );
    assert!(stage.tool.started()[0].is_dropped());
    stage.tool.started()[1].end();
    assert_eq!(
        stage
            .run([("tool", json!({"action": "fetch", "id": "a"}))])
            .await,
        r#"c1 {"id":"a","state":"stopped","result":""}"#
    );
}

#[tokio::test]
async fn an_id_can_pass_from_one_tool_to_another() {
    let stage = Stage::new();
    stage.tool.opening(windlass_testing::ScriptedJob::end);
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    stage
        .run([("other", json!({"action": "spawn", "id": "a"}))])
        .await;
    assert_snapshot!(
        stage
            .run([("tool", json!({"action": "fetch", "id": "a"}))])
            .await,
        @"c1 ! handle `a` belongs to `other`; call `other` with this id"
    );
}
