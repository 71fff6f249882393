//! Handles that outlive the runtime that started them, as the next runtime finds them.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use insta::assert_snapshot;
use serde_json::{Value, json};
use windlass_outside::needs;

use crate::processes::Victim;
use crate::support::{Drive, Project, call, eventually, spawn};

/// The user lets `shell` keep handles for this long.
pub(crate) fn keeping_project(keepable_secs: u64, max: usize) -> Project {
    Project::with_own_config(&format!(
        "[kept]\nmax = {max}\n\
         [conversation.tools.shell.spawn.lifecycle]\nkeepable_secs = {keepable_secs}\n"
    ))
}

/// The spawn of a shell command that is kept.
pub(crate) fn spawn_kept(id: &str, command: &str) -> Value {
    let mut spawn = spawn(id, command);
    spawn["arguments"]["keep"] = json!(true);
    spawn
}

/// The notices about kept handles in the next reply.
#[track_caller]
pub(crate) fn told(drive: &mut Drive) -> Vec<String> {
    let reply = drive.run([call("shell", json!({"command": "true"}))]);
    let notices = reply["notices"].as_array().cloned().unwrap_or_default();
    let texts = notices.iter().filter(|notice| notice["kind"] == "kept");
    texts
        .map(|notice| notice["text"].as_str().unwrap().to_owned())
        .collect()
}

#[track_caller]
pub(crate) fn act(drive: &mut Drive, action: &str, id: &str) -> Value {
    drive.content("shell", json!({"action": action, "id": id}))
}

const GREETS: &str = "echo begun; read word; echo \"got $word\"; read word; echo \"bye $word\"";

#[test]
fn the_next_session_of_the_name_continues_with_a_kept_handle() {
    let project = keeping_project(600, 8);
    let mut drive = project.drive_named("work");
    let reply = drive.run([spawn_kept("dev", GREETS)]);
    assert_eq!(
        reply["replies"][0]["content"]["content"], "begun\n",
        "{reply}"
    );
    assert_eq!(project.kept_files().len(), 1);
    drive.kill();
    let mut drive = project.drive_adopting("work");
    let told = told(&mut drive);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("`dev`") && told[0].contains("still running"),
        "{told:?}"
    );
    assert!(told[0].ends_with("Its last lines:\nbegun"), "{told:?}");
    // What was read before is not told again.
    assert_eq!(act(&mut drive, "fetch", "dev")["content"], Value::Null);
    let apply = json!({"action": "apply", "id": "dev", "input": "hello"});
    assert_eq!(drive.content("shell", apply)["content"], "got hello\n");
    drive.kill();
    let mut drive = project.drive_adopting("work");
    let apply = json!({"action": "apply", "id": "dev", "input": "now"});
    let last = drive.content("shell", apply);
    assert_eq!(
        (&last["state"], &last["result"]),
        (&json!("stopped"), &json!("bye now\n"))
    );
    // Its end has been told, and nothing of it is left.
    eventually("its files are gone", || project.kept_files().is_empty());
}

#[test]
fn a_session_of_another_name_leaves_kept_handles_alone() {
    let project = keeping_project(600, 8);
    let mut drive = project.drive_named("work");
    drive.run([spawn_kept("dev", GREETS)]);
    drive.kill();
    let mut other = project.drive_named("play");
    assert_eq!(told(&mut other), [""; 0]);
    let mut unnamed = project.drive();
    assert_eq!(told(&mut unnamed), [""; 0]);
    let mut drive = project.drive_adopting("work");
    assert_eq!(told(&mut drive).len(), 1);
    act(&mut drive, "abort", "dev");
}

#[test]
fn the_end_of_input_starts_the_lease() {
    let project = keeping_project(600, 8);
    let mut drive = project.drive_named("work");
    let (kept, other) = (Victim::new(), Victim::new());
    drive.run([
        spawn_kept("kept", &kept.only_sleep()),
        spawn("other", &other.only_sleep()),
    ]);
    drive.finish();
    assert_eq!((kept.alive().len(), other.alive().len()), (1, 0));
    let mut drive = project.drive_adopting("work");
    assert_eq!(told(&mut drive).len(), 1);
    let ended = act(&mut drive, "abort", "kept");
    assert_eq!(ended["ended"], 1, "{ended}");
    assert!(kept.alive().is_empty());
    drive.kill();
    let mut drive = project.drive_adopting("work");
    assert_eq!(told(&mut drive), [""; 0]);
}

#[test]
fn a_program_that_stopped_while_it_was_held_tells_how() {
    let project = keeping_project(600, 8);
    let mut drive = project.drive_named("work");
    let wait = "while [ ! -e go ]; do sleep 0.05; done";
    drive.run([spawn_kept(
        "build",
        &format!("echo begun; {wait}; echo failed >&2; exit 3"),
    )]);
    drive.kill();
    project.write("go", "");
    let holder = project.holder();
    eventually("it has exited", || {
        crate::processes::descendants(holder)
            .iter()
            .all(|(_, state)| *state == 'Z')
    });
    let mut drive = project.drive_adopting("work");
    let told = told(&mut drive);
    assert!(told[0].contains("stopped with exit code 3"), "{told:?}");
    assert!(told[0].ends_with("begun\nfailed"), "{told:?}");
    let fetched = act(&mut drive, "fetch", "build");
    assert_eq!(
        (&fetched["exit_code"], &fetched["content"]),
        (&json!(3), &json!("failed\n"))
    );
}

#[test]
fn a_held_server_answers_in_the_gap() {
    needs!("python3");
    let project = keeping_project(600, 8);
    let mut drive = project.drive_named("work");
    drive.run([spawn_kept(
        "web",
        "exec python3 -u -m http.server 0 --bind 127.0.0.1",
    )]);
    let until = json!({"until": [{"id": "web", "pattern": "port (\\d+)"}], "timeout_secs": 50});
    let matched = drive.content("await", until);
    let line = matched["matched"][0]["line"]
        .as_str()
        .expect("it says its port")
        .to_owned();
    let port: u16 = line
        .split("port ")
        .nth(1)
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let get = |path: &str| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream
            .write_all(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes())
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    drive.kill();
    assert!(get("/gap").contains("404"));
    let mut drive = project.drive_adopting("work");
    let until = json!({"until": [{"id": "web", "pattern": "GET /gap"}], "timeout_secs": 50});
    let matched = drive.content("await", until);
    assert!(
        matched["matched"][0]["line"].as_str().is_some(),
        "{matched}"
    );
    assert!(get("/after").contains("404"));
    act(&mut drive, "abort", "web");
}

#[test]
fn one_more_than_allowed_runs_and_says_that_it_is_not_kept() {
    let project = keeping_project(600, 1);
    let mut drive = project.drive_adopting("work");
    drive.run([spawn_kept("first", "sleep 1000")]);
    let second = drive.run([spawn_kept("second", "sleep 1000")]);
    let second = &second["replies"][0]["content"];
    assert_eq!(second["state"], "running");
    assert_snapshot!(
        second["note"],
        @r#""not kept: 1 handles are kept already, the maximum (`max` in the user's [kept]); it ends when this session does""#
    );
    drive.kill();
    let mut drive = project.drive_adopting("work");
    let told = told(&mut drive);
    assert!(told.len() == 1 && told[0].contains("`first`"), "{told:?}");
    act(&mut drive, "abort", "first");
}

#[test]
fn a_request_shows_the_handle_and_how_long_it_is_kept() {
    let project = keeping_project(600, 8);
    let mut drive = project.lines(&["drive", "--session", "work", "--ask"]);
    let mut fields = |spawn: Value| {
        drive.send(&json!([spawn]));
        let request = drive.next()["request"].clone();
        drive.send(&json!({"permission": request["id"], "reply": "reject"}));
        drive.next();
        request["metadata"]["rendering"]["fields"].clone()
    };
    let named = json!({"name": "as handle", "lines": ["dev"]});
    let kept = json!({"name": "kept", "lines": ["it outlives this runtime by up to 10 min"]});
    assert_eq!(fields(spawn_kept("dev", "true")), json!([named, kept]));
    assert_eq!(fields(spawn("dev", "true")), json!([named]));
}

#[test]
fn keep_is_taken_only_where_it_means_something() {
    let project = Project::new();
    let mut drive = project.drive();
    let refused = drive.run([spawn_kept("dev", "true")]);
    let refused = refused["replies"][0]["content"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_snapshot!(refused, @"unknown argument `keep`; this tool takes command, cwd, env, timeout_secs, terminal, rows, cols");
    let project = keeping_project(600, 8);
    let mut drive = project.drive();
    let one_shot = drive.error("shell", json!({"command": "true", "keep": true}));
    assert!(one_shot.contains("unknown argument `keep`"), "{one_shot}");
    let shown = project.run(&["tools", "shell", "--json"], "").stdout();
    assert!(shown.contains("\"keep\""), "{shown}");
}

#[test]
fn every_spawn_is_kept_where_the_user_says_so() {
    let project =
        Project::with_own_config("[conversation.tools.shell.spawn.lifecycle]\nkeep_secs = 600\n");
    let mut drive = project.drive_named("work");
    let mut refused = spawn("not", "sleep 1000");
    refused["arguments"]["keep"] = json!(false);
    drive.run([spawn("kept", "sleep 1000"), refused]);
    drive.kill();
    let mut drive = project.drive_adopting("work");
    let told = told(&mut drive);
    assert!(told.len() == 1 && told[0].contains("`kept`"), "{told:?}");
    act(&mut drive, "abort", "kept");
}

#[test]
fn a_project_keeps_no_longer_than_the_user_says() {
    let project = keeping_project(600, 8);
    project.write(
        ".windlass/config.toml",
        "[kept]\nmax = 100\n[conversation.tools.shell.spawn.lifecycle]\nkeepable_secs = 7200\n",
    );
    let mut drive = project.drive_named("work");
    drive.run([spawn_kept("dev", "sleep 1000")]);
    let kept = fs::read_to_string(&project.kept_files()[0]).unwrap();
    let kept: Value = serde_json::from_str(&kept).unwrap();
    assert_eq!(kept["lease_secs"], 600);
    let said = drive.stderr();
    for key in [
        "kept.max",
        "conversation.tools.shell.spawn.lifecycle.keepable_secs",
    ] {
        assert!(
            said.contains(&format!("`{key}` of the project has no effect")),
            "{said}"
        );
    }
    act(&mut drive, "abort", "dev");
}

#[test]
fn a_person_who_had_taken_over_still_has_it() {
    let project = keeping_project(600, 8);
    let mut drive = project.drive_named("work");
    drive.run([spawn_kept("dev", GREETS)]);
    let file = &project.kept_files()[0];
    // As `attach` does it; the lock lasts as long as a person types.
    let text = fs::read_to_string(file).unwrap();
    drive.kill();
    let mut kept: Value = serde_json::from_str(&text).unwrap();
    kept["lock"] = json!({"id": "lck_1", "lease_ms": 600_000, "written": 0});
    fs::write(file, kept.to_string()).unwrap();
    let mut drive = project.drive_adopting("work");
    let refused = drive.error(
        "shell",
        json!({"action": "apply", "id": "dev", "input": "x"}),
    );
    assert_snapshot!(refused, @"a person has taken over handle `dev` and is typing; fetch shows its output, and a notice is sent when they hand it back");
    act(&mut drive, "abort", "dev");
}

#[test]
fn a_tool_that_is_gone_leaves_its_handle_where_it_is() {
    let project = keeping_project(600, 8);
    let mut drive = project.drive_adopting("work");
    let victim = Victim::new();
    drive.run([spawn_kept("dev", &victim.only_sleep())]);
    drive.kill();
    project.write_own("[conversation.tools.shell]\nenable = false\n");
    let mut drive = project.drive_named("work");
    let reply = drive.run([call("git", json!({"command": "status"}))]);
    let text = reply["notices"][0]["text"].as_str().unwrap_or_default();
    assert!(text.contains("tool `shell` no longer exists"), "{reply}");
    assert_eq!(victim.alive().len(), 1);
}

#[test]
fn a_restarted_mcp_server_takes_over_and_tells() {
    let project = keeping_project(600, 8);
    let mut mcp = project.mcp(&[]);
    let spawn = json!({"action": "spawn", "id": "dev", "command": GREETS, "keep": true});
    mcp.call("shell", spawn);
    drop(mcp);
    let mut mcp = project.mcp(&[]);
    let first = mcp
        .call("shell", json!({"command": "echo first"}))
        .to_string();
    assert!(
        first.contains("`dev`") && first.contains("still running"),
        "{first}"
    );
    assert!(first.contains("begun"), "{first}");
    let second = mcp
        .call("shell", json!({"command": "echo second"}))
        .to_string();
    assert!(!second.contains("still running"), "{second}");
    let apply = json!({"action": "apply", "id": "dev", "input": "hello"});
    let got = mcp.call("shell", apply).to_string();
    assert!(got.contains("got hello"), "{got}");
    // Another window of the same client has handles of its own.
    let mut other = project.mcp(&[]);
    let first = other
        .call("shell", json!({"command": "echo other"}))
        .to_string();
    assert!(!first.contains("`dev`"), "{first}");
    let aborted = mcp
        .call("shell", json!({"action": "abort", "id": "dev"}))
        .to_string();
    assert!(aborted.contains("stopped"), "{aborted}");
}

#[test]
fn a_server_that_is_faster_than_its_predecessor_ends_takes_over() {
    let project = keeping_project(600, 8);
    let mut before = project.mcp(&[]);
    let spawn = json!({"action": "spawn", "id": "dev", "command": GREETS, "keep": true});
    before.call("shell", spawn);
    let mut mcp = project.mcp(&[]);
    drop(before);
    eventually("it is told", || {
        let reply = mcp.call("shell", json!({"command": "true"})).to_string();
        reply.contains("`dev`") && reply.contains("still running")
    });
    mcp.call("shell", json!({"action": "abort", "id": "dev"}));
}

#[test]
fn a_fresh_mcp_server_leaves_kept_handles() {
    let project = keeping_project(600, 8);
    let mut mcp = project.mcp(&[]);
    let spawn = json!({"action": "spawn", "id": "dev", "command": GREETS, "keep": true});
    mcp.call("shell", spawn.clone());
    drop(mcp);
    let mut fresh = project.mcp(&["--fresh"]);
    let first = fresh.call("shell", spawn).to_string();
    assert!(
        first.contains("begun") && !first.contains("still running"),
        "{first}"
    );
    assert_eq!(project.kept_files().len(), 2);
    // Ended, so that what is left is the first one's.
    fresh.call("shell", json!({"action": "abort", "id": "dev"}));
    let mut mcp = project.mcp(&[]);
    let first = mcp.call("shell", json!({"command": "true"})).to_string();
    assert!(first.contains("still running"), "{first}");
    mcp.call("shell", json!({"action": "abort", "id": "dev"}));
}
