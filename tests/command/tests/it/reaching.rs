//! The commands that reach every runtime: `ps`, `logs`, `send`, `kill`,
//! `attach`, `permissions`.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};

use insta::assert_snapshot;
use serde_json::json;
use windlass_outside::needs;

use crate::programs::windlass;
use crate::support::{Project, call, eventually, spawn};

#[test]
fn every_handle_of_every_runtime_is_listed() {
    let project = Project::new();
    let shown = project.run(&["ps"], "").stdout();
    assert!(shown.starts_with("Nothing is running."), "{shown}");
    let mut one = project.drive();
    let mut two = project.drive();
    one.run([spawn("a", "echo hello; sleep 1000")]);
    two.run([]);
    let listed = project.run(&["ps"], "").stdout();
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines.len(), 3, "{listed}");
    assert!(lines[0].starts_with("HANDLE"), "{listed}");
    let of_one = lines.iter().find(|line| line.starts_with("a ")).unwrap();
    assert!(
        of_one.contains("drive") && of_one.ends_with("hello"),
        "{listed}"
    );
    let machine = project.list(&["ps"]);
    let handles = machine
        .iter()
        .flat_map(|line| line["handles"].as_array().unwrap());
    assert_eq!(handles.count(), 1);
    one.finish();
    two.finish();
    let shown = project.run(&["ps"], "").stdout();
    assert!(shown.starts_with("Nothing is running."), "{shown}");
}

#[test]
fn a_handle_is_sent_to_read_and_killed_from_elsewhere() {
    let project = Project::new();
    let mut drive = project.drive();
    drive.run([spawn("c", "exec cat")]);
    assert_eq!(project.run(&["send", "c", "over here"], "").code(), Some(0));
    eventually("cat has answered", || {
        project.run(&["logs", "c"], "").stdout() == "over here\n"
    });
    let following = std::thread::scope(|scope| {
        let following = scope.spawn(|| project.run(&["logs", "-f", "c"], "").stdout());
        project.run(&["send", "c", "and there"], "");
        eventually("it is written", || {
            project
                .run(&["logs", "c"], "")
                .stdout()
                .contains("and there")
        });
        let killed = project.run(&["kill", "c"], "");
        assert!(
            killed.stdout().contains("ended 1 process\n"),
            "{}",
            killed.stderr()
        );
        following.join().unwrap()
    });
    assert_eq!(following, "over here\nand there\n");
    let reply = drive.run([call("shell", json!({"action": "fetch", "id": "c"}))]);
    assert_eq!(
        reply["replies"][0]["content"]["result"],
        json!("aborted by the user")
    );
}

#[test]
fn a_running_one_shot_is_listed_followed_and_ended() {
    let project = Project::new();
    let mut drive = project.drive();
    let command = "echo first; read line < pipe; echo second; exec sleep 1000";
    project.program("mkfifo").arg("pipe").status().unwrap();
    drive.send(&json!([call("shell", json!({"command": command}))]));
    let one_shot = || {
        let sessions = project.list(&["ps"]);
        let handles = sessions
            .iter()
            .flat_map(|line| line["handles"].as_array().unwrap().clone());
        handles
            .into_iter()
            .find(|handle| handle["last_line"] == json!("first"))
    };
    eventually("it is listed", || one_shot().is_some());
    let listed = one_shot().unwrap();
    assert_eq!(listed["kind"], json!("one_shot"), "{listed}");
    assert_eq!(listed["command"], json!(command), "{listed}");
    assert_eq!(listed["state"], json!("running"), "{listed}");
    assert!(listed["elapsed_secs"].is_number(), "{listed}");
    let id = listed["id"].as_str().unwrap();
    let shown = project.run(&["ps"], "").stdout();
    assert!(shown.contains(id) && shown.contains("first"), "{shown}");

    let mut following = project.windlass(&["logs", "-f", id]);
    let mut following = following.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(following.stdout.take().unwrap()).lines();
    let mut line = || lines.next().map(Result::unwrap);
    assert_eq!(line().as_deref(), Some("first"));
    project.write("pipe", "go on\n");
    assert_eq!(line().as_deref(), Some("second"));
    let killed = project.run(&["kill", id], "");
    assert_eq!(killed.code(), Some(0), "{}", killed.stderr());
    assert_eq!(line(), None);
    assert!(following.wait().unwrap().success());
    let reply = drive.next();
    let reply = &reply["replies"][0];
    assert_eq!(
        reply["content"],
        json!("first\nsecond\naborted by the user")
    );
    assert_eq!(reply["is_error"], json!(true));
    let sessions = project.list(&["ps"]);
    assert_eq!(sessions[0]["handles"], json!([]), "{sessions:?}");
}

#[test]
fn following_a_handle_ends_well_when_its_runtime_does() {
    let project = Project::new();
    let mut drive = project.drive();
    drive.run([spawn("c", "echo first; exec cat")]);
    let mut following = project.windlass(&["logs", "-f", "c"]);
    let following = following.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut following = following.spawn().unwrap();
    let mut lines = BufReader::new(following.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "first");
    drive.kill();
    let ended = following.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_snapshot!(said, @"windlass: the runtime of `c` has ended; the last output may be missing");
    assert!(ended.status.success(), "{said}");
}

#[test]
fn a_handle_that_is_not_there_or_not_alone_is_said() {
    let project = Project::new();
    let none = project.run(&["logs", "x"], "");
    assert_eq!(none.code(), Some(2));
    assert_snapshot!(none.stderr(), @"windlass: there is no handle `x`, and no other handle; `windlass run` and assistants start handles");
    let (mut one, mut two) = (project.drive(), project.drive());
    for drive in [&mut one, &mut two] {
        drive.run([spawn("same", "echo here; sleep 1000")]);
    }
    let several = project.run(&["logs", "same"], "");
    assert!(
        several.stderr().contains("several handles"),
        "{}",
        several.stderr()
    );
    let full = several.stderr();
    let name = full
        .split("one of ")
        .nth(1)
        .unwrap()
        .split(", ")
        .next()
        .unwrap()
        .trim();
    assert_eq!(project.run(&["logs", name], "").stdout(), "here\n");
}

#[test]
fn a_permission_is_replied_to_from_elsewhere() {
    let project = Project::new();
    let mut drive = project.drive_asking();
    drive.send(&json!([call("shell", json!({"command": "echo yes"}))]));
    let asked = drive.next();
    let id = asked["request"]["id"].as_str().unwrap();
    let listed = project.run(&["permissions", "pending"], "").stdout();
    let short = &id[id.len() - 8..];
    assert!(
        listed.contains(short) && listed.contains("echo yes"),
        "{listed}"
    );
    let seen = project.run(&["ps"], "").stdout();
    assert!(
        seen.contains("waits for you") && seen.contains("? Run `shell`? echo yes"),
        "{seen}"
    );
    assert_eq!(
        project
            .run(&["permissions", "reply", short, "once"], "")
            .code(),
        Some(0),
        "the id as it is printed"
    );
    assert_eq!(drive.next()["replies"][0]["content"], json!("yes\n"));
    // It has been answered; the driver is too late, and so is anybody else.
    drive.send(&json!({"permission": id, "reply": "once"}));
    assert!(drive.next()["error"].as_str().unwrap().contains(id));
    let late = project.run(&["permissions", "reply", id, "once"], "");
    assert_eq!(late.code(), Some(2));
}

/// A terminal that no runtime has made: a tool could not attach.
pub(crate) struct Desk {
    pub(crate) script: Child,
    shown: Arc<Mutex<String>>,
}

impl Desk {
    pub(crate) fn open(project: &Project, line: &str) -> Self {
        let mut script = project
            .program("script")
            .args(["--quiet", "--flush", "--command", line, "/dev/null"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let shown = Arc::new(Mutex::new(String::new()));
        let mut stdout = script.stdout.take().unwrap();
        let seen = Arc::clone(&shown);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(length @ 1..) = stdout.read(&mut bytes) {
                let text = String::from_utf8_lossy(&bytes[..length]);
                seen.lock().unwrap().push_str(&text);
            }
        });
        Self { script, shown }
    }

    pub(crate) fn press(&self, keys: &str) {
        let mut stdin = self.script.stdin.as_ref().unwrap();
        stdin.write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn shows(&self, text: &str) -> bool {
        self.shown.lock().unwrap().contains(text)
    }
}

#[test]
fn a_terminal_is_attached_to_typed_into_and_left() {
    needs!("script");
    let project = Project::new();
    let mut drive = project.drive();
    let arguments = json!({
        "action": "spawn", "id": "deep", "command": "trap 'stty size' WINCH; echo ready; while :; do read line && echo \"got $line\"; done",
        "terminal": true, "rows": 8, "cols": 30,
    });
    drive.run([call("shell", arguments)]);
    let windlass = windlass();
    let line = format!("stty rows 12 cols 60; {windlass} attach deep");
    let mut desk = Desk::open(&project, &line);
    let ps = || project.run(&["ps"], "").stdout();
    eventually("it is taken over", || ps().contains("taken over"));
    let log = || project.run(&["logs", "deep"], "").stdout();
    eventually("it has the person's terminal but for a row", || {
        log().contains("11 60")
    });
    eventually("the row says how to leave", || desk.shows("Ctrl-] leaves"));
    let refused = drive.error(
        "shell",
        json!({"action": "apply", "id": "deep", "input": "x"}),
    );
    assert_snapshot!(refused, @"a person has taken over handle `deep` and is typing; fetch shows its output, and a notice is sent when they hand it back");

    desk.press("from afar\r");
    eventually("what is typed there arrives here", || {
        log().contains("got from afar")
    });
    eventually("and is drawn there", || desk.shows("got from afar"));

    desk.press("\u{1d}");
    desk.script.wait().unwrap();
    eventually("it says so", || {
        desk.shows("Detached from `deep`, which keeps running.")
    });
    eventually("it has its own size again", || log().contains("8 30"));
    let reply = drive.run([call("shell", json!({"command": "true"}))]);
    let notice = reply["notices"][0]["text"].as_str().unwrap_or_default();
    assert!(notice.contains("a person typed into `deep`"), "{reply}");
    let applied = drive.content(
        "shell",
        json!({"action": "apply", "id": "deep", "input": "mine again"}),
    );
    assert_eq!(applied["state"], json!("running"));
}

#[test]
fn attach_without_a_terminal_says_what_does() {
    let project = Project::new();
    let refused = project.run(&["attach", "x"], "");
    assert_eq!(refused.code(), Some(2));
    assert_snapshot!(refused.stderr(), @"windlass: `attach` needs a terminal; `windlass logs -f` and `windlass send` work without one");
}
