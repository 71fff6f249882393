//! An agent that is killed and started again in the same project while one of
//! its servers is kept.
//!
//! Start at [`play`]. The first run of the agent spawns a kept HTTP server, and
//! is killed. The server keeps answering. The second run must be notified of
//! it, and reads and ends it by its old id.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::ensure;
use serde_json::{Value, json};

use super::agent::Agent;
use super::sitting::{LAST_WORDS, Verdict, results};
use super::stage::{Model, Scenery, Stage};
use crate::sandboxed::{ToolNetwork, ToolSandbox};

/// The time limit of each step, on a busy machine.
const STEP: Duration = Duration::from_mins(2);
const PAUSE: Duration = Duration::from_millis(50);
const ID: &str = "dev";
/// The server appends a line to this file when it starts.
const STARTS: &str = "starts.txt";

pub(super) fn scenery(sandbox: ToolSandbox) -> Scenery {
    // The kept server is asked from outside.
    let tables = sandbox.tables(ToolNetwork::Full);
    Scenery {
        name: "restart",
        sandbox,
        // The agent blocks in a call until it is killed.
        config: format!(
            "[mcp]\nmax_block_secs = 300\n\
             [conversation.tools.shell.spawn.lifecycle]\nkeepable_secs = 600\n{tables}"
        ),
    }
}

/// Runs the agent twice and judges the results.
pub(super) fn play(stage: &Stage<'_>) -> anyhow::Result<Verdict> {
    let port = free_port()?;
    let model = Model::start(stage, &script(stage.agent, port))?;
    let mut command = stage.prepare(&model)?;
    let mut first = stage.start(&mut command)?;
    // The next request to the model shows that the spawn was answered.
    until("the spawn is answered", || {
        told(stage.agent, &model.requests())
            .iter()
            .any(|result| result.contains(ID))
    })?;
    until("the server answers", || get(port, "before"))?;
    stage.kill_agent();
    first.kill()?;
    first.wait()?;
    until("nobody has the server", || !stage.is_attended())?;
    let before = model.requests().len();
    let answered = ["gap-1", "gap-2", "gap-3"].map(|name| get(port, name));

    let (said, code) = stage.play_with_pipes(command)?;
    let ended = !get(port, "after");
    let left = stage.clear();
    let starts = std::fs::read_to_string(stage.project().join(STARTS)).unwrap_or_default();
    let requests = model.stop()?;
    let results = told(stage.agent, &requests[before..]);
    let told = |wanted: &[&str]| {
        let mut results = results.iter();
        results.any(|result| wanted.iter().all(|wanted| result.contains(wanted)))
    };
    let mut verdict = Verdict::of([
        ("answers in the gap", answered == [true; 3]),
        ("one start", starts.lines().count() == 1),
        (
            "told after a restart",
            told(&["again-here", "`dev`", "still running"]),
        ),
        (
            "fetch by the old id",
            told(&[r#""id":"dev""#, "/gap-1", "/gap-2", "/gap-3"]),
        ),
        (
            "abort by the old id",
            ended && told(&[r#""id":"dev""#, "stopped", r#""ended":1"#]),
        ),
        (
            "restarted well",
            said.contains(LAST_WORDS) && code == Some(0),
        ),
        ("nothing left after a restart", left.is_empty()),
    ]);
    if !verdict.faults.is_empty() {
        verdict.faults.extend([
            format!("after the restart the model received {results:#?}"),
            format!("left running: {left:?}"),
            format!("exit code {code:?}, it said: {said}"),
        ]);
    }
    Ok(verdict)
}

/// The script of both runs of the agent.
fn script(agent: &Agent, port: u16) -> Value {
    let shell = |arguments: Value| {
        let tool = format!("{}shell", agent.prefix);
        json!([{"call": {"tool": tool, "arguments": arguments}}])
    };
    let server =
        format!("echo started >> {STARTS}; exec python3 -u -m http.server {port} --bind 127.0.0.1");
    let turns = [
        shell(json!({"action": "spawn", "id": ID, "command": server, "keep": true})),
        shell(json!({"command": "sleep 600"})),
        shell(json!({"command": "echo again-here"})),
        shell(json!({"action": "fetch", "id": ID})),
        shell(json!({"action": "abort", "id": ID})),
        json!([{"text": LAST_WORDS}]),
    ];
    let turns = turns.map(|say| json!({"when": agent.offers, "say": say}));
    let aside = json!({"repeat": true, "say": [{"text": "A title"}]});
    json!({"turns": turns.into_iter().chain([aside]).collect::<Value>()})
}

/// The tool results in the last of these requests that offers our tools.
fn told(agent: &Agent, requests: &[Value]) -> Vec<String> {
    let mut requests = requests.iter().rev();
    let last = requests.find(|body| body.to_string().contains(agent.offers));
    last.map(results).unwrap_or_default()
}

fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

/// Whether the server answers.
fn get(port: u16, name: &str) -> bool {
    let ask = || -> std::io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        write!(stream, "GET /{name} HTTP/1.0\r\n\r\n")?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        Ok(answer)
    };
    ask().is_ok_and(|answer| answer.starts_with(b"HTTP/1.0"))
}

fn until(what: &str, holds: impl Fn() -> bool) -> anyhow::Result<()> {
    let start = Instant::now();
    while !holds() {
        ensure!(start.elapsed() < STEP, "never: {what}");
        thread::sleep(PAUSE);
    }
    Ok(())
}
