//! Uses a fresh installation as a user does.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};

use crate::artefacts::archive;

/// The time limit of a reply.
const PATIENCE: Duration = Duration::from_mins(2);

/// Queries the version, drives a session, and calls a tool over MCP. Returns
/// how long an MCP client waited for the first reply.
pub(super) fn all(
    version: &str,
    windlass: impl Fn(&[&str]) -> Command,
) -> anyhow::Result<Duration> {
    says_its_version(version, &mut windlass(&["--version"]))?;
    drives(windlass(&["drive"])).context("`windlass drive`")?;
    serves_mcp(windlass(&["mcp"])).context("`windlass mcp`")
}

/// Uses only `windlass mcp`, for installations that are made at its start.
pub(super) fn serves_mcp(command: Command) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    let mut server = JsonLines::start(command)?;
    let client = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "package-check", "version": "1"},
    });
    server.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}))?;
    let answer = server.receive()?;
    let took = begun.elapsed();
    ensure!(
        answer["result"]["serverInfo"]["name"] == "windlass",
        "{answer}"
    );
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
    let call = json!({"name": "shell", "arguments": {"command": "echo hello"}});
    server.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}))?;
    let answer = server.receive()?;
    ensure!(
        answer["result"]["content"][0]["text"] == "hello\n",
        "{answer}"
    );
    server.end()?;
    Ok(took)
}

/// Runs a program that uses a library, and checks for the output of its call.
pub(super) fn library(command: &mut Command) -> anyhow::Result<&'static str> {
    let said = archive::output(command).context("the library")?;
    ensure!(said.contains("hello"), "the library says `{said}`");
    Ok("a call through the library")
}

fn says_its_version(version: &str, command: &mut Command) -> anyhow::Result<()> {
    let said = archive::output(command)?;
    let first = format!("windlass {version}\n");
    ensure!(said.starts_with(&first), "`--version` says `{said}`");
    for line in ["commit: ", "features: ", "target: "] {
        ensure!(
            said.lines().any(|said| said.starts_with(line)),
            "`--version` says `{said}`"
        );
    }
    Ok(())
}

fn drives(command: Command) -> anyhow::Result<()> {
    let mut drive = JsonLines::start(command)?;
    let shell = |arguments: Value| json!({"tool": "shell", "arguments": arguments});
    drive.send(&json!([
        shell(json!({"command": "echo hello"})),
        shell(json!({"action": "spawn", "id": "left", "command": "sleep 1000"})),
    ]))?;
    let answer = drive.receive()?;
    ensure!(answer["replies"][0]["content"] == "hello\n", "{answer}");
    ensure!(
        answer["replies"][1]["content"]["state"] == "running",
        "{answer}"
    );
    // Running tools end with the session.
    drive.end()
}

/// A program that reads and writes JSON lines.
struct JsonLines {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Receiver<String>,
}

impl JsonLines {
    fn start(mut command: Command) -> anyhow::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::inherit()).spawn()?;
        let (sender, receiver) = channel();
        let stdout = child.stdout.take().context("it has no stdout")?;
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self {
            stdin: child.stdin.take(),
            stdout: receiver,
            child,
        })
    }

    fn send(&mut self, value: &Value) -> anyhow::Result<()> {
        let stdin = self.stdin.as_mut().context("its stdin is closed")?;
        writeln!(stdin, "{value}").context("it has ended")
    }

    fn receive(&mut self) -> anyhow::Result<Value> {
        let line = self
            .stdout
            .recv_timeout(PATIENCE)
            .context("it does not answer")?;
        serde_json::from_str(&line).with_context(|| format!("it printed `{line}`"))
    }

    /// Closes its stdin and waits until it has ended.
    fn end(mut self) -> anyhow::Result<()> {
        self.stdin = None;
        let deadline = Instant::now() + PATIENCE;
        // Its stdout reaches the end when it has ended.
        while Instant::now() < deadline {
            if self.stdout.recv_timeout(PATIENCE).is_err() {
                let status = self.child.wait()?;
                ensure!(status.success(), "it ended with {status}");
                return Ok(());
            }
        }
        bail!("it does not end when its stdin is closed")
    }
}

impl Drop for JsonLines {
    fn drop(&mut self) {
        // Needed after a failed check; otherwise it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
