//! Tools of other MCP servers through the binary.

use insta::assert_snapshot;
use serde_json::{Value, json};
use windlass_outside::needs;

use crate::http_support::Serve;
use crate::processes::{Victim, kill};
use crate::support::{Project, eventually};

pub(crate) const FIXTURE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../crates/mcp-client/tests/fixture/server.py"
);

/// A project whose server `fix` is the fixture, with this after it.
fn project(server: &str, tools: &str) -> Project {
    Project::with_config(&format!(
        "[providers.mcp.fix]\ncommand = \"python3 {FIXTURE}\"\n{server}\n{tools}"
    ))
}

/// What `windlass tools` tells, by name.
fn tools(project: &Project) -> (Vec<Value>, String) {
    let run = project.run(&["tools", "--json"], "");
    assert_eq!(run.code(), Some(0), "{}", run.stderr());
    let tools: Vec<Value> = serde_json::from_str(&run.stdout()).unwrap();
    (tools, run.stderr())
}

fn names(tools: &[Value]) -> Vec<&str> {
    let names = tools.iter().map(|tool| tool["name"].as_str().unwrap());
    names
        .filter(|name| !["shell", "git", "await", "describe_tools"].contains(name))
        .collect()
}

#[test]
fn a_table_names_a_servers_tool_and_overrides_what_it_says() {
    needs!("python3");
    let project = project(
        "",
        r#"
[conversation.tools.say]
source = "mcp.fix.echo"
summary = "Ours."
parameters.text.summary = "What to say."
parameters.txet.summary = "Nothing."
[conversation.tools.add]
source = "mcp"
"#,
    );
    let run = project.run(&["tools", "say", "--dialect", "mcp"], "");
    let schema: Value = serde_json::from_str(&run.stdout()).unwrap();
    assert_eq!(
        schema,
        json!({
            "name": "say",
            "description": "Ours.",
            "parameters": {
                "type": "object",
                "properties": {"text": {"type": "string", "description": "What to say."}},
                "required": ["text"],
            },
        })
    );
    assert_snapshot!(run.stderr(), @"windlass: tool `say`: it overrides `txet`, which does not exist in MCP server `fix` (.windlass/config.toml:5:21)");
    let mut drive = project.drive();
    assert_eq!(drive.content("say", json!({"text": "x"})), json!("x"));
    let points = json!({"a": {"x": 1, "y": 2}, "b": {"x": 3, "y": 4}});
    assert_eq!(drive.content("add", points), json!("4,6"));
    let bad = drive.error("add", json!({"a": {"x": 1}, "b": {"x": 3, "y": 4}}));
    assert_snapshot!(bad, @r#"`a`: "y" is a required property"#);
    let described = drive.content("describe_tools", json!({"tools": ["say"]}));
    assert_snapshot!(described.to_string(), @r##""# say\n\nOurs.\n\nSays it again.\n""##);
}

#[test]
fn a_server_can_be_offered_whole_or_in_part() {
    needs!("python3");
    let some = project("tools = [\"echo\", \"fail\", \"ecoh\"]", "");
    let (offered, told) = tools(&some);
    assert_eq!(names(&offered), ["fix_echo", "fix_fail"]);
    assert_snapshot!(told, @"windlass: tool `fix_ecoh` is not offered: MCP server `fix` has no tool `ecoh`; did you mean `echo`? (.windlass/config.toml:1:16)");
    let all = project(
        "tools = \"all\"",
        "[conversation.tools.say]\nsource = \"mcp.fix.echo\"",
    );
    let (offered, told) = tools(&all);
    assert_eq!(told, "");
    let offered = names(&offered);
    assert!(offered.contains(&"say") && offered.contains(&"fix_fail"));
    assert!(!offered.contains(&"fix_echo"), "it has a table");
}

#[test]
fn a_server_that_does_not_come_up_is_reported_and_the_others_work() {
    needs!("python3");
    let project = project(
        "",
        &format!(
            r#"
[providers.mcp.dead]
command = "python3 {FIXTURE} --exit 4"
[providers.mcp.slow]
command = "python3 {FIXTURE} --hang"
startup_timeout_secs = 1
[providers.mcp.quiet]
command = "no-such-server"
optional = true
[providers.mcp.unwanted]
command = "no-such-server"
[conversation.tools.echo]
source = "mcp.fix"
[conversation.tools.gone]
source = "mcp.dead.echo"
[conversation.tools.late]
source = "mcp.slow.echo"
[conversation.tools.left_out]
source = "mcp.quiet.echo"
[conversation.tools.mistaken]
source = "mcp.fix.nothing_like_it"
"#
        ),
    );
    let (offered, told) = tools(&project);
    assert_eq!(names(&offered), ["echo"]);
    let lines: Vec<_> = told.lines().collect();
    assert_eq!(lines.len(), 3, "{told}");
    assert_snapshot!(
        lines[0],
        @"windlass: tool `gone` is not offered: MCP server `dead` has ended: exited with code 4: no key (.windlass/config.toml:17:21)"
    );
    assert!(lines[1].contains("`late`") && lines[1].contains("within 1 s"));
    assert!(lines[2].contains("`mistaken`") && lines[2].contains("has no tool"));
    let mut drive = project.drive();
    assert_eq!(drive.content("echo", json!({"text": "x"})), json!("x"));
    let refused = drive.error("gone", json!({}));
    assert_snapshot!(refused, @"`gone` cannot be used: MCP server `dead` has ended: exited with code 4: no key");
}

#[test]
fn a_call_lasts_under_an_id() {
    needs!("python3");
    let project = project(
        "",
        "[conversation.tools.progress]\nsource = \"mcp.fix\"\nspawn.stateful = true",
    );
    let go = project.root().join("go");
    let mut drive = project.drive();
    let spawn = json!({"action": "spawn", "id": "p", "until": go});
    assert_eq!(drive.content("progress", spawn)["state"], "running");
    drive.content(
        "await",
        json!({"until": [{"id": "p", "pattern": "step 3"}]}),
    );
    std::fs::write(&go, "").unwrap();
    let stopped = drive.content("await", json!({"all": ["p"]}));
    assert_eq!(stopped["completed"][0]["result"], "done", "{stopped}");
}

/// What is attached to the calls of the newest session, by tool.
fn attached(project: &Project) -> Vec<(String, Vec<Value>)> {
    let run = project.run(&["sessions", "show", "last", "--json"], "");
    let shown: Value = serde_json::from_str(&run.stdout()).unwrap();
    let messages = shown["messages"].as_array().unwrap().iter();
    let parts = messages.flat_map(|message| message["parts"].as_array().unwrap());
    parts
        .map(|part| {
            let files = part["state"]["attachments"].as_array();
            let tool = part["tool"].as_str().unwrap();
            (tool.to_owned(), files.cloned().unwrap_or_default())
        })
        .collect()
}

#[test]
fn a_picture_is_an_attachment_of_its_call() {
    needs!("python3");
    let project = project(
        "tools = [\"echo\"]",
        "[conversation.tools.picture]\nsource = \"mcp.fix\"\nspawn.stateful = true",
    );
    let serve = Serve::start(&project);
    let session = serve.session(json!({"trusted": true}));
    let mut events = serve.events(&format!("{session}/events"), "");
    serve.call(&session, "picture", json!({}));
    serve.call(&session, "fix_echo", json!({"text": "no file"}));
    serve.call(&session, "picture", json!({"action": "spawn", "id": "p"}));
    serve.call(&session, "await", json!({"all": ["p"]}));
    let live = events.until(|event| event.data["part"]["state"]["attachments"].is_array());
    let live = live.data["part"]["state"]["attachments"][0].clone();
    assert_eq!(live["mime"], "image/png");

    let attached = attached(&project);
    let kinds: Vec<(&str, Vec<&str>)> = attached
        .iter()
        .map(|(tool, files)| {
            let mimes = files.iter().map(|file| file["mime"].as_str().unwrap());
            (tool.as_str(), mimes.collect())
        })
        .collect();
    let picture = || vec!["image/png"];
    assert_eq!(kinds[0], ("picture", picture()));
    assert_eq!(kinds[1], ("fix_echo", vec![]));
    // The await reports the end again, even if the spawn has reported it.
    assert!(kinds[2..].contains(&("await", picture())), "{kinds:?}");
    let file = &attached[0].1[0];
    assert_eq!(file, &live);
    let path = file["url"]
        .as_str()
        .unwrap()
        .strip_prefix("file://")
        .unwrap();
    assert_eq!(std::fs::read(path).unwrap(), b"\x89PNG fake");
    let name = std::path::Path::new(path).file_name().unwrap();
    assert_eq!(file["filename"], json!(name.to_str()));
}

#[test]
fn the_death_of_a_server_is_a_notice_and_the_next_call_starts_it_again() {
    needs!("python3");
    let project = project("tools = [\"crash\", \"echo\"]", "");
    let mut drive = project.drive();
    let error = drive.error("fix_crash", json!({}));
    assert_snapshot!(error, @"
    MCP server `fix` has ended: exited with code 3: out of cheese
    transient: true
    ");
    let mut notices = String::new();
    let call = json!([{"tool": "fix_echo", "arguments": {"text": "x"}}]);
    eventually("the new start is told", || {
        drive.send(&call);
        let reply = drive.next();
        assert_eq!(reply["replies"][0]["content"], "x", "{reply}");
        notices += &reply["notices"].to_string();
        notices.contains("was restarted")
    });
}

#[test]
fn nothing_of_a_server_outlives_the_binary() {
    needs!("python3");
    let project = project("tools = [\"child\"]", "");
    for killed in [false, true] {
        let victim = Victim::new();
        let sleep = victim.sleep();
        let seconds = sleep.trim_start_matches("sleep ");
        let mut drive = project.drive();
        drive.content("fix_child", json!({"seconds": seconds}));
        // A process that is becoming its program has no arguments for a moment.
        eventually("the child runs", || victim.alive().len() == 1);
        let servers = project.root().display().to_string();
        if killed {
            kill(drive.pid());
        } else {
            drive.finish();
        }
        eventually("the server and its child have ended", || {
            victim.alive().is_empty() && in_folder(&servers) == 0
        });
    }
}

#[test]
fn who_needs_no_server_starts_none() {
    let project = Project::with_config(
        r#"
[providers.mcp.noted]
command = { program = "echo started >> noted", shell = true }
tools = "all"
[conversation.tools.other]
source = "mcp.noted.other"
"#,
    );
    let noted = project.root().join("noted");
    for args in [
        &["ps"][..],
        &["logs", "a"],
        &["kill", "a"],
        &["sessions"],
        &["permissions"],
        &["permissions", "pending"],
        &["permissions", "explain", "shell", "{\"command\": \"ls\"}"],
        &["models"],
        &["mcp", "install", "codex", "--print"],
    ] {
        project.run(args, "");
        assert!(!noted.exists(), "{args:?} started a server");
    }
    // It would have been noted.
    project.run(&["tools"], "");
    assert!(noted.exists());
}

/// How many Python programs work in this folder.
fn in_folder(folder: &str) -> usize {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    all.filter(|it| {
        let cwd = std::fs::read_link(it.path().join("cwd")).unwrap_or_default();
        let args = std::fs::read(it.path().join("cmdline")).unwrap_or_default();
        cwd.as_os_str() == folder && String::from_utf8_lossy(&args).contains("server.py")
    })
    .count()
}
