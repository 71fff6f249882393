//! The model's script, and the expected results.
//!
//! [`script`] is the input of the scripted model; [`judge`] compares the results with it.

use std::path::Path;

use serde_json::{Value, json};

use super::agent::Agent;
use super::stage::Scenery;
use crate::sandboxed::{ToolNetwork, ToolSandbox};

/// The judgement of a sitting.
pub(super) struct Verdict {
    /// Expectations that were met.
    pub(super) seen: Vec<&'static str>,
    /// Results that may differ between agents.
    pub(super) notes: Vec<&'static str>,
    pub(super) faults: Vec<String>,
}

impl Verdict {
    /// A verdict from these facts, all of which must hold.
    pub(super) fn of(checks: impl IntoIterator<Item = (&'static str, bool)>) -> Self {
        let (seen, missing): (Vec<_>, Vec<_>) = checks.into_iter().partition(|(_, well)| *well);
        let fault = |(what, _)| format!("{what} is not as it must be");
        Self {
            seen: seen.into_iter().map(|(what, _)| what).collect(),
            notes: Vec::new(),
            faults: missing.into_iter().map(fault).collect(),
        }
    }
}

/// The model's last message. One word, because a program that draws its screen may move the cursor over a space instead
/// of writing it.
pub(super) const LAST_WORDS: &str = "That-was-all.";

/// A file in which a tool states whether it is in a sandbox.
const RIGHTS: &str = "rights.txt";

/// The time after which a call becomes a handle if the client requests no progress.
const MAX_BLOCK_SECS: u64 = 8;

pub(super) fn scenery(sandbox: ToolSandbox) -> Scenery {
    let tables = sandbox.tables(ToolNetwork::None);
    Scenery {
        name: "sitting",
        sandbox,
        config: format!("[mcp]\nmax_block_secs = {MAX_BLOCK_SECS}\n{tables}"),
    }
}

/// The script of a model that runs a command of some seconds, spawns two tools, awaits both, types into a
/// terminal and aborts a tree.
pub(super) fn script(agent: &Agent) -> Value {
    let call = |tool: &str, arguments: Value| {
        let tool = format!("{}{tool}", agent.prefix);
        json!({"call": {"tool": tool, "arguments": arguments}})
    };
    let spawn = |id: &str, command: &str| {
        call(
            "shell",
            json!({"action": "spawn", "id": id, "command": command}),
        )
    };
    let abort = |id: &str| call("shell", json!({"action": "abort", "id": id}));
    let turns = [
        json!([call(
            "shell",
            json!({"command": format!("sleep 3; grep NoNewPrivs: /proc/self/status > {RIGHTS}; echo in time")})
        )]),
        json!([
            spawn("one", "sleep 0.3; echo made > one.txt; echo alpha"),
            spawn("two", "sleep 0.2; echo made > two.txt; echo beta"),
            call("await", json!({"all": ["one", "two"], "timeout_secs": 40})),
        ]),
        json!([call(
            "shell",
            json!({"action": "spawn", "id": "py", "command": "python3 -q", "terminal": true})
        )]),
        json!([call(
            "shell",
            json!({"action": "apply", "id": "py", "input": "n = 6 * 7; _ = open('typed.txt', 'w').write(str(n)); n"})
        )]),
        json!([spawn(
            "lasting",
            "sleep 1000 & setsid sleep 1000 & echo started; wait"
        )]),
        json!([abort("lasting"), abort("py")]),
        json!([call("shell", json!({"command": "echo broken; exit 7"}))]),
        json!([call("shell", json!({"command": "sleep 11; echo too-late"}))]),
        json!([{"text": LAST_WORDS}]),
    ];
    let turns = turns.map(|say| json!({"when": agent.offers, "say": say}));
    let aside = json!({"repeat": true, "say": [{"text": "A title"}]});
    json!({"turns": turns.into_iter().chain([aside]).collect::<Value>()})
}

/// The observations of a sitting.
pub(super) struct Trace<'a> {
    pub(super) project: &'a Path,
    /// The bodies of all requests to the model.
    pub(super) requests: &'a [Value],
    /// Processes that still ran after the agent had ended.
    pub(super) left: &'a [String],
    /// The agent's output and its exit code.
    pub(super) said: &'a str,
    pub(super) code: Option<i32>,
    pub(super) sandbox: ToolSandbox,
}

pub(super) fn judge(agent: &Agent, trace: &Trace<'_>) -> Verdict {
    let mut requests = trace.requests.iter().rev();
    let last = requests.find(|body| body.to_string().contains(agent.offers));
    let results = last.map(results).unwrap_or_default();
    let request = last.map(Value::to_string).unwrap_or_default();
    let told = |wanted: &[&str]| {
        let mut results = results.iter();
        results.any(|result| wanted.iter().all(|wanted| result.contains(wanted)))
    };
    let told_once = |wanted: &str| {
        let mut results = results.iter();
        results.all(|result| result.matches(wanted).count() <= 1)
    };
    let went_on = told(&["It still runs, as handle"]);
    let is_task = told(&["server-side task"]);
    let wrote = |file: &str, text: &str| {
        let written = std::fs::read_to_string(trace.project.join(file));
        written.is_ok_and(|written| written.trim() == text)
    };
    let checks = [
        (
            "descriptions",
            request.contains("spawn runs it in the background; then await its id")
                && request.contains("answers with a handle: await its id"),
        ),
        ("long call", told(&["in time"])),
        ("one price", told_once("in time") && told_once("alpha")),
        (
            "spawn",
            wrote("one.txt", "made") && wrote("two.txt", "made"),
        ),
        (
            "await",
            told(&[r#""completed""#, "alpha", "beta", r#""pending":[]"#]),
        ),
        (
            "terminal",
            told(&[r#""id":"py""#, r#""awaiting_input":true"#, ">>> "]),
        ),
        (
            "apply",
            wrote("typed.txt", "42") && told(&[r#""id":"py""#, r"42\n"]),
        ),
        (
            "abort",
            told(&[r#""id":"lasting""#, "aborted", r#""ended":3"#]),
        ),
        ("failure", told(&["broken", "7"])),
        ("longer call", went_on || is_task || told(&["too-late"])),
        ("the last word", trace.said.contains(LAST_WORDS)),
        ("exit code 0", trace.code == Some(0)),
        ("nothing left", trace.left.is_empty()),
        (
            "sandbox",
            trace.sandbox == ToolSandbox::Off || wrote(RIGHTS, "NoNewPrivs:\t1"),
        ),
    ];
    let mut verdict = Verdict::of(checks);
    verdict.notes = notes(&request, went_on, is_task);
    if !verdict.faults.is_empty() {
        verdict
            .faults
            .push(format!("the model received {results:#?}"));
        verdict
            .faults
            .push(format!("left running: {:?}", trace.left));
        verdict.faults.push(format!(
            "exit code {:?}, it said: {}",
            trace.code, trace.said
        ));
    }
    verdict
}

/// Facts that may differ from agent to agent.
fn notes(request: &str, went_on: bool, is_task: bool) -> Vec<&'static str> {
    let instructions = if request.contains("Omit `action` to run once") {
        "instructions reach the model"
    } else {
        "instructions do not reach the model"
    };
    let long_calls = if went_on {
        "long calls become handles"
    } else if is_task {
        "long calls become tasks"
    } else {
        "long calls stay calls"
    };
    vec![instructions, long_calls]
}

/// The tool results in a request, as text, independent of its format. Text that the agent encoded as JSON is decoded.
pub(super) fn results(body: &Value) -> Vec<String> {
    let results = raw_results(body).into_iter();
    let read = |result: String| result.replace(r"\\", r"\").replace(r#"\""#, r#"""#);
    results.map(read).collect()
}

fn raw_results(body: &Value) -> Vec<String> {
    let messages = ["messages", "input", "contents"];
    let messages = messages.iter().find_map(|key| body[*key].as_array());
    let mut results = Vec::new();
    for message in messages.into_iter().flatten() {
        if message["role"] == "tool" {
            results.push(text(&message["content"]));
        } else if message["type"] == "function_call_output" {
            results.push(text(&message["output"]));
        } else if let Some(parts) = message["parts"].as_array() {
            let parts = parts.iter().map(|part| &part["functionResponse"]);
            let parts = parts.filter(|part| !part.is_null());
            let response = |part: &Value| match &part["response"]["output"] {
                // An error.
                Value::Null => part["response"].to_string(),
                output => text(output),
            };
            results.extend(parts.map(response));
        } else {
            let parts = message["content"].as_array().into_iter().flatten();
            let parts = parts.filter(|part| part["type"] == "tool_result");
            results.extend(parts.map(|part| text(&part["content"])));
        }
    }
    results
}

fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let parts = parts.iter().filter_map(|part| part["text"].as_str());
            parts.collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
#[path = "sitting_tests.rs"]
mod tests;
