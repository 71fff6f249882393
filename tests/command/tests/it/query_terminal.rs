//! `windlass query` as a person sees it, on a real terminal.

use std::process::Command;

use insta::assert_snapshot;
use serde_json::json;
use windlass_outside::model::{Say, Turn};

use crate::query::{Asked, asked};
use crate::support::DEADLINE;
use crate::terminal::{Terminal, TerminalSize};

/// The binary on a terminal of 60 columns.
pub(crate) struct Sitting {
    pub(crate) asked: Asked,
    terminal: Terminal,
}

pub(crate) async fn sit(run: &str, turns: impl IntoIterator<Item = Turn>) -> Sitting {
    let asked = asked(run, turns).await;
    let binary = asked.project.windlass(&["query", "go"]);
    sit_at(asked, binary)
}

/// Any command on a terminal of the usual size.
pub(crate) fn sit_at(asked: Asked, binary: Command) -> Sitting {
    sit_within(asked, binary, TerminalSize { rows: 20, cols: 60 })
}

/// Any command on a terminal of this size.
pub(crate) fn sit_within(asked: Asked, mut binary: Command, size: TerminalSize) -> Sitting {
    binary.env("NO_COLOR", "1");
    Sitting {
        asked,
        terminal: Terminal::start(&binary, size),
    }
}

impl Sitting {
    pub(crate) fn rows(&self) -> String {
        self.terminal.rows()
    }

    /// Resolves when the screen looks as wanted.
    pub(crate) async fn until(&self, wanted: impl Fn(&str) -> bool) -> String {
        let seen = tokio::time::timeout(DEADLINE, self.terminal.until(wanted)).await;
        seen.unwrap_or_else(|_| panic!("the screen is\n{}", self.rows()))
    }

    pub(crate) fn press(&self, keys: &str) {
        self.press_bytes(keys.as_bytes());
    }

    pub(crate) fn press_bytes(&self, bytes: &[u8]) {
        self.terminal.write(bytes);
    }

    /// Its exit code and its last screen.
    pub(crate) async fn ends(&self) -> (Option<i32>, String) {
        let code = tokio::time::timeout(DEADLINE, self.terminal.ended()).await;
        let rows = self.rows();
        let code = code.unwrap_or_else(|_| panic!("it does not end, and the screen is\n{rows}"));
        (code, rows)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_reads_well_from_beginning_to_end() {
    let turns = [
        Turn::new([
            Say::Text("# Looking\n\nI \u{1b}[2Jlist **files**.\n".into()),
            Say::call("shell", json!({"command": "echo a b"})),
        ]),
        Turn::text("There are:\n\n- `a`\n- `b`\n"),
    ];
    let sitting = sit("unattended", turns).await;
    let (exit, rows) = sitting.ends().await;
    assert_eq!(exit, Some(0));
    let rows = without_times(&rows);
    assert_snapshot!(rows, @"
    Looking

    I [2Jlist files.

    ✓ shell echo a b T

    There are:

    • a
    • b
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn permission_is_asked_for_and_the_handle_is_in_the_status_line() {
    let decision = json!({"handles": [{"id": "web", "action": "abort"}]});
    let spawn = json!({"action": "spawn", "id": "web", "command": "sleep 1000"});
    let turns = [
        Turn::calls([("shell", spawn)]),
        Turn::text(decision.to_string()).structured(),
        Turn::new([
            Say::Text("It runs.".into()),
            Say::Hold("more".into()),
            Say::Text(" Bye.".into()),
        ]),
    ];
    let sitting = sit("ask", turns).await;
    let rows = sitting.until(|rows| rows.contains("y yes, once")).await;
    assert!(
        rows.contains("sleep 1000") && rows.contains("Run `shell`?"),
        "{rows}"
    );
    sitting.press("\r");
    sitting
        .until(|rows| rows.contains("It runs.") && rows.ends_with("● web (shell)"))
        .await;
    sitting.asked.server.release("more");
    let (exit, rows) = sitting.ends().await;
    assert_eq!(exit, Some(0));
    assert!(rows.ends_with("It runs. Bye.\n\nended: web"), "{rows}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_call_turns_its_spinner_and_counts() {
    let turns = [
        Turn::calls([(
            "shell",
            json!({"command": "until [ -e go ]; do sleep 0.05; done"}),
        )]),
        Turn::text("Done."),
    ];
    let sitting = sit("unattended", turns).await;
    let title = "shell until [ -e go ]; do sleep 0.05; done";
    let first = sitting.until(|rows| rows.contains(title)).await;
    sitting
        .until(|rows| rows.contains(title) && rows != first)
        .await;
    sitting.asked.project.write("go", "");
    let (_, rows) = sitting.ends().await;
    assert!(rows.contains(&format!("✓ {title}")), "{rows}");
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_asks_and_a_reply_interrupts_the_model() {
    let turns = [
        Turn::new([Say::Text("A long story".into()), Say::Hold("never".into())]),
        Turn::text("Short."),
    ];
    let sitting = sit("unattended", turns).await;
    sitting.until(|rows| rows.contains("A long story")).await;
    sitting.press("\x03");
    let rows = sitting.until(|rows| rows.contains("abort")).await;
    for choice in ["go on", "reply", "stop tools", "abort"] {
        assert!(rows.contains(choice), "{rows}");
    }
    sitting.press("j\r");
    sitting.until(|rows| rows.contains("Reply:")).await;
    sitting.press("shorter\r");
    let (exit, rows) = sitting.ends().await;
    assert_eq!(exit, Some(0));
    assert!(rows.ends_with("Short."), "{rows}");
    let seen = sitting.asked.server.seen();
    let messages = seen[1].body["messages"].to_string();
    assert!(
        messages.contains("A long story") && messages.contains("shorter"),
        "{messages}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_while_it_asks_leaves() {
    let turns = [Turn::new([
        Say::Text("A long story".into()),
        Say::Hold("never".into()),
    ])];
    let sitting = sit("unattended", turns).await;
    sitting.until(|rows| rows.contains("A long story")).await;
    sitting.press("\x03");
    sitting.until(|rows| rows.contains("abort")).await;
    sitting.press("\x03");
    let (exit, _) = sitting.ends().await;
    assert_eq!(exit, Some(130));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_smaller_terminal_is_redrawn() {
    let turns = [
        Turn::calls([(
            "shell",
            json!({"command": "until [ -e go ]; do sleep 0.05; done"}),
        )]),
        Turn::text("Words that are wrapped at the width that the terminal has now."),
    ];
    let sitting = sit("unattended", turns).await;
    sitting.until(|rows| rows.contains("until [ -e go ]")).await;
    let size = TerminalSize { rows: 20, cols: 30 };
    sitting.terminal.resize(size);
    sitting.asked.project.write("go", "");
    let (exit, rows) = sitting.ends().await;
    assert_eq!(exit, Some(0));
    let end = "Words that are wrapped at the\nwidth that the terminal has\nnow.";
    assert!(rows.ends_with(end), "{rows}");
    assert!(rows.lines().all(|row| row.chars().count() <= 30), "{rows}");
}

/// Times differ from run to run.
fn without_times(rows: &str) -> String {
    rows.lines()
        .map(|row| match row.rsplit_once(' ') {
            Some((rest, last)) if row.starts_with('✓') && last.ends_with('s') => {
                format!("{rest} T")
            }
            _ => row.to_owned(),
        })
        .collect::<Vec<_>>()
        .join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_seen_from_elsewhere() {
    let turns = [Turn::new([
        Say::Text("A long story".into()),
        Say::Hold("more".into()),
    ])];
    let sitting = sit("unattended", turns).await;
    sitting.until(|rows| rows.contains("A long story")).await;
    let project = &sitting.asked.project;
    let seen = tokio::task::block_in_place(|| project.run(&["ps", "--json"], ""));
    assert!(seen.stdout().contains("query"), "{}", seen.stdout());
    sitting.asked.server.release("more");
    assert_eq!(sitting.ends().await.0, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_request_keeps_its_bar_and_a_long_call_its_time() {
    // The first row is as wide as it may be, without the space after it.
    let command = "until [ -e go ]; do sleep 0.05; done; echo exactly-here five six seven";
    let turns = [
        Turn::calls([("shell", json!({ "command": command }))]),
        Turn::text("Done."),
    ];
    let sitting = sit("ask", turns).await;
    let rows = sitting.until(|rows| rows.contains("y yes, once")).await;
    let request = rows.lines().take_while(|row| !row.starts_with("y yes"));
    for row in request {
        assert!(row.starts_with('┃'), "{rows}");
    }
    assert!(rows.contains("six seven"), "{rows}");
    sitting.press("y");
    sitting
        .until(|rows| {
            rows.lines()
                .any(|row| row.contains("… 0.") && row.ends_with('s'))
        })
        .await;
    sitting.asked.project.write("go", "");
    assert_eq!(sitting.ends().await.0, Some(0));
}
