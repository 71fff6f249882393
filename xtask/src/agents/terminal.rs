//! An interactive agent on our terminal: `windlass drive` runs it as a handle
//! of the tool `shell`, and types the user's message into it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};

use crate::sandboxed::SET_OFF;

/// The handle of the agent.
const ID: &str = "agent";
/// How long an agent may take to draw its first screen, and to answer.
const START_SECS: u64 = 60;
const ANSWER_SECS: u64 = 240;

/// A `windlass drive` with an agent on its terminal.
pub(super) struct Terminal {
    drive: Child,
    stdin: ChildStdin,
    lines: BufReader<ChildStdout>,
}

impl Terminal {
    /// Starts an agent with `drive`, and waits until its screen is quiet.
    pub(super) fn start(mut drive: Command, agent: &Command) -> anyhow::Result<Self> {
        let mut drive = drive
            .arg("drive")
            // The agent itself is not confined, only its tools.
            .args(["--set", SET_OFF])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot run `windlass drive`")?;
        let (Some(stdin), Some(stdout)) = (drive.stdin.take(), drive.stdout.take()) else {
            bail!("`windlass drive` has no pipes");
        };
        let mut terminal = Self {
            drive,
            stdin,
            lines: BufReader::new(stdout),
        };
        let (command, env) = written(agent);
        let spawn =
            json!({"action": "spawn", "id": ID, "command": command, "env": env, "terminal": true});
        terminal.call("shell", &spawn)?;
        terminal.until(json!({"idle_secs": 3}), START_SECS)?;
        Ok(terminal)
    }

    /// Types a message, and waits until `last` is on the screen. Returns the
    /// screen.
    pub(super) fn say(&mut self, message: &str, last: &str) -> anyhow::Result<String> {
        let typed = json!({"action": "apply", "id": ID, "input": message, "enter": false});
        self.call("shell", &typed)?;
        // An agent would take text that arrives together with Enter as pasted.
        self.until(json!({"idle_secs": 0.5}), START_SECS)?;
        self.call(
            "shell",
            &json!({"action": "apply", "id": ID, "keys": ["enter"]}),
        )?;
        // On a timeout, the caller gets the screen without it.
        let answered = self.until(json!({"pattern": last}), ANSWER_SECS);
        let screen = json!({"action": "fetch", "id": ID, "view": "screen"});
        let screen = self.call("shell", &screen)?.to_string();
        answered?;
        Ok(screen)
    }

    /// Ends the agent.
    pub(super) fn end(mut self) -> anyhow::Result<()> {
        self.call("shell", &json!({"action": "abort", "id": ID}))?;
        drop(self.stdin);
        self.drive.wait()?;
        Ok(())
    }

    fn until(&mut self, mut condition: Value, seconds: u64) -> anyhow::Result<()> {
        condition["id"] = json!(ID);
        let wait = json!({"until": [condition], "timeout_secs": seconds});
        let reply = self.call("await", &wait)?;
        ensure!(
            reply["timed_out"] != true,
            "the agent's terminal did not come to {condition}"
        );
        Ok(())
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> anyhow::Result<Value> {
        let batch = json!([{"id": "1", "tool": tool, "arguments": arguments}]);
        writeln!(self.stdin, "{batch}")?;
        let mut line = String::new();
        self.lines.read_line(&mut line)?;
        let mut answer: Value = serde_json::from_str(&line).context("`windlass drive` has gone")?;
        let reply = answer["replies"][0].take();
        ensure!(reply["is_error"] == false, "{tool}: {reply}");
        Ok(reply["content"].clone())
    }
}

/// A command as a shell command line, and its environment.
fn written(command: &Command) -> (String, Value) {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words = words.map(|word| format!("'{}'", word.to_string_lossy()));
    let line = words.collect::<Vec<_>>().join(" ");
    let env = command.get_envs().filter_map(|(name, value)| {
        let value = value?.to_string_lossy().into_owned();
        Some((name.to_string_lossy().into_owned(), json!(value)))
    });
    (line, Value::Object(env.collect()))
}
