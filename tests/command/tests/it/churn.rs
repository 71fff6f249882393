//! Many spawns, one after the other: nothing piles up.

use serde_json::{Value, json};

use crate::processes::{descendants, descriptors};
use crate::support::{Drive, Project, call, eventually, spawn};

/// Spawns, one-shots and aborts, twenty at once.
fn round(drive: &mut Drive, number: usize) {
    let calls: Vec<Value> = (0..20)
        .map(|place| match place % 4 {
            0 => call("shell", json!({"command": "echo one-shot"})),
            1 => call("shell", json!({"command": "exit 3"})),
            2 => spawn(&format!("r{number}-{place}"), "exit 0"),
            _ => spawn(
                &format!("r{number}-{place}"),
                "sleep 1000 & exec sleep 1000",
            ),
        })
        .collect();
    drive.send(&Value::Array(calls));
    let reply = drive.next();
    assert_eq!(reply["replies"].as_array().unwrap().len(), 20);
    drive.send(&json!({"turn_end": true}));
    let ended = drive.next();
    assert_eq!(
        ended["turn_end"]["ended"].as_array().unwrap().len(),
        5,
        "{ended}"
    );
}

#[test]
fn hundreds_of_spawns_leave_no_zombie_and_no_descriptor() {
    let project = Project::new();
    let mut drive = project.drive();
    // The first rounds fill what is kept in reserve.
    for number in 0..3 {
        round(&mut drive, number);
    }
    let before = descriptors(drive.pid());
    let helpers = descendants(drive.pid()).len();
    for number in 3..23 {
        round(&mut drive, number);
    }
    eventually("no zombie is left", || {
        let family = descendants(drive.pid());
        family.iter().all(|(_, state)| *state != 'Z') && family.len() <= helpers
    });
    eventually("the descriptors are back where they began", || {
        descriptors(drive.pid()) <= before
    });
}
