//! Kept handles on a pool: the next runtime takes them over on the worker that runs them.

use serde_json::{Value, json};
use windlass_outside::needs;

use crate::kept::{act, spawn_kept, told};
use crate::pool_support::{Broker, WorkerProcess, pooled};
use crate::processes::Victim;
use crate::support::{Project, eventually};

fn keeping(broker: &Broker) -> Project {
    Project::with_own_config(&format!(
        "{}[conversation.tools.shell.spawn.lifecycle]\nkeepable_secs = 600\n",
        pooled(broker, 600)
    ))
}

#[test]
fn the_next_session_continues_with_a_kept_handle_on_a_worker() {
    needs!("nats-server");
    let broker = Broker::start();
    let project = keeping(&broker);
    let _one = WorkerProcess::start(&project, &broker, "w1", &[]);
    let _two = WorkerProcess::start(&project, &broker, "w2", &[]);
    let mut drive = project.drive_named("work");
    let greets = "echo begun; read word; echo \"got $word\"; read word; echo \"bye $word\"";
    let reply = drive.run([spawn_kept("dev", greets)]);
    let content = &reply["replies"][0]["content"];
    assert_eq!(content["content"], "begun\n", "{reply}");
    assert!(content.get("note").is_none(), "{reply}");
    drive.kill();
    let mut drive = project.drive_adopting("work");
    let told = told(&mut drive);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("still running"), "{told:?}");
    // What was read before is not told again.
    assert_eq!(act(&mut drive, "fetch", "dev")["content"], Value::Null);
    let apply = json!({"action": "apply", "id": "dev", "input": "hello"});
    assert_eq!(drive.content("shell", apply)["content"], "got hello\n");
    let apply = json!({"action": "apply", "id": "dev", "input": "now"});
    let last = drive.content("shell", apply);
    assert_eq!(last["result"], json!("bye now\n"), "{last}");
    eventually("its files are gone", || project.kept_files().is_empty());
    eventually("no worker lists it", || {
        let listed = project.list(&["workers"]);
        let workers = listed[0]["workers"].as_array().unwrap();
        workers.iter().all(|it| it["programs"] == json!([]))
    });
}

#[test]
fn an_abort_after_a_take_over_on_a_worker_leaves_nothing() {
    needs!("nats-server");
    let broker = Broker::start();
    let project = keeping(&broker);
    let _worker = WorkerProcess::start(&project, &broker, "w1", &[]);
    let victim = Victim::new();
    let mut drive = project.drive_named("work");
    drive.run([spawn_kept("it", &victim.script())]);
    victim.wait_until_up();
    drive.kill();
    let mut drive = project.drive_adopting("work");
    let told = told(&mut drive);
    assert!(told[0].contains("still running"), "{told:?}");
    let aborted = act(&mut drive, "abort", "it");
    assert_eq!(aborted["state"], json!("stopped"), "{aborted}");
    assert_eq!(victim.alive(), Vec::<u32>::new());
}
