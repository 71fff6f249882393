//! The program, started as Windlass starts it.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// A tool that runs. Dropped, it is killed.
pub(crate) struct Running {
    child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

/// Calls a tool in this folder.
pub(crate) fn start(root: &Path, tool: &str, arguments: &Value) -> Running {
    let context = json!({"action": "run", "root": root});
    let tool = json!({"name": tool, "arguments": arguments});
    let mut child = Command::new(env!("CARGO_BIN_EXE_example-tools"))
        .args([context.to_string(), tool.to_string()])
        .current_dir(root)
        .env("CARGO_TARGET_DIR", root.join("target"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    Running {
        stdin: child.stdin.take().unwrap(),
        lines: BufReader::new(child.stdout.take().unwrap()).lines(),
        child,
    }
}

impl Running {
    /// The next state.
    #[track_caller]
    pub(crate) fn next(&mut self) -> Value {
        let line = self.lines.next().expect("a state").unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// What it says next, however long that takes.
    #[track_caller]
    pub(crate) fn content(&mut self) -> String {
        let state = self.next();
        assert_eq!(state["type"], json!("running"), "{state}");
        state["content"].as_str().unwrap().to_owned()
    }

    /// What it says until it stops, and its result.
    #[track_caller]
    pub(crate) fn finish(mut self) -> (Vec<String>, Value) {
        let mut contents = Vec::new();
        loop {
            let state = self.next();
            if state["type"] == "stopped" {
                return (contents, state["result"].clone());
            }
            contents.push(state["content"].as_str().unwrap().to_owned());
        }
    }

    /// Tells it to stop.
    pub(crate) fn abort(&mut self) {
        writeln!(self.stdin, "{}", json!({"type": "abort"})).unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
