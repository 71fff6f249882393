//! Long output is shown in part, and its lines can be fetched until the session ends.

use std::path::Path;

use insta::assert_snapshot;
use serde_json::{Value, json};
use windlass_protocol::{DigestPolicy, HandleAction, LineRange, PartState};
use windlass_runtime::SessionEvent;
use windlass_testing::{Recorded, ScriptedJob};

use crate::support::{Cast, NOBODY, Setup, Stage};

/// A stage whose tool has a digest.
fn stage(folder: &Path) -> Stage {
    with(folder, NOBODY, |_| {})
}

fn with(folder: &Path, cast: Cast, change: impl FnOnce(&mut Setup)) -> Stage {
    Stage::with(cast, |setup| {
        setup.tool.digest = DigestPolicy::on();
        setup.options.log_dir = Some(folder.to_owned());
        change(setup);
    })
}

/// A build from one step to another, of 400.
fn steps(from: usize, to: usize) -> String {
    let line = |step| format!("[{step:3}/400] CC src/module_{:02}/file.o\n", step % 40);
    (from..=to).map(line).collect()
}

fn builds(job: &ScriptedJob) {
    job.write(&steps(1, 400));
    job.write("BUILD OK\n");
    job.end();
}

fn fetch(id: &str, more: Value) -> (&'static str, Value) {
    let mut arguments = json!({"action": "fetch", "id": id});
    let Value::Object(more) = more else {
        panic!("an object is wanted")
    };
    arguments.as_object_mut().unwrap().extend(more);
    ("tool", arguments)
}

const ENDS: &str = "[  1/400] CC src/module_01/file.o\n\
                    [  2/400] CC src/module_02/file.o\n\
                    [  3/400] CC src/module_03/file.o\n\
                    [… 393 lines like these: 4–396 …]\n\
                    [397/400] CC src/module_37/file.o\n\
                    [398/400] CC src/module_38/file.o\n\
                    [399/400] CC src/module_39/file.o\n\
                    [400/400] CC src/module_00/file.o\n\
                    BUILD OK\n";

/// Reads the content or the result of a reply's view.
fn text(reply: &str) -> String {
    let reply = reply.lines().next().unwrap_or_default();
    let json = reply.split_once('{').map_or("", |(_, rest)| rest);
    let view: Value = serde_json::from_str(&format!("{{{json}")).expect("a view");
    let text = view["content"].as_str().or(view["result"].as_str());
    text.unwrap_or_else(|| panic!("no output in {reply}"))
        .to_owned()
}

#[tokio::test]
async fn a_one_shot_is_shown_in_part_and_names_the_id_of_its_lines() {
    let folder = tempfile::tempdir().unwrap();
    let stage = stage(folder.path());
    stage.tool.opening(builds);
    assert_eq!(
        stage.run([("tool", json!({}))]).await,
        format!("c1 {ENDS}[left-out lines: fetch tool-1]")
    );
    let reply = stage
        .run([fetch("tool-1", json!({"lines": "4-396"}))])
        .await;
    assert_eq!(text(&reply), steps(4, 396));
    let reply = stage.run([fetch("tool-1", json!({"lines": "401"}))]).await;
    assert_eq!(text(&reply), "BUILD OK\n");
    let reply = stage
        .run([fetch("tool-1", json!({"lines": "402-500"}))])
        .await;
    assert_snapshot!(reply, @r#"c1 {"id":"tool-1","state":"stopped","note":"there are 401 complete lines"}"#);
}

#[tokio::test]
async fn lines_of_a_one_shot_stay_until_the_session_ends() {
    let folder = tempfile::tempdir().unwrap();
    let stage = stage(folder.path());
    stage.tool.opening(builds);
    for _ in 0..70 {
        stage.run([("tool", json!({}))]).await;
    }
    stage.session.end_turn().await;
    let reply = stage
        .run([fetch("tool-1", json!({"lines": "200-201"}))])
        .await;
    assert_eq!(text(&reply), steps(200, 201));
    let reply = stage.run([fetch("tool-1", json!({"view": "all"}))]).await;
    assert_eq!(text(&reply), steps(1, 400) + "BUILD OK\n");
    let reply = stage.run([fetch("tool-1", json!({}))]).await;
    assert_eq!(text(&reply), ENDS);
    // A person finds it by the same id, and the same lines.
    let handle = stage.session.handle("tool-1").unwrap();
    let lines = LineRange::new(200, 201).unwrap();
    assert_eq!(handle.lines(lines, 1000), steps(200, 201));
    assert_eq!(
        handle.log(0..u64::MAX),
        (steps(1, 400) + "BUILD OK\n").into_bytes()
    );
    stage.session.close().await;
    assert!(stage.session.handle("tool-1").is_err());
}

#[tokio::test]
async fn a_repeated_fetch_digests_only_what_is_new() {
    let folder = tempfile::tempdir().unwrap();
    let stage = stage(folder.path());
    stage.tool.opening(|job| job.write(&steps(1, 200)));
    let spawn = json!({"action": "spawn", "id": "b"});
    let reply = stage.run([("tool", spawn)]).await;
    assert_snapshot!(text(&reply), @"
    [  1/400] CC src/module_01/file.o
    [  2/400] CC src/module_02/file.o
    [  3/400] CC src/module_03/file.o
    [… 192 lines like these: 4–195 …]
    [196/400] CC src/module_36/file.o
    [197/400] CC src/module_37/file.o
    [198/400] CC src/module_38/file.o
    [199/400] CC src/module_39/file.o
    [200/400] CC src/module_00/file.o
    ");
    let job = stage.tool.next().await;
    job.write(&steps(201, 400));
    let reply = stage.run([fetch("b", json!({}))]).await;
    // The kind is known, so that only both ends of the part are shown.
    assert_eq!(
        text(&reply),
        steps(201, 203) + "[… 192 lines like these: 204–395 …]\n" + &steps(396, 400)
    );
    assert_eq!(
        text(&stage.run([fetch("b", json!({"lines": "4-195"}))]).await),
        steps(4, 195)
    );
    assert_eq!(
        text(&stage.run([fetch("b", json!({"lines": "204-395"}))]).await),
        steps(204, 395)
    );
    job.write("BUILD");
    assert_eq!(text(&stage.run([fetch("b", json!({}))]).await), "BUILD");
    // An open line has no number.
    let reply = stage.run([fetch("b", json!({"lines": "401"}))]).await;
    assert_snapshot!(reply, @r#"c1 {"id":"b","state":"running","note":"there are 400 complete lines"}"#);
    job.write(" OK\n");
    assert_eq!(text(&stage.run([fetch("b", json!({}))]).await), " OK\n");
    assert_eq!(
        text(&stage.run([fetch("b", json!({"lines": "401"}))]).await),
        "BUILD OK\n"
    );
}

#[tokio::test]
async fn ranges_move_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let stage = stage(folder.path());
    stage.tool.opening(|job| job.write("one\ntwo\n"));
    stage
        .run([("tool", json!({"action": "spawn", "id": "b"}))])
        .await;
    let job = stage.tool.next().await;
    job.write("three\n");
    job.end();
    assert_eq!(
        text(&stage.run([fetch("b", json!({"lines": "1-2"}))]).await),
        "one\ntwo\n"
    );
    // The end is still news, and so is its notice.
    let reply = stage.run([("await", json!({"all": ["b"]}))]).await;
    assert_snapshot!(reply, @r#"c1 {"completed":[{"id":"b","state":"stopped","result":"three\n"}],"pending":[]}"#);
}

#[tokio::test]
async fn what_is_awaited_and_the_end_of_a_turn_are_digested() {
    let folder = tempfile::tempdir().unwrap();
    let stage = stage(folder.path());
    stage.tool.opening(|_| {});
    stage
        .run([("tool", json!({"action": "spawn", "id": "a"}))])
        .await;
    stage
        .run([("tool", json!({"action": "spawn", "id": "b"}))])
        .await;
    let (first, second) = (stage.tool.next().await, stage.tool.next().await);
    builds(&first);
    let reply = stage.run([("await", json!({"all": ["a"]}))]).await;
    assert_snapshot!(reply, @r#"c1 {"completed":[{"id":"a","state":"stopped","result":"[  1/400] CC src/module_01/file.o\n[  2/400] CC src/module_02/file.o\n[  3/400] CC src/module_03/file.o\n[… 393 lines like these: 4–396 …]\n[397/400] CC src/module_37/file.o\n[398/400] CC src/module_38/file.o\n[399/400] CC src/module_39/file.o\n[400/400] CC src/module_00/file.o\nBUILD OK\n"}],"pending":[]}"#);
    builds(&second);
    stage.session.end_turn().await;
    assert_snapshot!(stage.notices(), @"
    notice info success: `b` stopped: [  1/400] CC src/module_01/file.o
    [  2/400] CC src/module_02/file.o
    [  3/400] CC src/module_03/file.o
    [… 393 lines like these: 4–396 …]
    [397/400] CC src/module_37/file.o
    [398/400] CC src/module_38/file.o
    [399/400] CC src/module_39/file.o
    [400/400] CC src/module_00/file.o
    BUILD OK
    ");
    for id in ["a", "b"] {
        let reply = stage.run([fetch(id, json!({"lines": "7"}))]).await;
        assert_eq!(text(&reply), steps(7, 7));
    }
}

#[tokio::test]
async fn a_stopped_handle_that_is_stored_still_has_its_lines() {
    let folder = tempfile::tempdir().unwrap();
    let stage = stage(folder.path());
    stage.tool.opening(builds);
    for place in 0..70 {
        let spawn = json!({"action": "spawn", "id": format!("b{place}")});
        stage.run([("tool", spawn)]).await;
    }
    let reply = stage.run([fetch("b0", json!({"lines": "4-396"}))]).await;
    assert_eq!(text(&reply), steps(4, 396));
    assert_eq!(text(&stage.run([fetch("b0", json!({}))]).await), ENDS);
    let reply = stage.run([fetch("b0", json!({"view": "all"}))]).await;
    assert_eq!(text(&reply), steps(1, 400) + "BUILD OK\n");
    let handle = stage.session.handle("b0").unwrap();
    assert_eq!(handle.log(0..u64::MAX).len() as u64, handle.written());
}

#[tokio::test]
async fn a_tool_whose_lines_cannot_be_fetched_has_no_digest() {
    let whole = steps(1, 400) + "BUILD OK";
    let without_fetch = |setup: &mut Setup| {
        let actions = [HandleAction::Spawn, HandleAction::Abort];
        setup.tool.shape.actions = actions.into_iter().collect();
    };
    let own_lines = |setup: &mut Setup| {
        let parameters = &mut setup.tool.shape.parameters;
        parameters
            .properties
            .insert("lines".to_owned(), json!({"type": "integer"}));
    };
    let without_log = |setup: &mut Setup| setup.options.log_dir = None;
    let off = |setup: &mut Setup| setup.tool.digest.enabled = false;
    let long = |setup: &mut Setup| setup.tool.digest.from = 16 << 10;
    let changes: [&dyn Fn(&mut Setup); 5] = [&without_fetch, &own_lines, &without_log, &off, &long];
    for (place, change) in changes.into_iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let stage = with(folder.path(), NOBODY, change);
        stage.tool.opening(builds);
        let reply = stage.run([("tool", json!({}))]).await;
        assert_eq!(reply, format!("c1 {whole}"), "{place}");
    }
}

#[tokio::test]
async fn a_parameter_that_is_called_lines_stays_the_tools_own() {
    let folder = tempfile::tempdir().unwrap();
    let stage = with(folder.path(), NOBODY, |setup| {
        let parameters = &mut setup.tool.shape.parameters;
        parameters
            .properties
            .insert("lines".to_owned(), json!({"type": "integer"}));
    });
    stage.tool.opening(|job| job.write("one\ntwo\n"));
    stage
        .run([("tool", json!({"action": "spawn", "id": "b", "lines": 3}))])
        .await;
    assert_eq!(stage.tool.next().await.args()["lines"], json!(3));
    let reply = stage
        .run([fetch("b", json!({"view": "all", "lines": 1}))])
        .await;
    assert_eq!(text(&reply), "one\ntwo\n");
}

#[tokio::test]
async fn a_failing_one_shot_does_not_repeat_its_last_line() {
    let folder = tempfile::tempdir().unwrap();
    let stage = stage(folder.path());
    stage.tool.opening(|job| {
        job.write(&steps(1, 400));
        job.write("error: no such file\nmake: *** stopped\n");
        job.fail("exited with code 2: error: no such file");
    });
    let reply = stage.run([("tool", json!({}))]).await;
    let end = "error: no such file\nmake: *** stopped\nexited with code 2\n[left-out lines: fetch tool-1]";
    assert!(reply.ends_with(end), "{reply}");
    let long = "x".repeat(300);
    let said = long.clone();
    stage.tool.opening(move |job| {
        job.write(&said);
        job.fail(&format!("exited with code 2: {}", &said[..200]));
    });
    let reply = stage.run([("tool", json!({}))]).await;
    assert_eq!(reply, format!("c1 ! {long}\nexited with code 2"));
}

#[tokio::test]
async fn over_the_limit_the_rare_line_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let stage = with(folder.path(), NOBODY, |setup| {
        setup.tool.limits.output_limit = 4096;
    });
    stage.tool.opening(|job| {
        for row in 0..3000 {
            let condition = if row == 1500 { "crashed" } else { "running" };
            job.write(&format!(
                "user{row:04} {:5} {condition} /usr/bin/program\n",
                row * 7 % 1000
            ));
        }
        job.end();
    });
    let reply = stage.run([("tool", json!({}))]).await;
    assert!(reply.len() < 4200, "{}", reply.len());
    assert!(reply.contains("user1500   500 crashed"), "{reply}");
    let all = stage.run([fetch("tool-1", json!({"view": "all"}))]).await;
    assert!(text(&all).contains("user1500   500 crashed"), "{all}");
}

#[tokio::test]
async fn the_record_tells_what_was_shown_of_how_much_and_where_all_of_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let recorder = Cast {
        recorder: true,
        ..NOBODY
    };
    let stage = with(folder.path(), recorder, |_| {});
    stage.tool.opening(builds);
    stage.run([("tool", json!({}))]).await;
    stage.run([fetch("tool-1", json!({"lines": "4-5"}))]).await;
    let whole = steps(1, 400) + "BUILD OK\n";
    let told = stage.recording.told();
    let digests: Vec<&Value> = told
        .iter()
        .filter_map(|told| match told {
            Recorded::Happened(entry) => match &entry.event {
                SessionEvent::Part(part) => Some(part),
                _ => None,
            },
            Recorded::Durable => None,
        })
        .filter_map(|part| match &part.state {
            PartState::Completed(completed) => completed.metadata.get("digest"),
            _ => None,
        })
        .collect();
    assert_eq!(digests.len(), 2, "{digests:?}");
    assert_eq!(digests[0]["shown"], json!(ENDS.len()));
    assert_eq!(digests[0]["whole"], json!(whole.len()));
    let log = digests[0]["log"].as_str().unwrap();
    assert_eq!(std::fs::read_to_string(log).unwrap(), whole);
    assert_eq!(*digests[1], json!({"shown": steps(4, 5).len(), "whole": 0}));
}
