//! No program of a terminal is left, however the tool ends.

use serde_json::json;
use windlass_outside::needs;

use crate::processes::{VICTIMS, Victim};
use crate::support::{Project, call, eventually};
use crate::term_sitting::Sitting;

/// A tree that is hard to end, on a terminal.
fn sitting(project: &Project, victim: &Victim) -> Sitting {
    let mut sitting = Sitting::running(project, "shell");
    let arguments = json!({"command": victim.script(), "terminal": true});
    let spawned = sitting.act("spawn", arguments);
    assert_eq!(spawned["state"], json!("running"), "{spawned}");
    victim.wait_until_up();
    sitting
}

#[test]
fn an_abort_ends_all_of_a_terminal() {
    needs!("setsid", "nohup");
    let project = Project::new();
    let victim = Victim::new();
    let mut sitting = sitting(&project, &victim);
    let aborted = sitting.act("abort", json!({}));
    assert_eq!(aborted["state"], json!("stopped"), "{aborted}");
    assert_eq!(aborted["ended"], json!(VICTIMS), "{aborted}");
    assert_eq!(victim.alive(), Vec::<u32>::new());
}

#[test]
fn what_an_abort_ends_is_not_said_to_be_left() {
    let project = Project::new();
    let mut drive = project.drive();
    // The program goes at once, its child only when it is killed.
    let command = "(trap '' TERM HUP; echo up; sleep 1000) & exec sleep 1000";
    let arguments = json!({"action": "spawn", "id": "t", "command": command, "terminal": true});
    let up = json!({"until": [{"id": "t", "pattern": "up"}]});
    drive.run([call("shell", arguments), call("await", up)]);
    let aborted = drive.run([call("shell", json!({"action": "abort", "id": "t"}))]);
    assert_eq!(
        aborted["replies"][0]["content"]["ended"],
        json!(2),
        "{aborted}"
    );
    assert_eq!(aborted.get("notices"), None, "{aborted}");
}

#[test]
fn the_end_of_input_ends_all_of_a_terminal() {
    needs!("setsid", "nohup");
    let project = Project::new();
    let victim = Victim::new();
    sitting(&project, &victim).up();
    assert_eq!(victim.alive(), Vec::<u32>::new());
}

#[test]
fn nothing_of_a_terminal_outlives_a_killed_drive() {
    needs!("setsid", "nohup");
    let project = Project::new();
    let victim = Victim::new();
    let mut sitting = sitting(&project, &victim);
    sitting.drive().kill();
    eventually("nothing is left", || victim.alive().is_empty());
}
