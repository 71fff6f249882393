//! Secrets: detected on the terminal, asked of the person, never recorded.

use std::fmt::Write as _;

use serde_json::{Value, json};
use windlass_outside::needs;

use crate::support::{Drive, Project, call};
use crate::term_sitting::{Sitting, assert_ended_well, assert_shows};
use crate::term_tools::answering_with;

/// The shell runs without asking.
pub(crate) const UNATTENDED: &str = "[conversation.tools.shell]\nrun = \"unattended\"\n";
/// And the assistant may know secrets.
const TRUSTING: &str =
    "[conversation.tools.shell]\nrun = \"unattended\"\nsecrets = \"assistant\"\n";

/// Reads a secret, writes it to a file and shows how long it is.
const READ: &str = "exec bash -c 'read -rs -p \"Password: \" word; echo; echo \"$word\" > heard; echo ${#word} letters'";

/// A session in which `it` runs this and has asked for a secret; with what it
/// said so far, and the question.
pub(crate) struct Asked {
    drive: Drive,
    said: String,
    pub(crate) question: Value,
}

impl Asked {
    #[track_caller]
    pub(crate) fn by(project: &Project, command: &str) -> Self {
        let mut asked = Self::soon_by(project, command);
        asked.wait_for_question();
        asked
    }

    /// The same, but it may not have asked yet.
    #[track_caller]
    fn soon_by(project: &Project, command: &str) -> Self {
        let mut asked = Self {
            drive: project.drive_asking(),
            said: String::new(),
            question: Value::Null,
        };
        asked.drive.send(&json!([call(
            "shell",
            json!({"action": "spawn", "id": "it", "command": command, "terminal": true})
        )]));
        let spawned = asked.reply();
        assert_ne!(spawned["content"]["state"], json!("stopped"), "{spawned}");
        asked
    }

    /// The question may come before the reply or after it.
    #[track_caller]
    fn wait_for_question(&mut self) {
        while self.question.is_null() {
            self.read();
        }
    }

    /// The next line; a question is kept.
    #[track_caller]
    fn read(&mut self) -> Value {
        let line = self.drive.next();
        writeln!(self.said, "{line}").unwrap();
        if line["event"] == json!("question") {
            self.question = line.clone();
        }
        line
    }

    /// The next reply.
    #[track_caller]
    fn reply(&mut self) -> Value {
        loop {
            let line = self.read();
            if let Some(reply) = line["replies"].get(0) {
                return reply.clone();
            }
        }
    }

    #[track_caller]
    fn run(&mut self, tool: &str, arguments: Value) -> Value {
        self.drive.send(&json!([call(tool, arguments)]));
        self.reply()
    }

    /// Answers as the person does; returns the program's end.
    #[track_caller]
    pub(crate) fn answer(&mut self, secret: &str) -> Value {
        let answer = json!({"answer": self.question["ask"], "value": secret});
        self.drive.send(&answer);
        let awaited = self.run("await", json!({"all": ["it"]}));
        awaited["content"]["completed"][0].clone()
    }

    /// Ends the session, in which this was said and kept nowhere.
    #[track_caller]
    pub(crate) fn end_without(mut self, project: &Project, secret: &str) {
        let (rest, _) = self.drive.finish();
        let said = format!("{}{rest:?}{}", self.said, self.drive.stderr());
        assert!(!said.contains(secret), "{said}");
        for file in crate::support::files_below(&project.state_dir()) {
            let kept = std::fs::read(&file).unwrap_or_default();
            let kept = String::from_utf8_lossy(&kept);
            assert!(!kept.contains(secret), "{}", file.display());
        }
    }
}

#[test]
pub(crate) fn a_secret_goes_from_the_person_to_the_program_and_nowhere_else() {
    needs!("bash");
    let project = Project::with_config(UNATTENDED);
    let mut asked = Asked::by(&project, READ);
    assert_eq!(asked.question["handle"], json!("it"));
    assert_eq!(
        asked.question["question"],
        json!({"id": "secret", "text": "Password:", "answer_type": "Text", "secret": true})
    );
    let refused = asked.run(
        "shell",
        json!({"action": "apply", "id": "it", "input": "a guess"}),
    );
    assert_eq!(refused["is_error"], json!(true));
    let id = asked.question["ask"].as_str().unwrap();
    let only_user = format!(
        "handle `it` asks for a secret (\"Password:\"), which only the user can give with \
         `windlass answer {id}`; tell them, and await it"
    );
    assert_eq!(refused["content"], json!(only_user));
    let ended = asked.answer("sesame-7");
    assert_ended_well(&ended);
    assert_shows(&ended, "8 letters");
    assert_eq!(project.read("heard"), "sesame-7\n");
    assert!(!asked.said.contains("a guess"), "{}", asked.said);
    asked.end_without(&project, "sesame-7");
}

#[test]
fn the_assistant_may_give_secrets_where_the_config_says_so() {
    needs!("bash");
    let project = Project::with_own_config(TRUSTING);
    let mut asked = Asked::by(&project, READ);
    asked.run(
        "shell",
        json!({"action": "apply", "id": "it", "input": "between us"}),
    );
    let awaited = asked.run("await", json!({"all": ["it"]}));
    let completed = awaited["content"]["completed"].as_array().unwrap();
    assert_eq!(completed.len(), 1, "{awaited}");
    assert_eq!(project.read("heard"), "between us\n");
}

#[test]
fn who_drives_without_being_asked_gives_secrets_by_apply() {
    needs!("python3");
    let project = Project::new();
    let program = "import getpass; word = getpass.getpass('PIN: '); open('heard', 'w').write(word)";
    let (mut sitting, shown) = Sitting::down(&project, &format!("exec python3 -c \"{program}\""));
    assert_eq!(shown["state"], json!("waiting"), "{shown}");
    assert_eq!(shown["question"]["text"], json!("PIN:"));
    assert_ended_well(&sitting.line("1234"));
    assert_eq!(project.read("heard"), "1234");
}

#[test]
fn each_prompt_is_asked_even_if_nothing_is_written_between() {
    needs!("bash");
    let project = Project::new();
    let (mut sitting, shown) = Sitting::down(
        &project,
        "exec bash -c 'read -rs one; read -rs two; echo \"$one $two\" > heard'",
    );
    assert_eq!(shown["state"], json!("waiting"), "{shown}");
    let second = sitting.line("first");
    assert_eq!(second["state"], json!("waiting"), "{second}");
    assert_ended_well(&sitting.line("second"));
    assert_eq!(project.read("heard"), "first second\n");
}

#[test]
fn a_prompt_that_becomes_secret_without_a_word_is_asked() {
    needs!("bash");
    let project = Project::with_config(UNATTENDED);
    let mut asked = Asked::soon_by(
        &project,
        "until [ -e go ]; do sleep 0.01; done; exec bash -c 'read -rs word; echo \"$word\" > heard'",
    );
    // The reply was given while the shell took lines with echo.
    assert!(asked.question.is_null());
    project.write("go", "");
    asked.wait_for_question();
    let answer = json!({"answer": asked.question["ask"], "value": "late"});
    asked.drive.send(&answer);
    asked.run("await", json!({"all": ["it"]}));
    assert_eq!(project.read("heard"), "late\n");
}

/// Turns echo off and reads nothing.
const SILENT: &str = "stty -echo; echo ready; exec sleep 1000";

/// Types a secret into a tool that runs [`SILENT`] on a terminal; it is kept nowhere.
#[track_caller]
fn typing_is_not_recorded(project: &Project, tool: &str, mut spawn: Value) {
    let mut drive = project.drive();
    spawn["action"] = json!("spawn");
    spawn["id"] = json!("it");
    let ready = json!({"until": [{"id": "it", "pattern": "ready"}]});
    drive.run([call(tool, spawn), call("await", ready)]);
    let typed = json!({"action": "apply", "id": "it", "input": "sesame-9"});
    assert_eq!(drive.content(tool, typed)["state"], json!("running"));
    drive.finish();
    for file in crate::support::files_below(&project.state_dir()) {
        let kept = std::fs::read(&file).unwrap_or_default();
        let kept = String::from_utf8_lossy(&kept);
        assert!(!kept.contains("sesame-9"), "{}", file.display());
    }
    let shown = crate::records::show(project, "last");
    let parts = crate::records::parts_of(&shown);
    assert_eq!(parts.last().unwrap()["state"]["input"]["input"], "(secret)");
}

#[test]
pub(crate) fn what_is_typed_while_nothing_is_echoed_is_not_recorded() {
    let project = Project::with_config(UNATTENDED);
    let spawn = json!({"command": SILENT, "terminal": true});
    typing_is_not_recorded(&project, "shell", spawn);
}

#[test]
fn what_is_typed_into_a_program_that_took_over_unechoed_is_not_recorded() {
    let project = answering_with(SILENT);
    typing_is_not_recorded(&project, "asks", json!({}));
}

#[test]
fn ordinary_prompts_are_no_secrets() {
    needs!("python3", "bash", "vim");
    let project = Project::new();
    for command in [
        "python3 -q",
        "bash --norc --noprofile -i",
        "vim -u NONE -i NONE",
        "printf 'Name: '; read name",
        "stty raw -echo; cat",
    ] {
        let (mut sitting, shown) = Sitting::down(&project, command);
        assert_eq!(shown["state"], json!("running"), "{command}: {shown}");
        assert_eq!(shown["awaiting_input"], json!(true), "{command}: {shown}");
        assert_eq!(shown.get("question"), None, "{command}");
        sitting.act("abort", json!({}));
    }
}

/// Reads a secret key by key, and shows a star for each.
const STARS: &str = r#"
import os, sys, termios, tty
old = termios.tcgetattr(0)
tty.setraw(0)
os.write(1, sys.argv[1].encode())
word = b""
while (key := os.read(0, 1)) not in b"\r\n":
    word += key
    os.write(1, b"*")
termios.tcsetattr(0, termios.TCSADRAIN, old)
open("heard", "wb").write(word)
print("\n%d letters" % len(word))
"#;

#[test]
pub(crate) fn a_program_that_shows_stars_asks_the_person() {
    needs!("python3");
    let project = Project::with_config(UNATTENDED);
    project.write("stars.py", STARS);
    let mut asked = Asked::by(&project, "python3 stars.py 'Password: '");
    assert_eq!(
        asked.question["question"],
        json!({"id": "secret", "text": "Password:", "answer_type": "Text", "secret": true})
    );
    let refused = asked.run(
        "shell",
        json!({"action": "apply", "id": "it", "input": "a guess"}),
    );
    assert_eq!(refused["is_error"], json!(true));
    let ended = asked.answer("sesame-8");
    assert_ended_well(&ended);
    assert_shows(&ended, "8 letters");
    assert_eq!(project.read("heard"), "sesame-8");
    asked.end_without(&project, "sesame-8");
}

#[test]
fn prompt_toolkit_asks_the_person_for_a_password() {
    // This Python has packages of its own.
    needs!("mcp-python");
    let project = Project::with_config(UNATTENDED);
    let program = "from prompt_toolkit import prompt; \
                   open('heard', 'w').write(prompt('Passphrase: ', is_password=True))";
    let mut asked = Asked::by(&project, &format!("mcp-python -c \"{program}\""));
    assert_eq!(asked.question["question"]["text"], json!("Passphrase:"));
    assert_ended_well(&asked.answer("sesame-6"));
    assert_eq!(project.read("heard"), "sesame-6");
    asked.end_without(&project, "sesame-6");
}

#[test]
fn text_that_is_shown_as_stars_is_not_recorded() {
    needs!("python3");
    let project = Project::with_config(UNATTENDED);
    project.write("stars.py", STARS);
    let mut drive = project.drive();
    let spawn = json!({
        "action": "spawn", "id": "it", "command": "python3 stars.py '> '", "terminal": true,
    });
    drive.one("shell", spawn);
    let typed = json!({"action": "apply", "id": "it", "input": "sesame-5"});
    drive.one("shell", typed);
    drive.finish();
    assert_eq!(project.read("heard"), "sesame-5");
    for file in crate::support::files_below(&project.state_dir()) {
        let kept = std::fs::read(&file).unwrap_or_default();
        let kept = String::from_utf8_lossy(&kept);
        assert!(!kept.contains("sesame-5"), "{}", file.display());
    }
    let shown = crate::records::show(&project, "last");
    let parts = crate::records::parts_of(&shown);
    assert_eq!(parts.last().unwrap()["state"]["input"]["input"], "(secret)");
}

#[test]
fn a_word_about_passwords_in_a_shell_or_a_pager_asks_nobody() {
    needs!("bash", "less", "vim");
    let project = Project::new();
    project.write("file", "Password:\n");
    for command in [
        "PS1='Password: ' bash --norc --noprofile -i",
        "less file",
        "vim -u NONE -i NONE file",
        "cat file; python3 -q",
    ] {
        let (mut sitting, shown) = Sitting::down(&project, command);
        assert_eq!(shown["state"], json!("running"), "{command}: {shown}");
        assert_eq!(shown.get("question"), None, "{command}");
        sitting.act("abort", json!({}));
    }
}
