//! `cargo xtask conformance`: the official MCP suite against our server.
//!
//! Every check of both versions of the protocol must pass, but for those of
//! [`NOT_OURS`], each with the reason why it does not concern what the server
//! declares. Without npm the suite is skipped, and that is said.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail, ensure};
use serde_json::Value;

use crate::clients;
use crate::workspace;

const VERSIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// Checks that do not concern us: how their ids begin, and why.
const NOT_OURS: &[(&str, &str)] = &[
    ("completion-complete", "completions are not declared"),
    ("resources-", "resources are not declared"),
    ("prompts-", "prompts are not declared"),
    ("sep-2549-prompts-", "prompts are not declared"),
    ("sep-2549-resources-", "resources are not declared"),
    ("sep-2322-non-tool-", "prompts are not declared"),
    ("tools-call-image", "tools answer with text"),
    ("tools-call-audio", "tools answer with text"),
    ("tools-call-embedded-resource", "tools answer with text"),
    ("tools-call-mixed-content", "tools answer with text"),
    (
        "tools-call-sampling",
        "a model of the client's is never asked",
    ),
    (
        "sep-2322-sampling-",
        "a model of the client's is never asked",
    ),
    (
        "sep-2322-respect-client-capabilities",
        "wants a tool that asks the client's model",
    ),
    (
        "sep-2322-list-roots-",
        "the client's roots are never asked for",
    ),
    (
        "sep-2322-multiple-inputs-",
        "a tool has one question open at a time",
    ),
    (
        "tasks-mrtr-partial-fulfillment",
        "a tool has one question open at a time",
    ),
    (
        "elicitation-sep1034-",
        "a question is a form with one field of its own type",
    ),
    (
        "elicitation-sep1330-",
        "a question is a form with one field of its own type",
    ),
    (
        "sep-1034-",
        "a question is a form with one field of its own type",
    ),
    (
        "sep-1330-",
        "a question is a form with one field of its own type",
    ),
    (
        "json-schema-2020-12",
        "a tool's parameters are properties, not any schema",
    ),
    (
        "sep-2575-server-rejects-undeclared-capability",
        "no tool needs a capability",
    ),
    (
        "sep-2575-missing-capability-http-400",
        "no tool needs a capability",
    ),
    (
        "sep-2663-tasks-get-status-failed",
        "a tool that fails is a completed task with an error",
    ),
    (
        "sep-2663-server-returns-missing-capability-when-required",
        "no tool needs tasks",
    ),
];

/// Runs the suite; an error says that a check failed.
pub(crate) fn run() -> anyhow::Result<()> {
    if Command::new("npm").arg("--version").output().is_err() {
        println!("skipping the MCP conformance suite: there is no npm to install it with");
        return Ok(());
    }
    let node = clients::provide()?.join("mcp-node");
    workspace::cargo([
        "build",
        "--package",
        "windlass-serve-mcp",
        "--example",
        "conformance",
    ])?;
    let mut server = Server::start()?;
    let results = std::env::temp_dir().join(format!("windlass-conformance-{}", std::process::id()));
    let outcome =
        VERSIONS
            .into_iter()
            .try_fold((0, Vec::new()), |(passed, mut failed), version| {
                let folder = results.join(version);
                run_suite(&node, &server.url, version, &folder)?;
                let (more, faults) = read(&folder)?;
                failed.extend(faults.into_iter().map(|fault| format!("{version} {fault}")));
                anyhow::Ok((passed + more, failed))
            });
    server.stop();
    // It is ours alone and in the folder for such things.
    let _ = std::fs::remove_dir_all(&results);
    let (passed, failed) = outcome?;
    for fault in &failed {
        println!("error: {fault}");
    }
    println!(
        "conformance: {passed} checks passed, {} failed",
        failed.len()
    );
    ensure!(failed.is_empty(), "the server does not conform");
    ensure!(passed > 100, "only {passed} checks were made");
    Ok(())
}

fn run_suite(node: &Path, url: &str, version: &str, results: &Path) -> anyhow::Result<()> {
    let suite =
        clients::folder()?.join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    println!("$ conformance server --requirements {version}");
    // Its exit code counts what does not concern us too; the checks tell.
    Command::new(node)
        .arg(suite)
        .args(["server", "--url", url, "--requirements", version])
        .args(["--timeout", "15000", "-o"])
        .arg(results)
        .stdout(Stdio::null())
        .status()
        .context("cannot run the conformance suite")?;
    Ok(())
}

/// How many checks passed, and what failed that should not have.
fn read(results: &Path) -> anyhow::Result<(usize, Vec<String>)> {
    let mut passed = 0;
    let mut faults = BTreeSet::new();
    let scenarios = std::fs::read_dir(results)
        .with_context(|| format!("the suite left nothing in `{}`", results.display()))?;
    for scenario in scenarios {
        let checks = std::fs::read_to_string(scenario?.path().join("checks.json"))?;
        let checks: Vec<Value> = serde_json::from_str(&checks)?;
        for check in checks {
            let text = |key: &str| check[key].as_str().unwrap_or_default();
            let id = text("id");
            match text("status") {
                "SUCCESS" => passed += 1,
                "FAILURE" if reason(id).is_none() => {
                    faults.insert(format!("{id}: {}", text("errorMessage")));
                }
                _ => {}
            }
        }
    }
    Ok((passed, faults.into_iter().collect()))
}

/// Why a check does not concern us.
fn reason(id: &str) -> Option<&'static str> {
    let mut reasons = NOT_OURS.iter();
    let found = reasons.find(|(beginning, _)| id.starts_with(beginning));
    found.map(|(_, reason)| *reason)
}

/// Our server with the suite's tools, which serves until its input ends.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start() -> anyhow::Result<Self> {
        let mut command = workspace::cargo_command();
        command
            .args([
                "run",
                "--quiet",
                "--package",
                "windlass-serve-mcp",
                "--example",
                "conformance",
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().context("cannot start the server")?;
        let Some(stdout) = child.stdout.take() else {
            bail!("the server has no stdout");
        };
        let mut url = String::new();
        BufReader::new(stdout).read_line(&mut url)?;
        let url = url.trim().to_owned();
        ensure!(url.starts_with("http"), "the server did not start");
        Ok(Self { child, url })
    }

    fn stop(&mut self) {
        drop(self.child.stdin.take());
        // It ends when its input does; cargo passes that on.
        let _ = self.child.wait();
    }
}

#[cfg(test)]
#[path = "conformance_tests.rs"]
mod tests;
