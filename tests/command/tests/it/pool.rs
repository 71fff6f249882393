//! Tools on a pool of workers: placement, lists, draining, and that nothing is started twice.

use serde_json::json;
use windlass_outside::needs;

use crate::pool_support::{Broker, WorkerProcess, pooled};
use crate::support::{Project, eventually};

#[test]
fn one_shots_and_handles_run_on_a_worker() {
    needs!("nats-server");
    let broker = Broker::start();
    let project = Project::with_own_config(&pooled(&broker, 600));
    let worker = WorkerProcess::start(&project, &broker, "w1", &["--slots", "4"]);
    let mut drive = project.drive();
    let said = drive.content("shell", json!({"command": "echo one; echo two >&2; pwd"}));
    let root = project.root().display().to_string();
    assert_eq!(said, json!(format!("one\ntwo\n{root}\n")));
    let failed = drive.error("shell", json!({"command": "exit 3"}));
    assert!(failed.contains('3'), "{failed}");
    let script = "while read line; do echo \"got $line\"; done";
    drive.content(
        "shell",
        json!({"action": "spawn", "id": "it", "command": script}),
    );
    let got = drive.content(
        "shell",
        json!({"action": "apply", "id": "it", "input": "a\n"}),
    );
    assert!(got.to_string().contains("got a"), "{got}");
    let listed = project.list(&["workers"]);
    let shown = &listed[0]["workers"][0];
    assert_eq!(shown["name"], json!("w1"), "{listed:?}");
    assert_eq!(shown["slots"], json!(4));
    eventually("the worker shows what it runs", || {
        let listed = project.list(&["workers"]);
        let programs = listed[0]["workers"][0]["programs"].clone();
        programs.as_array().is_some_and(|it| it.len() == 1)
    });
    let checked = project.run(&["hosts", "check", "fleet"], "");
    let text = checked.stdout();
    assert_eq!(checked.code(), Some(0), "{text}");
    assert!(
        text.contains("handles wait; they continue when it is back"),
        "{text}"
    );
    let ended = drive.content("shell", json!({"action": "abort", "id": "it"}));
    assert!(ended.to_string().contains("stopped"), "{ended}");
    drop(worker);
}

#[test]
fn labels_choose_the_worker_and_a_pool_without_one_says_so() {
    needs!("nats-server");
    let broker = Broker::start();
    let config = pooled(&broker, 600).replace("lease_secs", "labels = [\"gpu\"]\nlease_secs");
    let project = Project::with_own_config(&config);
    let mut drive = project.drive();
    let none = drive.error("shell", json!({"command": "true"}));
    assert!(none.contains("pool `ci` has no worker"), "{none}");
    let _plain = WorkerProcess::start(&project, &broker, "plain", &[]);
    let unlabelled = drive.error("shell", json!({"command": "true"}));
    assert!(
        unlabelled.contains("no worker with the labels gpu"),
        "{unlabelled}"
    );
    let _gpu = WorkerProcess::start(&project, &broker, "gpu", &["--labels", "linux,gpu"]);
    let state = drive.content("shell", json!({"command": "echo $XDG_STATE_HOME"}));
    assert!(state.to_string().contains("/gpu"), "{state}");
}

#[test]
fn a_worker_that_drains_takes_nothing_new_and_ends_with_its_last_program() {
    needs!("nats-server");
    let broker = Broker::start();
    let project = Project::with_own_config(&pooled(&broker, 600));
    let mut first = WorkerProcess::start(&project, &broker, "first", &[]);
    let mut drive = project.drive();
    drive.content(
        "shell",
        json!({"action": "spawn", "id": "it", "command": "read line; seq 100000; echo $line"}),
    );
    let _second = WorkerProcess::start(&project, &broker, "second", &[]);
    let drained = project.run(&["workers", "drain", "first"], "");
    assert_eq!(drained.code(), Some(0), "{}", drained.stderr());
    assert!(
        drained.stdout().contains("it still runs 1 programs"),
        "{}",
        drained.stdout()
    );
    eventually("nothing new runs there", || {
        let state = drive.content("shell", json!({"command": "echo $XDG_STATE_HOME"}));
        state.to_string().contains("/second")
    });
    drive.content(
        "shell",
        json!({"action": "apply", "id": "it", "input": "still here\n"}),
    );
    // The worker goes when all of the output was sent, not when the program has exited.
    let ended = drive.content("await", json!({"all": ["it"]}));
    assert!(ended.to_string().contains("stopped"), "{ended}");
    let last = json!({"action": "fetch", "id": "it", "lines": "100001"});
    let said = drive.content("shell", last);
    assert!(said.to_string().contains("still here"), "{said}");
    assert_eq!(first.wait(), Some(0));
    let missing = project.run(&["workers", "drain", "first"], "");
    assert!(
        missing.stderr().contains("no pool has a worker `first`"),
        "{}",
        missing.stderr()
    );
}

#[test]
fn a_start_that_is_delivered_again_does_not_run_again() {
    needs!("nats-server");
    let broker = Broker::start();
    let project = Project::with_own_config(&pooled(&broker, 600));
    let first = WorkerProcess::start(&project, &broker, "w1", &[]);
    let mut speaker = broker.speak();
    speaker.subscribe("windlass.ci.start.*");
    let mut copier = broker.speak();
    let mut drive = project.drive();
    drive.content("shell", json!({"command": "echo x >> ran"}));
    let (subject, start) = speaker.next();
    assert_eq!(subject, "windlass.ci.start.w1");
    for _ in 0..3 {
        copier.publish(&subject, &start);
    }
    // The queue is ordered, so this one runs after the copies were checked.
    drive.content("shell", json!({"command": "echo y >> ran"}));
    assert_eq!(project.read("ran"), "x\ny\n");
    // So it is with a worker that knows nothing of the first but its claim.
    drop(first);
    let _second = WorkerProcess::start(&project, &broker, "w1", &[]);
    eventually("the worker is reached again", || {
        let said = drive.one("shell", json!({"command": "echo z >> ran"}));
        said["is_error"] == json!(false)
    });
    // It has a link of this runtime now, so it would start the copy.
    copier.publish(&subject, &start);
    drive.content("shell", json!({"command": "echo over >> ran"}));
    assert_eq!(project.read("ran"), "x\ny\nz\nover\n");
}

#[test]
fn a_name_is_taken_once() {
    needs!("nats-server");
    let broker = Broker::start();
    let project = Project::with_own_config(&pooled(&broker, 600));
    let _worker = WorkerProcess::start(&project, &broker, "w1", &[]);
    let url = broker.url();
    let second = project.run(
        &["worker", "--nats", &url, "--pool", "ci", "--name", "w1"],
        "",
    );
    assert!(
        second.stderr().contains("has a worker `w1` already"),
        "{}",
        second.stderr()
    );
}
