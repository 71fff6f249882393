//! How `drive` ends: its input, its output, and signals.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::processes::{Victim, signal};
use crate::support::{Project, call, eventually, spawn};

#[test]
fn what_came_before_the_end_of_input_is_answered() {
    let project = Project::new();
    let calls = |number| json!([call("shell", json!({"command": format!("echo {number}")}))]);
    let lines: Vec<String> = (0..20).map(|number| calls(number).to_string()).collect();
    let lines = lines.join("\n");
    let run = project.run(&["drive"], lines);
    assert_eq!(run.code(), Some(0));
    let contents: Vec<Value> = run
        .lines()
        .iter()
        .map(|line| line["replies"][0]["content"].clone())
        .collect();
    let expected: Vec<Value> = (0..20).map(|number| json!(format!("{number}\n"))).collect();
    assert_eq!(contents, expected);
}

#[test]
fn a_turn_s_end_before_the_end_of_input_is_carried_out() {
    let project = Project::new();
    let lines = format!(
        "{}\n{}\n",
        json!([spawn("it", "cat")]),
        json!({"turn_end": true})
    );
    let run = project.run(&["drive"], lines);
    assert_eq!(
        run.lines()[1],
        json!({"turn_end": {"ended": ["it"], "awaited": []}})
    );
    assert_eq!(run.code(), Some(0));
}

#[test]
fn an_endless_call_does_not_outlast_the_end_of_input() {
    let victim = Victim::new();
    let project = Project::new();
    let calls = json!([call("shell", json!({"command": victim.sleep()}))]);
    let run = project.run(&["drive"], format!("{calls}\n"));
    assert_eq!(run.code(), Some(0));
    let refused = &run.lines()[0]["replies"][0];
    assert_eq!(refused["is_error"], json!(true), "{refused}");
    assert!(victim.alive().is_empty());
}

#[test]
fn no_input_at_all_is_fine() {
    let project = Project::new();
    let run = project.run(&["drive"], "");
    assert_eq!(
        (run.code(), run.stdout().as_str(), run.stderr().as_str()),
        (Some(0), "", "")
    );
}

#[track_caller]
fn ends_everything(number: Signal, code: i32) {
    let victim = Victim::new();
    let project = Project::new();
    let mut drive = project.drive();
    drive.run([spawn("it", &victim.script())]);
    victim.wait_until_up();
    signal(drive.pid(), number);
    assert_eq!(drive.wait().code(), Some(code));
    assert!(victim.alive().is_empty(), "it waited until all were gone");
}

#[test]
fn ctrl_c_ends_everything() {
    ends_everything(Signal::INT, 130);
}

#[test]
fn sigterm_ends_everything() {
    ends_everything(Signal::TERM, 143);
}

#[test]
fn a_hangup_ends_everything() {
    ends_everything(Signal::HUP, 129);
}

#[test]
fn a_second_ctrl_c_leaves_at_once() {
    let victim = Victim::new();
    let project = Project::with_config("[conversation.tools.shell]\ngrace_secs = 50\n");
    let mut drive = project.drive();
    let script = format!(
        "trap 'touch told' TERM; while :; do {}; done",
        victim.sleep()
    );
    drive.run([spawn("it", &script)]);
    eventually("it runs", || victim.alive().len() == 2);
    signal(drive.pid(), Signal::INT);
    // The first has been taken, and the second still finds us there.
    signal(drive.pid(), Signal::INT);
    assert_eq!(drive.wait().code(), Some(130));
    eventually("nothing is left", || victim.alive().is_empty());
}

#[test]
fn a_reader_that_goes_away_ends_everything() {
    let victim = Victim::new();
    let project = Project::new();
    let mut drive = project.drive();
    drive.run([spawn("it", &victim.script())]);
    victim.wait_until_up();
    drive.close_output();
    // The first line tells our reading thread to let go, a later one tells the
    // binary that it has.
    let status = loop {
        if let Some(status) = drive.poke() {
            break status;
        }
    };
    assert_eq!(status.code(), Some(141));
    eventually("nothing is left", || victim.alive().is_empty());
}
