//! Twenty programs count through fifty deaths of their runtime: no number is missing, and none comes twice.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::kept::{act, keeping_project, spawn_kept, told};
use crate::support::eventually;

const HANDLES: usize = 20;
const DEATHS: u32 = 50;

/// The least count: more output than is kept in memory, so that there is a log.
const LEAST: u64 = 6000;

/// Counts until it is ordered to stop, and to [`LEAST`] at least, then prints a line. It rests after each hundred, so that
/// twenty of them leave time to others.
fn count() -> String {
    let padding = ".".repeat(50);
    format!(
        "i=0; while [ ! -e stop ] || [ $i -lt {LEAST} ]; do \
         i=$((i+1)); echo $i {padding}; [ $((i % 100)) -ne 0 ] || sleep 0.1; \
         done; echo stopped; read word; echo \"got $word\""
    )
}

#[test]
fn every_number_arrives_once_in_order_through_fifty_deaths() {
    let project = keeping_project(600, HANDLES);
    // In a file, so that notices, which show the command, are short.
    project.write("count", &count());
    let mut drive = project.drive_named("work");
    let spawns: Vec<Value> = (0..HANDLES)
        .map(|number| {
            let mut spawn = spawn_kept(&format!("c{number}"), ". ./count");
            spawn["arguments"]["terminal"] = json!(number % 2 == 0);
            spawn
        })
        .collect();
    drive.send(&json!(spawns));
    drive.next();
    for death in 0..DEATHS {
        // A different moment each time, from "has just begun to adopt" on.
        std::thread::sleep(Duration::from_millis(u64::from(death * 37 % 120)));
        drive.kill();
        if death % 10 == 9 {
            drive = project.drive_adopting("work");
            let told = told(&mut drive);
            let running = told.iter().filter(|text| text.contains("still running"));
            assert_eq!(
                (told.len(), running.count()),
                (HANDLES, HANDLES),
                "{told:?}"
            );
        } else {
            drive = project.drive_named("work");
        }
    }
    project.write("stop", "");
    let all: Vec<Value> = (0..HANDLES)
        .map(|number| json!({"id": format!("c{number}"), "pattern": "^stopped"}))
        .collect();
    let stopped = drive.content("await", json!({"until": all, "timeout_secs": 60}));
    assert_eq!(
        stopped["matched"].as_array().map(Vec::len),
        Some(HANDLES),
        "{stopped}"
    );
    let logs: Vec<PathBuf> = project
        .kept_files()
        .iter()
        .map(|file| {
            let kept: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
            PathBuf::from(kept["job"]["start"]["log"]["local"].as_str().unwrap())
        })
        .collect();
    assert_eq!(logs.len(), HANDLES);
    for number in 0..HANDLES {
        let id = format!("c{number}");
        let apply = json!({"action": "apply", "id": id, "input": "hello"});
        let said = drive.content("shell", apply);
        assert!(said.to_string().contains("got hello"), "{said}");
        act(&mut drive, "abort", &id);
    }
    drive.finish();
    for log in logs {
        eventually("the log is there", || log.exists());
        let mut next = 1_u64;
        for line in BufReader::new(fs::File::open(&log).unwrap()).lines() {
            let line = line.unwrap();
            let first = line.split_ascii_whitespace().next().unwrap_or_default();
            let Ok(number) = first.parse::<u64>() else {
                assert_eq!(first, "stopped");
                break;
            };
            assert_eq!(number, next, "{}", log.display());
            next += 1;
        }
        assert!(next > LEAST, "it has hardly counted: {next}");
    }
}
