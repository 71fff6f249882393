//! opencode's own SDK, both generations, at our server: what it is told, what
//! it answers, and that all of it is as the schema files say.

use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use windlass_outside::needs;

use crate::http_support::Serve;
use crate::mcp_clients::packages;
use crate::support::Project;

/// Checks JSON values against the schema files with a validator that is not
/// ours.
const VALIDATE: &str = include_str!("../clients/validate.py");

/// Everything that was told in a sitting.
struct Sitting {
    events: Vec<Value>,
    messages: Vec<Value>,
}

impl Sitting {
    /// The SDK sits through it all, and is content.
    #[track_caller]
    fn of(generation: &str, endpoint: &str) -> Self {
        let project = Project::new();
        let serve = Serve::start(&project);
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/opencode.mjs");
        let url = format!("http://{}", serve.address);
        let output = project
            .program("mcp-node")
            .arg(script)
            .arg(packages())
            .args([generation, endpoint, &url, &serve.token])
            .output()
            .unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}\n{errors}");
        assert!(!project.root().join("rejected").exists());
        let lines = said.lines().map(|line| serde_json::from_str(line).unwrap());
        let mut sitting = Self {
            events: Vec::new(),
            messages: Vec::new(),
        };
        for mut line in lines.collect::<Vec<Value>>() {
            match line.get_mut("event") {
                Some(event) => sitting.events.push(event.take()),
                None => sitting
                    .messages
                    .clone_from(line["messages"].as_array().unwrap()),
            }
        }
        sitting
    }

    fn of_type(&self, name: &str) -> Vec<Value> {
        let named = self.events.iter().filter(|event| event["type"] == name);
        named.map(|event| event["properties"].clone()).collect()
    }

    /// All that has a schema file is valid by it.
    #[track_caller]
    fn is_valid(&self) {
        let told = self.of_type("message.part.updated");
        let told = told.iter().map(|update| update["part"].clone());
        let listed = self.messages.iter();
        let listed = listed.flat_map(|message| message["parts"].as_array().unwrap().clone());
        let parts: Vec<Value> = told.chain(listed).collect();
        let states: Vec<Value> = parts.iter().map(|part| part["state"].clone()).collect();
        let asked = self.of_type("permission.asked");
        let contexts: Vec<Value> = asked.iter().map(|asked| asked["tool"].clone()).collect();
        let told = self.of_type("permission.replied");
        let replies = told
            .iter()
            .flat_map(|told| [told["reply"].clone(), told["response"].clone()]);
        let of_status = |status: &str| -> Vec<Value> {
            let same = states.iter().filter(|state| state["status"] == status);
            same.cloned().collect()
        };
        for status in ["pending", "running", "completed", "error"] {
            assert!(!of_status(status).is_empty(), "nothing was {status}");
        }
        let values = json!({
            "toolPart": parts,
            "toolState": states,
            "toolStatePending": of_status("pending"),
            "toolStateRunning": of_status("running"),
            "toolStateCompleted": of_status("completed"),
            "toolStateError": of_status("error"),
            "permissionRequest": asked,
            "permissionToolContext": contexts,
            "permissionReply": replies.collect::<Vec<_>>(),
        });
        let count: usize = values
            .as_object()
            .unwrap()
            .values()
            .map(|values| values.as_array().unwrap().len())
            .sum();
        assert_eq!(validated(&values), count.to_string());
    }
}

/// How many values the other validator has found valid, of all.
fn validated(values: &Value) -> String {
    let schemas = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas");
    let mut python = std::process::Command::new("mcp-python")
        .args(["-c", VALIDATE, schemas])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    serde_json::to_writer(python.stdin.take().unwrap(), values).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn the_first_generation_sits_well() {
    needs!("mcp-node", "mcp-python");
    Sitting::of("v1", "session").is_valid();
}

#[test]
fn the_second_generation_sits_well() {
    needs!("mcp-node", "mcp-python");
    Sitting::of("v2", "request").is_valid();
}

#[test]
fn the_second_generation_may_answer_at_the_session() {
    needs!("mcp-node", "mcp-python");
    Sitting::of("v2", "session").is_valid();
}

#[test]
fn sessions_of_other_runtimes_are_there_too() {
    let project = Project::with_config("[conversation.tools.shell]\nrun = \"ask\"\n");
    let serve = Serve::start(&project);
    let mut drive = project.drive_asking();
    drive.send(&json!([{"tool": "shell", "arguments": {"command": "echo there"}}]));
    let asked = drive.next();
    let request = asked["request"].clone();
    let id = request["id"].as_str().unwrap();
    let session = request["sessionID"].as_str().unwrap();

    let listed = serve.at("GET", "/permission", "").json();
    assert_eq!(listed, json!([request]));
    let reply = format!("/permission/{id}/reply");
    let replied = serve.at("POST", &reply, r#"{"reply":"once"}"#);
    assert_eq!((replied.status, replied.json()), (200, json!(true)));
    assert_eq!(drive.next()["replies"][0]["content"], "there\n");
    let again = serve.at("POST", &reply, r#"{"reply":"once"}"#);
    assert_eq!(again.status, 404);
    assert_eq!(again.json()["_tag"], "PermissionNotFoundError");

    let messages = format!("/session/{session}/message");
    let live = serve.at("GET", &messages, "").json();
    let part = &live[0]["parts"][0];
    assert_eq!(part["state"]["output"], "there\n");
    let shown = serve.at("GET", &format!("/session/{session}"), "").json();
    assert_eq!(shown["directory"], json!(project.root()));
    drive.kill();
    // It has ended, and what was recorded is still there.
    assert_eq!(serve.at("GET", &messages, "").json(), live);
    let sessions = serve.at("GET", "/session", "").json();
    assert_eq!(sessions.as_array().unwrap().len(), 1);
    assert_eq!(sessions[0]["id"], session);
}
