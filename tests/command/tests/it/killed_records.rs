//! The record of a runtime that was killed in the middle of its work.

use serde_json::{Value, json};

use crate::records::{parts_of, sessions, show};
use crate::support::{Project, call, eventually};

/// A batch that says its own name three times.
fn batch(name: &str) -> Value {
    let echo = |place: usize| call("shell", json!({"command": format!("echo {name}-{place}")}));
    json!({"batch": name, "calls": [echo(0), echo(1), echo(2)]})
}

#[test]
fn whatever_was_answered_is_recorded_and_nothing_is_left_running() {
    let project = Project::new();
    for round in 0..20 {
        let mut drive = project.drive();
        for number in 0..60 {
            drive.send(&batch(&format!("r{round}b{number}")));
        }
        let mut answered: Vec<Value> = (0..=round).map(|_| drive.next()).collect();
        drive.kill();
        answered.extend(drive.last_words());

        let shown = show(&project, "last");
        let parts = parts_of(&shown);
        for part in &parts {
            let status = part["state"]["status"].as_str().unwrap();
            assert!(matches!(status, "completed" | "error"), "{part}");
        }
        let output_of = |command: &str| {
            let part = parts
                .iter()
                .find(|part| part["state"]["input"]["command"] == *command)?;
            Some(part["state"]["output"].clone())
        };
        assert!(answered.len() > round);
        for reply in &answered {
            let name = reply["batch"].as_str().unwrap();
            for place in 0..3 {
                let command = format!("echo {name}-{place}");
                let said = reply["replies"][place]["content"].clone();
                assert_eq!(said, json!(format!("{name}-{place}\n")));
                assert_eq!(output_of(&command), Some(said), "{command}");
            }
        }
        assert!(shown["session"]["time"]["ended"].is_number(), "{shown}");
    }
}

#[test]
fn what_was_cut_off_is_called_interrupted() {
    let project = Project::new();
    let mut drive = project.drive();
    drive.send(&json!([call(
        "shell",
        json!({"command": "touch begun; sleep 600"})
    )]));
    eventually("it runs", || project.root().join("begun").exists());
    // A part that runs is written in a moment, whether or not anyone asks.
    eventually("its session is recorded", || !sessions(&project).is_empty());
    eventually("it is recorded", || {
        let shown = show(&project, "last");
        parts_of(&shown)
            .iter()
            .any(|part| part["state"]["status"] == "running")
    });
    drive.kill();
    let shown = show(&project, "last");
    assert_eq!(
        parts_of(&shown)[0]["state"]["error"],
        "interrupted: the runtime ended before the call did"
    );
}
