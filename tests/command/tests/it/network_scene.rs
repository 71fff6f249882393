//! A runtime with 20 handles of 3 processes each, one that prints numbers and one that notes what is typed, on the other
//! side of a network.

use std::ops::RangeInclusive;

use serde_json::{Value, json};

use crate::drive_requests::value;
use crate::hosts_faults::assert_numbers;
use crate::processes::Victim;
use crate::support::{Drive, Project, eventually, lines_of, spawn};

/// Handles with three processes each.
pub(crate) const HANDLES: usize = 20;
/// What the handle with numbers prints.
const NUMBERS: RangeInclusive<u32> = 100_000..=139_999;

/// A runtime with tools at the other end of a network.
pub(crate) struct Scene {
    pub(crate) drive: Drive,
    pub(crate) project: Project,
    pub(crate) crowd: Victim,
    /// How many lines were typed.
    typed: u32,
}

impl Scene {
    /// Starts the handles, and waits for their processes and the first numbers.
    pub(crate) fn begin(project: Project, mut drive: Drive) -> Self {
        let crowd = Victim::new();
        let handles = (0..HANDLES).map(|number| spawn(&format!("h{number}"), &crowd.trio()));
        let heard = "while read line; do echo $line >> heard; done";
        let others = [spawn("numbers", &numbers_script()), spawn("heard", heard)];
        drive.send(&handles.chain(others).collect());
        let started = drive.next();
        assert!(
            !started.to_string().contains("\"is_error\":true"),
            "{started}"
        );
        let mut scene = Self {
            drive,
            project,
            crowd,
            typed: 0,
        };
        scene.expect_crowd();
        scene.next_numbers(0);
        scene
    }

    /// Types some lines, one after the other, whether or not there is a link.
    pub(crate) fn type_lines(&mut self, count: u32) {
        for _ in 0..count {
            self.typed += 1;
            let line = format!("line {}\n", self.typed);
            let apply = json!({"action": "apply", "id": "heard", "input": line});
            self.drive.content("shell", apply);
        }
    }

    /// Waits until a fetch says that the host is not reached.
    pub(crate) fn expect_unreachable(&mut self) {
        eventually("a fetch says that the host is not reached", || {
            let fetch = json!({"action": "fetch", "id": "h0"});
            let shown = self.drive.content("shell", fetch);
            let note = shown["note"].as_str().unwrap_or_default();
            note.contains("has been unreachable")
        });
    }

    fn expect_crowd(&self) {
        eventually("60 processes run there", || {
            self.crowd.alive().len() == 3 * HANDLES
        });
    }

    /// Nothing was lost, and nothing came twice.
    pub(crate) fn expect_everything(&mut self) {
        let ended = self.drive.content("await", json!({"all": ["numbers"]}));
        let numbers = &ended["completed"][0];
        assert_eq!(numbers["state"], json!("stopped"), "{ended}");
        assert_eq!(numbers.get("error"), None, "{ended}");
        assert_numbers(&self.project, NUMBERS);
        self.expect_heard();
        self.expect_crowd();
    }

    /// Waits until every typed line has arrived, once.
    pub(crate) fn expect_heard(&self) {
        let lines = (1..=self.typed).map(|number| format!("line {number}\n"));
        let expected: String = lines.collect();
        eventually("everything was heard", || {
            self.heard().len() >= expected.len()
        });
        assert_eq!(self.heard(), expected);
    }

    /// Waits until the handles are lost, for a reason that contains this text.
    pub(crate) fn expect_loss(&mut self, why: &str) {
        let ids: Vec<String> = (0..HANDLES).map(|number| format!("h{number}")).collect();
        let lost = self.drive.content("await", json!({"all": ids}));
        let lost = lost["completed"].as_array().unwrap().clone();
        assert_eq!(lost.len(), HANDLES);
        for handle in lost {
            let handle = handle.to_string();
            assert!(handle.contains(why), "{handle}");
        }
    }

    pub(crate) fn expect_no_crowd(&self) {
        eventually("0 of 60 processes are left", || {
            self.crowd.alive().is_empty()
        });
    }

    /// The numbers that arrived are a beginning without a gap.
    pub(crate) fn expect_first_numbers(&mut self) {
        let (mut text, mut from) = (String::new(), 0);
        loop {
            let piece = self.next_numbers(from);
            text.push_str(piece["text"].as_str().unwrap());
            from = piece["to"].as_u64().unwrap();
            if piece["ended"] == json!(true) {
                break;
            }
        }
        assert!(!text.is_empty());
        let is_beginning = lines_of(NUMBERS).starts_with(&text);
        assert!(is_beginning, "{} bytes", text.len());
    }

    /// Waits for numbers from an offset on, or for their end.
    fn next_numbers(&mut self, from: u64) -> Value {
        let request = json!({"op": "output", "handle": "numbers", "from": from, "wait": true});
        value(&mut self.drive, request)
    }

    /// Waits until a tool runs there again.
    pub(crate) fn expect_use(&mut self) {
        eventually("the host is reached again", || {
            let reply = self.drive.one("shell", json!({"command": "echo back"}));
            reply["content"] == json!("back\n")
        });
    }

    fn heard(&self) -> String {
        let file = self.project.root().join("heard");
        std::fs::read_to_string(file).unwrap_or_default()
    }

    /// Kills the runtime. Nothing of the crowd is left after the lease, which begins when the far end has missed it.
    pub(crate) fn expect_nothing_left(mut self) {
        self.drive.kill();
        self.project.end_leases();
        self.expect_no_crowd();
    }
}

/// Prints the numbers, with pauses that make it take some seconds.
fn numbers_script() -> String {
    let (first, last) = (NUMBERS.start(), NUMBERS.end());
    format!(
        "i={first}; while [ $i -le {last} ]; do seq $i $((i + 499)); i=$((i + 500)); sleep 0.1; done"
    )
}
