//! `windlass mcp` as an agent starts it.

use std::process::Stdio;

use serde_json::{Value, json};
use windlass_outside::needs;

use crate::processes::{Victim, kill};
use crate::programs::windlass;
use crate::support::{Project, eventually};

#[test]
fn the_built_in_tools_cost_less_than_a_thousand_tokens() {
    let project = Project::new();
    let mut mcp = project.mcp(&[]);
    let answer = mcp.request("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert_eq!(names, ["shell", "git", "await"]);
    let bytes = paid_for(tools);
    assert!(bytes / 4 < 1000, "{} tokens", bytes / 4);
}

#[test]
fn the_digest_costs_at_most_fifty_of_them() {
    let project = Project::new();
    let listed = |args: &[&str]| {
        let mut mcp = project.mcp(args);
        let answer = mcp.request("tools/list", json!({}));
        answer["result"]["tools"].as_array().unwrap().clone()
    };
    let with = listed(&[]);
    let without = listed(&["--set", "conversation.tools.*.digest=false"]);
    let description = with[0]["description"].as_str().unwrap();
    assert!(
        description.contains("Long output is shown in part"),
        "{description}"
    );
    let without_sentence = without[0]["description"].as_str().unwrap();
    assert!(
        !without_sentence.contains("Long output"),
        "{without_sentence}"
    );
    assert!(without[0]["inputSchema"]["properties"]["lines"].is_null());
    let cost = (paid_for(&with) - paid_for(&without)) / 4;
    assert!((10..=50).contains(&cost), "{cost} tokens");
}

/// The bytes of everything that a model reads of the tools.
fn paid_for(tools: &[Value]) -> usize {
    let paid = tools.iter().map(|tool| {
        let paid = ["name", "description", "inputSchema"].map(|key| tool[key].to_string());
        paid.iter().map(String::len).sum::<usize>()
    });
    paid.sum()
}

#[test]
fn nobody_is_asked_unless_the_config_says_so() {
    let run = json!({"command": "echo ran"});
    let silent = Project::new();
    let mut mcp = silent.mcp(&[]);
    assert_eq!(
        mcp.call("shell", run.clone())["structuredContent"]["output"],
        "ran\n"
    );
    let asking =
        Project::with_config("[conversation.tools.shell]\nsource = \"builtin\"\nrun = \"ask\"\n");
    let asked = asking.mcp(&["--max-block-secs", "0.2"]).call("shell", run);
    let asked = &asked["structuredContent"];
    assert_eq!(asked["state"], json!("pending"), "{asked}");
}

#[test]
fn a_command_that_outlasts_the_limit_continues_as_a_handle() {
    // The flag wins over the config.
    for (config, flag) in [
        ("", &["--max-block-secs", "0.2"][..]),
        ("max_block_secs = 0.2", &[]),
        ("max_block_secs = 3600", &["--max-block-secs", "0.2"]),
    ] {
        continues_as_a_handle(&Project::with_config(&format!("[mcp]\n{config}\n")), flag);
    }
}

fn continues_as_a_handle(project: &Project, flags: &[&str]) {
    let mut mcp = project.mcp(flags);
    let run = json!({"command": "echo first; until [ -e go ]; do sleep 0.01; done; echo last"});
    let handed = mcp.call("shell", run);
    let id = handed["structuredContent"]["id"].as_str().unwrap();
    project.write("go", "");
    let all = json!({"all": [id]});
    let view = loop {
        let awaited = mcp.call("await", all.clone());
        let completed = awaited["structuredContent"]["completed"][0].clone();
        if completed.is_object() {
            break completed;
        }
    };
    let first = handed["structuredContent"]["content"]
        .as_str()
        .unwrap_or_default();
    let said = format!("{first}{}", view["result"].as_str().unwrap());
    assert_eq!(said, "first\nlast\n");
}

/// A client that starts twenty trees that are hard to end, and is then idle.
const CLIENT: &str = r#"
import json, subprocess, sys
server = subprocess.Popen([sys.argv[1], "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
def send(**message):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    server.stdin.flush()
client = {"name": "doomed", "version": "1"}
send(id=0, method="initialize", params={"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
server.stdout.readline()
send(method="notifications/initialized")
for number, script in enumerate(json.load(sys.stdin)):
    arguments = {"action": "spawn", "id": f"v{number}", "command": script}
    send(id=number + 1, method="tools/call", params={"name": "shell", "arguments": arguments})
send(id=100, method="tools/call", params={"name": "shell", "arguments": {"command": "sleep 1000"}})
for line in server.stdout:
    pass
"#;

#[test]
fn nothing_outlives_a_killed_client() {
    needs!("python3", "setsid", "nohup");
    let project = Project::new();
    let victims: Vec<Victim> = (0..20).map(|_| Victim::new()).collect();
    let scripts: Vec<String> = victims.iter().map(Victim::script).collect();
    project.write("scripts.json", &json!(scripts).to_string());
    let scripts = std::fs::File::open(project.root().join("scripts.json")).unwrap();
    let mut client = project
        .program("python3")
        .args(["-c", CLIENT, windlass()])
        .stdin(scripts)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    for victim in &victims {
        victim.wait_until_up();
    }
    kill(client.id());
    client.wait().unwrap();
    eventually("nothing is left", || {
        victims.iter().all(|victim| victim.alive().is_empty())
    });
}

#[test]
fn the_token_opens_and_nothing_else_does() {
    let project = Project::new();
    let server = project.mcp_http();
    let body: Value = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    });
    for (token, status) in [("", 401), ("wrong", 401), (server.token(), 200)] {
        assert_eq!(server.post(token, &body), status, "with `{token}`");
    }
    eventually("it says where it is", || server.stderr().contains("/mcp"));
}
