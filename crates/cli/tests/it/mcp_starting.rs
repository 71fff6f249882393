//! `windlass mcp` before a client has said anything.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use crate::processes::signal;
use crate::support::{Project, eventually, within};

/// When it must have ended, on a machine that has other work too.
const SOON: Duration = Duration::from_secs(10);

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
        within(SOON, "it ends", || mcp.poke().is_some());
        assert_eq!(mcp.wait().code(), Some(code), "{sent:?}");
    }
}

#[test]
fn the_first_signal_ends_a_server_that_nobody_has_spoken_to() {
    ends_by_the_first_signal(&Project::new());
}

#[test]
fn the_first_signal_ends_a_server_that_waits_for_another_one() {
    let mute = "[providers.mcp.mute]\ncommand = \"sleep 1000\"\ntools = \"all\"\n";
    ends_by_the_first_signal(&Project::with_config(mute));
}

#[test]
fn on_a_terminal_it_says_how_it_is_used() {
    let project = Project::new();
    let mut drive = project.drive();
    let command = format!("'{}' mcp", env!("CARGO_BIN_EXE_windlass"));
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
    let project = Project::with_config("[conversation.tools.x]\ncomand = \"ls\"\n");
    let mut mcp = project.mcp(&[]);
    let listed = mcp.request("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 1, "{listed}");
    let name = tools[0]["name"].as_str().unwrap();
    let told = mcp.call(name, json!({}));
    assert_eq!(told["isError"], true);
    let text = told["content"][0]["text"].as_str().unwrap().to_owned();
    for wanted in ["config.toml:2:1", "unknown key `comand`", "`command`"] {
        assert!(text.contains(wanted), "{wanted} in {text}");
    }
    // Another mistake, while it runs.
    project.write(".windlass/config.toml", "[conversaton]\n");
    let told = mcp.call(name, json!({})).to_string();
    assert!(told.contains("conversaton"), "{told}");
    project.write(".windlass/config.toml", "");
    let told = mcp.call(name, json!({})).to_string();
    assert!(told.contains("reconnect"), "{told}");
}
