//! `windlass mcp` before a client has said anything.

use std::time::{Duration, Instant};

use insta::assert_snapshot;
use rustix::process::Signal;
use serde_json::{Value, json};
use windlass_outside::needs;

use crate::filtered::filtered;
use crate::processes::signal;
use crate::programs::windlass;
use crate::support::{Project, eventually};

/// The process handles the signal itself.
fn catches(pid: u32, signal: Signal) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    caught.is_some_and(|mask| mask & (1 << (signal.as_raw() - 1)) != 0)
}

fn ends_by_the_first_signal(project: &Project) {
    for (sent, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let mut mcp = project.lines(&["mcp"]);
        eventually("it handles signals", || catches(mcp.pid(), sent));
        signal(mcp.pid(), sent);
        eventually("it ends", || mcp.poke().is_some());
        assert_eq!(mcp.wait().code(), Some(code), "{sent:?}");
    }
}

#[test]
fn the_first_signal_ends_a_server_that_nobody_has_spoken_to() {
    ends_by_the_first_signal(&Project::new());
}

#[test]
fn the_first_signal_ends_a_server_that_waits_for_another_one() {
    ends_by_the_first_signal(&Project::with_config(MUTE));
}

/// A server that never answers.
const MUTE: &str = "[providers.mcp.mute]\ncommand = \"sleep 1000\"\ntools = \"all\"\n";

#[test]
fn a_mute_server_delays_nobody_and_takes_no_tool_away() {
    let project = Project::with_config(MUTE);
    let began = Instant::now();
    let mut mcp = project.mcp(&[]);
    let ran = mcp.call("shell", json!({"command": "echo here"}));
    assert_eq!(ran["structuredContent"]["output"], "here\n");
    let listed = mcp.request("tools/list", json!({}));
    assert!(listed.to_string().contains("\"shell\""), "{listed}");
    // Less than the 60 s that the other server has for its start.
    assert!(began.elapsed() < Duration::from_secs(40));
}

/// A server that takes its time, and then offers `greet`.
const SLOW: &str = r#"
import json, os, sys, time
while not os.path.exists("go"):
    time.sleep(0.05)
for line in sys.stdin:
    message = json.loads(line)
    method, result = message.get("method"), None
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "slow", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "greet", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": "hello"}]}
    if "id" in message:
        answer = {"result": result} if result else {"error": {"code": -32601, "message": "no"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
"#;

#[test]
fn the_tools_of_a_slow_server_come_later_and_that_is_reported() {
    needs!("python3");
    let project = Project::with_config(
        "[providers.mcp.slow]\ncommand = \"python3 slow.py\"\ntools = \"all\"\n",
    );
    project.write("slow.py", SLOW);
    let mut mcp = project.mcp(&[]);
    mcp.notify("notifications/initialized");
    let listed = mcp.request("tools/list", json!({}));
    assert!(!listed.to_string().contains("greet"), "{listed}");
    project.write("go", "");
    mcp.told("notifications/tools/list_changed");
    let listed = mcp.request("tools/list", json!({})).to_string();
    assert!(listed.contains("slow_greet"), "{listed}");
    let greeted = mcp.call("slow_greet", json!({})).to_string();
    assert!(greeted.contains("hello"), "{greeted}");
}

#[test]
fn on_a_terminal_it_says_how_it_is_used() {
    let project = Project::new();
    let mut drive = project.drive();
    let command = format!("'{}' mcp", windlass());
    let spawn = json!({"action": "spawn", "id": "m", "command": command, "terminal": true});
    drive.content("shell", spawn);
    let until = json!({"until": [{"id": "m", "pattern": "Ctrl-C ends this"}], "timeout_secs": 30});
    drive.content("await", until);
    let all = json!({"action": "fetch", "id": "m", "view": "all"});
    let said = drive.content("shell", all).to_string();
    for wanted in ["MCP server", "windlass mcp install", "--http"] {
        assert!(said.contains(wanted), "{wanted} in {said}");
    }
}

#[test]
fn a_config_that_does_not_load_leaves_one_tool_that_says_why() {
    let project = Project::with_own_config("[conversation.tools.x]\ncomand = \"ls\"\n");
    let mut mcp = project.mcp(&[]);
    let listed = mcp.request("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 1, "{listed}");
    // Agents that ask before anything else is called need not ask here.
    assert_eq!(tools[0]["annotations"]["readOnlyHint"], true);
    let name = tools[0]["name"].as_str().unwrap();
    let told = mcp.call(name, json!({}));
    assert_eq!(told["isError"], true);
    let text = told["content"][0]["text"].as_str().unwrap().to_owned();
    for wanted in ["config.toml:2:1", "unknown key `comand`", "`command`"] {
        assert!(text.contains(wanted), "{wanted} in {text}");
    }
    // Another mistake, while it runs.
    project.write_own("[conversaton]\n");
    let told = mcp.call(name, json!({})).to_string();
    assert_snapshot!(filtered(&told), @r#"{"content":[{"type":"text","text":"the configuration is invalid\n[folder]/home/config/windlass/config.toml:1:2: unknown key `conversaton` in the top level; did you mean `conversation`?\n1 | [conversaton]\n  |  ^^^^^^^^^^^\nFix this, then reconnect the MCP server `windlass`."}],"isError":true}"#);
    project.write_own("");
    let told = mcp.call(name, json!({})).to_string();
    assert_snapshot!(filtered(&told), @r#"{"content":[{"type":"text","text":"the configuration is valid now; reconnect the MCP server `windlass` to get its tools. The error at start was: the configuration is invalid\n[folder]/home/config/windlass/config.toml:2:1: unknown key `comand` in `conversation.tools.x`; did you mean `command`?\n2 | comand = \"ls\"\n  | ^^^^^^"}],"isError":true}"#);
}

#[test]
fn a_named_session_is_shown_by_its_name_and_there_is_one_at_a_time() {
    let project = Project::new();
    let mut first = project.mcp(&["--session", "work"]);
    first.call("shell", json!({"command": "true"}));
    let listed = project.list(&["ps"]);
    let named = |line: &&Value| line["session"]["name"] == "work";
    let session = listed
        .iter()
        .find(named)
        .unwrap_or_else(|| panic!("{listed:?}"));
    let pid = session["session"]["pid"].to_string();
    assert!(project.run(&["ps"], "").stdout().contains(" work "));
    let second = project.run(&["mcp", "--session", "work"], "");
    assert_eq!(second.code(), Some(2), "{}", second.stderr());
    let said = second.stderr();
    assert!(
        said.contains("session `work`") && said.contains(&pid),
        "{said}"
    );
    // Another name is free, and so is this one for the successor.
    drop(project.mcp(&["--session", "other"]));
    drop(first);
    let mut successor = project.mcp(&["--session", "work"]);
    successor.call("shell", json!({"command": "true"}));
    let recorded = project.run(&["sessions", "--json"], "").stdout();
    let recorded: Vec<Value> = serde_json::from_str(&recorded).unwrap();
    let works = recorded.iter().filter(|session| session["title"] == "work");
    assert_eq!(works.count(), 2, "{recorded:?}");
    let wrong = project.run(&["mcp", "--session", "a b"], "");
    assert_snapshot!(wrong.stderr(), @"windlass: `a b` cannot be a session name; use 1 to 64 of A-Z a-z 0-9 . _ -");
}
