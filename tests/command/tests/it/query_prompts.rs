//! The prompts of `windlass query`, on a real terminal: answered, interrupted,
//! taken away.

use serde_json::{Value, json};
use windlass_outside::model::{Say, Turn};
use windlass_outside::needs;

use crate::programs::windlass;
use crate::query::{Asked, asked};
use crate::query_terminal::{Sitting, sit, sit_at};
use crate::support::eventually;

/// The model begins to speak and does not end.
fn endless() -> Turn {
    Turn::new([Say::Text("A long story".into()), Say::Hold("never".into())])
}

fn shell(command: &str) -> Turn {
    Turn::calls([("shell", json!({"command": command}))])
}

/// Sitting at a model that does not end.
async fn bored() -> Sitting {
    let sitting = sit("unattended", [endless()]).await;
    sitting.until(|rows| rows.contains("A long story")).await;
    sitting
}

/// What the model received last.
fn told(asked: &Asked) -> String {
    let seen = asked.server.seen();
    seen.last().unwrap().body["messages"].to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_ctrl_cs_in_one_piece_leave() {
    let sitting = bored().await;
    sitting.press("\x03\x03");
    assert_eq!(sitting.ends().await.0, Some(130));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_ctrl_c_leaves_however_soon_it_comes() {
    let sitting = bored().await;
    sitting.press("\x03");
    sitting.press("\x03");
    assert_eq!(sitting.ends().await.0, Some(130));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_continues_is_asked_again_by_the_next_ctrl_c() {
    let sitting = bored().await;
    for leave in ["\r", "\x1b"] {
        sitting.press("\x03");
        sitting.until(|rows| rows.contains("stop tools")).await;
        sitting.press(leave);
        sitting.until(|rows| !rows.contains("stop tools")).await;
    }
    sitting.press("\x03");
    sitting.until(|rows| rows.contains("stop tools")).await;
    sitting.press("\x03");
    assert_eq!(sitting.ends().await.0, Some(130));
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_at_a_permission_asks_and_the_permission_comes_back() {
    let turns = [shell("echo made > file"), Turn::text("Done.")];
    let sitting = sit("ask", turns).await;
    sitting.until(|rows| rows.contains("e edit")).await;
    sitting.press("\x03");
    let rows = sitting.until(|rows| rows.contains("stop tools")).await;
    assert!(!rows.contains("e edit"), "{rows}");
    sitting.press("\r");
    sitting.until(|rows| rows.contains("e edit")).await;
    sitting.press("\r");
    let (exit, rows) = sitting.ends().await;
    assert_eq!(exit, Some(0), "{rows}");
    assert_eq!(sitting.asked.project.read("file"), "made\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_twice_at_a_permission_leaves_and_nothing_has_run() {
    let sitting = sit("ask", [shell("echo made > file")]).await;
    sitting.until(|rows| rows.contains("e edit")).await;
    sitting.press("\x03\x03");
    let (exit, rows) = sitting.ends().await;
    assert_eq!(exit, Some(130), "{rows}");
    assert!(!sitting.asked.project.root().join("file").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_permission_that_is_replied_to_elsewhere_is_no_longer_asked_for() {
    let turns = [shell("echo made > file"), Turn::text("Done.")];
    let sitting = sit("ask", turns).await;
    sitting.until(|rows| rows.contains("e edit")).await;
    let project = &sitting.asked.project;
    tokio::task::block_in_place(|| {
        let pending = project.list(&["permissions", "pending"]);
        let id = id_of(&pending);
        let run = project.run(&["permissions", "reply", &id, "once"], "");
        assert_eq!(run.code(), Some(0), "{}", run.stderr());
    });
    let (exit, rows) = sitting.ends().await;
    assert_eq!(exit, Some(0));
    assert!(
        rows.contains("elsewhere") && !rows.contains("e edit"),
        "{rows}"
    );
    assert!(rows.ends_with("Done."), "{rows}");
    assert_eq!(sitting.asked.project.read("file"), "made\n");
}

/// The id in what `permissions pending` lists.
fn id_of(pending: &[Value]) -> String {
    let text = json!(pending).to_string();
    let from = text.find("per_").unwrap_or_else(|| panic!("{text}"));
    text[from..]
        .chars()
        .take_while(|it| it.is_alphanumeric() || *it == '_')
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejection_takes_a_word_along() {
    let turns = [shell("echo made > file"), Turn::text("I see.")];
    let sitting = sit("ask", turns).await;
    sitting.until(|rows| rows.contains("e edit")).await;
    sitting.press("n");
    sitting.until(|rows| rows.contains("A message")).await;
    sitting.press("not today\r");
    let (exit, rows) = sitting.ends().await;
    assert_eq!(exit, Some(0), "{rows}");
    assert!(told(&sitting.asked).contains("the user rejected `shell`: not today"));
    assert!(!sitting.asked.project.root().join("file").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_is_edited_pasted_and_written_in_any_letters() {
    let sitting = sit("unattended", [endless(), Turn::text("Short.")]).await;
    sitting.until(|rows| rows.contains("A long story")).await;
    sitting.press("\x03");
    sitting.until(|rows| rows.contains("stop tools")).await;
    sitting.press("\x1b[B\r");
    sitting.until(|rows| rows.contains("Reply:")).await;
    // Typed, moved about in, erased and pasted, byte by byte.
    for byte in "shrt 日本xx\x7f\x7f\x1b[H\x1b[C\x1b[Co\x05 wrong\x17".bytes() {
        sitting.press_bytes(&[byte]);
    }
    sitting
        .until(|rows| rows.contains("Reply: short 日本"))
        .await;
    sitting.press("\x1b[200~two\r\nlines\r\n\x1b[201~");
    sitting.until(|rows| rows.contains("two↵lines")).await;
    sitting.press("\r");
    let (exit, rows) = sitting.ends().await;
    assert_eq!(exit, Some(0), "{rows}");
    let told = told(&sitting.asked);
    assert!(told.contains(r#""short 日本 two\nlines""#), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_goes_to_its_program_and_is_not_seen() {
    needs!("bash");
    let command = "exec bash -c 'read -rs -p \"Password: \" word; echo \"$word\" > heard'";
    let spawn = json!({"action": "spawn", "id": "it", "command": command, "terminal": true});
    let turns = [
        Turn::calls([("shell", spawn), ("await", json!({"all": ["it"]}))]),
        Turn::text("Done."),
    ];
    let sitting = sit("unattended", turns).await;
    // The call shows the word, too.
    let asks = |rows: &str| rows.lines().any(|row| row == "Password:");
    sitting.until(asks).await;
    sitting.press("hünter2");
    sitting.press("\r");
    let (exit, rows) = sitting.ends().await;
    assert_eq!(exit, Some(0), "{rows}");
    assert_eq!(sitting.asked.project.read("heard"), "hünter2\n");
    assert!(
        rows.contains("[hidden]") && !rows.contains("hünter2"),
        "{rows}"
    );
    assert!(!told(&sitting.asked).contains("hünter2"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_editor_changes_what_runs() {
    let turns = [shell("echo made > file"), Turn::text("Done.")];
    let asked = asked("ask", turns).await;
    asked.project.write(
        "edit.sh",
        "read -p 'which? ' word; sed -i \"s/file/$word/\" \"$1\"",
    );
    let mut binary = asked.project.windlass(&["query", "go"]);
    binary.env("EDITOR", "sh edit.sh");
    let sitting = sit_at(asked, binary);
    sitting.until(|rows| rows.contains("e edit")).await;
    sitting.press("e");
    sitting.until(|rows| rows.contains("which?")).await;
    sitting.press("other\r");
    let (exit, rows) = sitting.ends().await;
    assert_eq!(exit, Some(0), "{rows}");
    assert_eq!(sitting.asked.project.read("other"), "made\n");
    assert!(rows.contains("runs as: echo made > other"), "{rows}");
    assert!(rows.contains("✓ shell echo made > other"), "{rows}");
    let told = told(&sitting.asked);
    assert!(told.contains("it ran as: echo made > other"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_editor_that_is_interrupted_leaves_the_turn_alone() {
    let turns = [shell("echo made > file"), Turn::text("Done.")];
    let asked = asked("ask", turns).await;
    asked
        .project
        .write("edit.sh", "echo ready; exec sleep 1000");
    let mut binary = asked.project.windlass(&["query", "go"]);
    binary.env("EDITOR", "sh edit.sh");
    let sitting = sit_at(asked, binary);
    sitting.until(|rows| rows.contains("e edit")).await;
    sitting.press("e");
    sitting.until(|rows| rows.contains("ready")).await;
    // It is the editor's own terminal that takes it.
    sitting.press("\x03");
    let (exit, rows) = sitting.ends().await;
    assert_eq!(exit, Some(0), "{rows}");
    assert_eq!(sitting.asked.project.read("file"), "made\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_written_in_the_editor() {
    let asked = asked("ask", [Turn::text("Hello.")]).await;
    asked
        .project
        .write("edit.sh", "printf 'From the editor' > \"$2\"");
    let mut binary = asked.project.windlass(&["query"]);
    binary.env("EDITOR", "sh 'edit.sh' --wait");
    let sitting = sit_at(asked, binary);
    let (exit, rows) = sitting.ends().await;
    assert_eq!(exit, Some(0), "{rows}");
    assert!(told(&sitting.asked).contains("From the editor"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_terminal_is_left_as_it_was() {
    let asked = asked("unattended", [endless()]).await;
    let mut shell = asked.project.program("sh");
    let windlass = windlass();
    let line = format!("stty -g > before; {windlass} query go; stty -g > after");
    shell.args(["-c", &line]);
    let sitting = sit_at(asked, shell);
    sitting.until(|rows| rows.contains("A long story")).await;
    sitting.press("\x03");
    sitting.until(|rows| rows.contains("stop tools")).await;
    sitting.press("\x03");
    sitting.ends().await;
    let project = &sitting.asked.project;
    assert_eq!(project.read("after"), project.read("before"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_query_has_its_keys_again_when_it_continues() {
    needs!("bash");
    let asked = asked("unattended", [endless()]).await;
    let windlass = windlass();
    let wipe = r"printf '\033[2J\033[H'; until [ -e go ]; do sleep 0.05; done";
    let line = format!("set -m; {windlass} query go; stty sane; {wipe}; fg; echo code $?");
    let mut shell = asked.project.program("bash");
    shell.args(["-c", &line]);
    let sitting = sit_at(asked, shell);
    sitting.until(|rows| rows.contains("A long story")).await;
    sitting.press("\x1a");
    sitting.until(|rows| !rows.contains("A long story")).await;
    sitting.asked.project.write("go", "");
    // What it draws, it draws when it has the terminal.
    sitting.until(|rows| rows.contains("A long story")).await;
    sitting.press("\x03");
    sitting.until(|rows| rows.contains("stop tools")).await;
    sitting.press("\x03");
    let (_, rows) = sitting.ends().await;
    assert!(rows.contains("code 130"), "{rows}");
}

#[tokio::test(flavor = "multi_thread")]
async fn call_asks_and_ctrl_c_ends_it() {
    needs!("bash");
    let asked = asked("unattended", []).await;
    let command = "exec bash -c 'read -rs -p \"Password: \" word; echo \"$word\" > heard'";
    let arguments = json!({"command": command, "terminal": true}).to_string();
    let binary = asked.project.windlass(&["call", "shell", &arguments]);
    let sitting = sit_at(asked, binary);
    sitting.until(|rows| rows.contains("Password:")).await;
    sitting.press("\x03");
    let (exit, rows) = sitting.ends().await;
    assert_eq!(exit, Some(130), "{rows}");
    eventually("the prompt has gone", || {
        !sitting.rows().contains("Password:")
    });
}
