//! `/mcp` of `windlass serve`: agents beside everybody else.

use std::process::Stdio;

use insta::assert_snapshot;
use rustix::process::Signal;
use serde_json::{Value, json};
use windlass_outside::needs;

use crate::filtered::filtered;
use crate::http_support::{Answer, Serve};
use crate::processes::{Victim, has_exited, kill, signal};
use crate::support::{Project, eventually};

/// An agent's session at `/mcp`.
struct Agent<'a> {
    serve: &'a Serve,
    session: String,
}

/// Posts a message to `/mcp` with these headers.
fn post(serve: &Serve, headers: &str, body: Value) -> Answer {
    let kind = "content-type: application/json\r\naccept: application/json, text/event-stream\r\n";
    serve.ask(
        "POST",
        "/mcp",
        &format!("{headers}{kind}"),
        &body.to_string(),
    )
}

fn initialize() -> Value {
    json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    })
}

impl<'a> Agent<'a> {
    fn begin(serve: &'a Serve) -> Self {
        Self::begin_with(serve, "")
    }

    /// Begins with these headers too.
    fn begin_with(serve: &'a Serve, headers: &str) -> Self {
        let headers = format!("{}{headers}", serve.headers());
        let answer = post(serve, &headers, initialize());
        assert_eq!(answer.status, 200, "{answer:?}");
        let mut lines = answer.head.lines();
        let session = lines.find_map(|line| line.strip_prefix("mcp-session-id: "));
        let session = session.expect("it has a session").to_owned();
        Self { serve, session }
    }

    fn headers(&self) -> String {
        let (own, session) = (self.serve.headers(), &self.session);
        format!("{own}mcp-session-id: {session}\r\n")
    }

    #[track_caller]
    fn call(&self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
        let answer = post(self.serve, &self.headers(), body);
        // The answer may be an event, and comes in chunks.
        let mut lines = answer.body.lines();
        let answered = lines
            .rfind(|line| line.contains("\"result\""))
            .unwrap_or_else(|| panic!("no result: {answer:?}"));
        let json = answered.trim_start_matches("data: ");
        serde_json::from_str::<Value>(json).unwrap()["result"].clone()
    }

    fn leave(self) {
        let answer = self.serve.ask("DELETE", "/mcp", &self.headers(), "");
        assert!(answer.status < 300, "{answer:?}");
    }
}

fn spawn(command: &str) -> Value {
    json!({"action": "spawn", "id": "a", "command": command})
}

/// The sessions that are under way, each by its front end and its handles.
fn listed(serve: &Serve) -> Vec<(String, u64)> {
    let sessions = serve.get("/sessions").json();
    let sessions = sessions.as_array().unwrap().iter();
    sessions
        .map(|session| {
            let front_end = session["front_end"].as_str().unwrap().to_owned();
            (front_end, session["active"].as_u64().unwrap())
        })
        .collect()
}

#[test]
fn an_agent_is_seen_by_everybody_and_ends_when_it_leaves() {
    needs!("setsid", "nohup");
    let project = Project::new();
    let serve = Serve::start(&project);
    let victim = Victim::new();
    let agent = Agent::begin(&serve);
    agent.call("shell", spawn(&victim.script()));
    victim.wait_until_up();
    let other = serve.session(json!({"trusted": true}));
    let mut seen = listed(&serve);
    seen.sort();
    assert_eq!(seen, [("mcp".to_owned(), 1), ("serve".to_owned(), 0)]);
    agent.leave();
    assert_eq!(victim.alive(), [] as [u32; 0]);
    assert_eq!(listed(&serve), [("serve".to_owned(), 0)]);
    assert_eq!(serve.delete(&other).status, 204);
}

#[test]
fn an_agents_handles_end_with_the_server() {
    needs!("setsid", "nohup");
    let project = Project::new();
    let serve = Serve::start(&project);
    let victim = Victim::new();
    let agent = Agent::begin(&serve);
    agent.call("shell", spawn(&victim.script()));
    victim.wait_until_up();
    signal(serve.pid(), Signal::TERM);
    eventually("the server has ended", || has_exited(serve.pid()));
    assert_eq!(victim.alive(), [] as [u32; 0]);
}

#[test]
fn an_agent_needs_the_token_and_the_right_address() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let (address, token) = (&serve.address, &serve.token);
    let bearer = format!("authorization: Bearer {token}\r\n");
    for (headers, status) in [
        (format!("host: {address}\r\n"), 401),
        (
            format!("host: {address}\r\nauthorization: Bearer x\r\n"),
            401,
        ),
        (format!("host: evil.example\r\n{bearer}"), 421),
        (
            format!("host: {address}\r\n{bearer}origin: http://evil.example\r\n"),
            403,
        ),
        (
            format!("host: {address}\r\n{bearer}origin: http://{address}\r\n"),
            200,
        ),
        (format!("host: {address}\r\n{bearer}"), 200),
    ] {
        let answer = post(&serve, &headers, initialize());
        assert_eq!(answer.status, status, "{headers}{answer:?}");
    }
}

#[test]
fn an_agent_asks_its_user_by_itself_and_others_at_the_desk() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let ran = Agent::begin(&serve).call("shell", json!({"command": "echo ran"}));
    assert_eq!(ran["structuredContent"]["output"], "ran\n", "{ran}");
    let session = serve.session(json!({}));
    std::thread::scope(|scope| {
        let call = scope.spawn(|| serve.call(&session, "shell", json!({"command": "echo ran"})));
        let mut asked = json!([]);
        eventually("permission is asked for", || {
            asked = serve.get(&format!("{session}/permissions")).json();
            asked[0].is_object()
        });
        let id = asked[0]["id"].as_str().unwrap();
        let reply = json!({"reply": "reject"});
        serve.post(&format!("{session}/permissions/{id}"), reply);
        let refused = call.join().unwrap();
        assert!(refused.as_str().unwrap().contains("rejected"), "{refused}");
    });
}

#[test]
fn the_record_tells_the_front_end() {
    let project = Project::new();
    let serve = Serve::start(&project);
    Agent::begin(&serve).call("shell", json!({"command": "true"}));
    let session = serve.session(json!({"trusted": true}));
    serve.call(&session, "shell", json!({"command": "true"}));
    project.mcp(&[]).call("shell", json!({"command": "true"}));
    let run = project.run(&["sessions", "--json"], "");
    let sessions: Vec<Value> = serde_json::from_str(&run.stdout()).unwrap();
    let mut front_ends: Vec<&str> = sessions
        .iter()
        .filter_map(|session| session["frontEnd"].as_str())
        .collect();
    front_ends.sort_unstable();
    assert_eq!(front_ends, ["mcp", "mcp", "serve"]);
}

#[test]
fn a_record_that_cannot_be_kept_is_said() {
    let project = Project::new();
    // What should be its folder is a file.
    std::fs::create_dir_all(project.state_dir()).unwrap();
    std::fs::write(project.state_dir().join("record"), "").unwrap();
    let mut mcp = project.mcp(&[]);
    mcp.call("shell", json!({"command": "true"}));
    assert_snapshot!(filtered(&mcp.stderr()), @"windlass: the session is not recorded: the folder `[folder]/home/state/windlass/record` cannot be used: File exists (os error 17)");
    let errors = project.root().join("serve-stderr");
    let mut serve = project
        .windlass(&["serve", "--socket"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(&errors).unwrap())
        .spawn()
        .unwrap();
    eventually("it is said", || {
        let said = std::fs::read_to_string(&errors).unwrap();
        said.contains("the session is not recorded")
    });
    serve.kill().unwrap();
    serve.wait().unwrap();
}

/// A client with an open stream that starts a tree that is hard to end, and is
/// then idle.
const CLIENT: &str = r#"
import http.client, json, os, sys
address, token = sys.argv[1:]
script = os.environ["SCRIPT"]
headers = {
    "Authorization": "Bearer " + token,
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
}
def ask(method, message=None):
    connection = http.client.HTTPConnection(address)
    body = message and json.dumps({"jsonrpc": "2.0", **message})
    connection.request(method, "/mcp", body, headers)
    response = connection.getresponse()
    assert response.status < 300, response.status
    return response
client = {"name": "doomed", "version": "1"}
params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
begun = ask("POST", {"id": 0, "method": "initialize", "params": params})
headers["Mcp-Session-Id"] = begun.headers["Mcp-Session-Id"]
begun.read()
ask("POST", {"method": "notifications/initialized"}).read()
stream = ask("GET")
arguments = {"action": "spawn", "id": "v", "command": script}
call = {"name": "shell", "arguments": arguments}
ask("POST", {"id": 1, "method": "tools/call", "params": call}).read()
while stream.read(1):
    pass
"#;

#[test]
fn nothing_outlives_a_killed_client_with_a_stream() {
    needs!("python3", "setsid", "nohup");
    let project = Project::new();
    let serve = Serve::start(&project);
    let victim = Victim::new();
    let mut client = project
        .program("python3")
        .args(["-c", CLIENT, &serve.address, &serve.token])
        // Among its arguments it would be taken for a part of the victim.
        .env("SCRIPT", victim.script())
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    victim.wait_until_up();
    // It has its answer, so that nothing but the stream is left of it.
    eventually("it is idle", || listed(&serve) == [("mcp".to_owned(), 1)]);
    kill(client.id());
    client.wait().unwrap();
    eventually("nothing is left", || {
        victim.alive().is_empty() && listed(&serve).is_empty()
    });
}

#[test]
fn a_session_named_by_a_header_takes_over_what_its_predecessor_kept() {
    const NAMED: &str = "windlass-session: desk\r\n";
    let project = crate::kept_serve::keeping();
    let mut serve = Serve::start(&project);
    let agent = Agent::begin_with(&serve, NAMED);
    let mut kept = spawn("echo begun; read word; echo \"got $word\"; sleep 1000");
    kept["keep"] = json!(true);
    agent.call("shell", kept);
    serve.kill();
    let serve = Serve::start_at(&project, &serve.address);
    let other = Agent::begin_with(&serve, "windlass-session: elsewhere\r\n");
    let first = other.call("shell", json!({"command": "true"})).to_string();
    assert!(!first.contains("still running"), "{first}");
    let agent = Agent::begin_with(&serve, NAMED);
    let first = agent.call("shell", json!({"command": "true"})).to_string();
    assert!(
        first.contains("`a`") && first.contains("still running"),
        "{first}"
    );
    let apply = json!({"action": "apply", "id": "a", "input": "hello"});
    let applied = agent.call("shell", apply).to_string();
    assert!(applied.contains("got hello"), "{applied}");
    agent.call("shell", json!({"action": "abort", "id": "a"}));
}
