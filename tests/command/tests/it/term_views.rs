//! What of a terminal is read, and how it is typed at.

use serde_json::json;
use windlass_outside::needs;

use crate::support::{Project, call};
use crate::term_sitting::{Sitting, assert_ended_well, assert_shows, numbers, text};

#[test]
fn what_is_new_is_reported_once_and_the_rest_on_request() {
    let project = Project::new();
    let (mut sitting, shown) = Sitting::down(
        &project,
        "i=1; while [ $i -le 30 ]; do echo $i; i=$((i+1)); done; read word; echo got $word; read end",
    );
    assert_eq!(text(&shown), numbers(30));
    let mut view = |view: &str| sitting.act("fetch", json!({"view": view}));
    assert_eq!(text(&view("new")), "");
    assert!(text(&view("screen")).starts_with("8\n9\n"));
    assert_eq!(text(&view("all")), numbers(30));
    assert_eq!(text(&sitting.line("it")), "got it\n");
    let all = sitting.act("fetch", json!({"view": "all"}));
    assert_eq!(text(&all), format!("{}it\ngot it\n", numbers(30)));
    assert_eq!(all.get("cursor"), None, "only while full-screen");
    assert_ended_well(&sitting.line(""));
}

#[test]
fn without_enter_input_waits_in_the_line() {
    let project = Project::new();
    let (mut sitting, _) = Sitting::down(&project, "read line; echo \"<$line>\"; read end");
    let typed = sitting.apply(json!({"input": "half ", "enter": false}));
    assert_eq!(text(&typed), "");
    assert_eq!(text(&sitting.line("and half")), "<half and half>\n");
}

#[test]
fn a_key_that_does_not_exist_is_refused_and_nothing_is_typed() {
    let project = Project::new();
    let (mut sitting, _) = Sitting::down(&project, "read line; echo \"<$line>\"; read end");
    let refused = sitting.refused("apply", json!({"input": "lost", "keys": ["enter", "pgup"]}));
    assert!(refused.contains("no key `pgup`"), "{refused}");
    assert_eq!(text(&sitting.line("kept")), "<kept>\n");
}

#[test]
fn a_terminal_is_as_large_as_was_asked_for() {
    let project = Project::new();
    let (_sitting, shown) = Sitting::with(
        &project,
        "shell",
        json!({"command": "stty size", "terminal": true, "rows": 30, "cols": 100}),
    );
    assert_eq!(shown["result"], json!("30 100\n"), "{shown}");
    let (_sitting, shown) = Sitting::down(&project, "stty size");
    assert_eq!(shown["result"], json!("24 80\n"), "{shown}");
    let (_sitting, shown) = Sitting::with(
        &project,
        "shell",
        json!({"command": "[ -t 0 ] || echo none"}),
    );
    assert_eq!(shown["result"], json!("none\n"), "{shown}");
}

#[test]
fn a_full_screen_has_a_cursor_and_tells_the_rows_that_changed() {
    needs!("vim");
    let project = Project::new();
    project.write("file", &numbers(10));
    let (mut sitting, shown) = Sitting::down(&project, "vim -u NONE -i NONE file");
    assert_eq!(shown["cursor"], json!([1, 1]), "{shown}");
    let changed = sitting.apply(json!({"keys": ["j", "l", "i", "!", "esc"]}));
    assert_eq!(text(&changed), "2│!2");
    let screen = sitting.act("fetch", json!({"view": "screen"}));
    assert!(text(&screen).starts_with("1\n!2\n3\n"), "{screen}");
    assert_eq!(text(&sitting.act("fetch", json!({}))), "");
    let ended = sitting.leave(json!({"input": ":q!"}));
    assert_ended_well(&ended);
}

#[test]
fn a_one_shot_may_have_a_terminal_too() {
    let project = Project::new();
    let mut drive = project.drive();
    let content = drive.content(
        "shell",
        json!({"command": "[ -t 1 ] && echo yes", "terminal": true}),
    );
    assert_eq!(content, json!("yes\n"));
}

#[test]
fn a_program_that_sleeps_is_not_at_a_prompt() {
    let project = Project::new();
    let mut sitting = Sitting::running(&project, "shell");
    let arguments = json!({"command": "printf 'Name: '; exec sleep 1000", "terminal": true});
    let shown = sitting.act("spawn", arguments);
    assert_shows(&shown, "Name:");
    assert_eq!(shown.get("awaiting_input"), None, "{shown}");
}

#[test]
fn a_prompt_can_be_awaited() {
    let project = Project::new();
    let mut drive = project.drive();
    // Longer than a spawn settles, so that the prompt comes while it is awaited.
    let command = "sleep 1.3; printf 'name? '; read name; echo hi $name";
    let spawn = json!({"action": "spawn", "id": "asks", "command": command, "terminal": true});
    let awaited = drive.run([
        call("shell", spawn),
        call("await", json!({"until": [{"id": "asks", "waiting": true}]})),
    ]);
    assert_eq!(
        awaited["replies"][1]["content"],
        json!({
            "completed": [],
            "pending": [{"id": "asks", "state": "running"}],
            "matched": [{"id": "asks", "waiting": true}],
        })
    );
    let fetched = drive.content("shell", json!({"action": "fetch", "id": "asks"}));
    assert_eq!(fetched["content"], json!("name? "));
    assert_eq!(fetched["awaiting_input"], json!(true));
}

#[test]
fn what_is_cut_of_a_terminal_is_in_its_log() {
    needs!("seq");
    let project = Project::new();
    let (mut sitting, shown) = Sitting::down(&project, "seq 1 20000; read end");
    let omitted = shown["omitted_bytes"].as_u64();
    assert!(omitted.is_some_and(|omitted| omitted > 50_000), "{shown}");
    let log = std::fs::read_to_string(shown["log"].as_str().unwrap()).unwrap();
    assert_eq!(log.lines().count(), 20_000);
    assert_ended_well(&sitting.line(""));
}
