//! Configured tools on a terminal, by their config or by what they answer,
//! and recordings.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use windlass_outside::needs;

use crate::support::{Project, call, files_below};
use crate::term_sitting::{Sitting, assert_ended_well, text};

#[test]
fn a_configured_tool_may_run_on_a_terminal() {
    needs!("bash");
    let project = Project::with_config(
        r#"
        [conversation.tools.repl]
        source = "local"
        command = "bash --norc --noprofile -i"
        parameters = {}
        spawn.stateful = true
        spawn.io = "terminal"
        "#,
    );
    let (mut sitting, shown) = Sitting::with(&project, "repl", json!({}));
    assert_eq!(shown["awaiting_input"], json!(true), "{shown}");
    let said = sitting.line("[ -t 0 ] && echo on a terminal");
    assert!(text(&said).starts_with("on a terminal\n"), "{said}");
    let ended = sitting.leave(json!({"keys": ["ctrl-d"]}));
    assert_ended_well(&ended);
}

/// A tool that answers with another program, which reads a line.
fn answering(io: &str) -> Project {
    let line = "[ -t 0 ] && stty size; printf 'Name: '; read name; echo \"hello $name\"";
    answering_by(line, io)
}

/// A tool that answers with this shell line on a terminal.
pub(crate) fn answering_with(line: &str) -> Project {
    answering_by(line, "terminal")
}

fn answering_by(line: &str, io: &str) -> Project {
    let project = Project::with_config(
        r#"
        [conversation.tools.asks]
        source = "local"
        command = "cat answer"
        parameters = {}
        spawn.stateful = true
        spawn.record = true
        "#,
    );
    let answer = json!({"type": "exec", "program": "sh", "args": ["-c", line], "io": io});
    project.write("answer", &answer.to_string());
    project
}

#[test]
fn a_tool_may_answer_with_a_program_on_a_terminal() {
    let project = answering("terminal");
    let (mut sitting, shown) = Sitting::with(&project, "asks", json!({}));
    assert_eq!(text(&shown), "24 80\nName: ");
    assert_eq!(shown["awaiting_input"], json!(true), "{shown}");
    let ended = sitting.line("you");
    assert_ended_well(&ended);
    assert_eq!(ended["result"], json!("hello you\n"));
    assert_eq!(casts(&project).len(), 1);
}

#[test]
fn a_program_that_took_over_is_awaited_at_its_prompt() {
    let project = answering_with("until [ -e go ]; do sleep 0.01; done; read name");
    let mut drive = project.drive();
    drive.run([call("asks", json!({"action": "spawn", "id": "it"}))]);
    project.write("go", "");
    let until = json!({"until": [{"id": "it", "waiting": true}], "timeout_secs": 60});
    let awaited = drive.content("await", until);
    assert_eq!(awaited["matched"][0]["id"], json!("it"), "{awaited}");
    assert!(awaited.get("timed_out").is_none(), "{awaited}");
}

#[test]
fn a_program_that_a_tool_answered_with_can_be_aborted() {
    let project = answering("terminal");
    let (mut sitting, _) = Sitting::with(&project, "asks", json!({}));
    let aborted = sitting.act("abort", json!({}));
    assert_eq!(aborted["state"], json!("stopped"), "{aborted}");
    assert_eq!(aborted["ended"], json!(1), "{aborted}");
}

#[test]
fn a_program_with_states_is_no_answer() {
    let project = answering("state");
    let (_sitting, shown) = Sitting::with(&project, "asks", json!({}));
    assert_eq!(
        shown["result"],
        json!(
            "the tool's `exec` runs `sh` with `io` \"state\"; `exec` supports \"text\" and \
             \"terminal\""
        )
    );
}

/// The recordings that there are.
fn casts(project: &Project) -> Vec<PathBuf> {
    let mut files = files_below(&project.state_dir());
    files.retain(|file| file.extension().is_some_and(|end| end == "cast"));
    files
}

#[test]
pub(crate) fn a_terminal_is_recorded_for_as_long_as_its_session_is() {
    let project = Project::with_config("[conversation.tools.shell]\nspawn.record = true\n");
    let (mut sitting, _) = Sitting::with(
        &project,
        "shell",
        json!({"command": "printf 'Näme: '; read name; echo hello $name", "terminal": true, "rows": 10, "cols": 40}),
    );
    assert_ended_well(&sitting.line("you"));
    let [cast] = &casts(&project)[..] else {
        panic!("there is one recording, not {:?}", casts(&project));
    };
    let cast = fs::read_to_string(cast).unwrap();
    let mut lines = cast
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let header = lines.next().unwrap();
    assert_eq!(
        (&header["version"], &header["width"], &header["height"]),
        (&json!(2), &json!(40), &json!(10))
    );
    let mut played = String::new();
    let mut before = 0.0;
    for event in lines {
        let at = event[0].as_f64().unwrap();
        assert!(at >= before, "{event}");
        before = at;
        assert_eq!(event[1], json!("o"));
        played.push_str(event[2].as_str().unwrap());
    }
    assert_eq!(played, "Näme: you\r\nhello you\r\n");
    sitting.up();
    assert_eq!(casts(&project).len(), 1);
    project.run(&["sessions", "prune", "--older-than", "0s"], "");
    assert_eq!(casts(&project), Vec::<PathBuf>::new());
}
