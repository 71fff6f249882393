//! `cargo xtask conformance`: the official MCP suite against the `windlass`
//! program.
//!
//! The suite's tools are programs, and a small MCP server for features that
//! only such a server has: `xtask/conformance`. Every check of both versions of
//! the protocol must pass, except those of [`NOT_OURS`], each with the reason
//! why it does not apply.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use serde_json::Value;

use crate::clients;
use crate::sandboxed::{SET_WORKSPACE, ToolSandbox};
use crate::workspace;

const VERSIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// Checks that do not apply: the prefix of their ids, and the reason.
const NOT_OURS: &[(&str, &str)] = &[
    (
        "tasks-mrtr-partial-fulfillment",
        "a handle has one question open at a time, so a tool's second one is asked after the first",
    ),
    (
        "sep-2663-server-returns-missing-capability-when-required",
        "no tool needs tasks: a call that lasts goes on as a handle for other clients",
    ),
];

/// Builds the program and runs the suite.
pub(crate) fn run(sandbox: ToolSandbox) -> anyhow::Result<()> {
    check(&workspace::build_windlass()?, sandbox)
}

/// Runs the suite against this program, with its tools in this sandbox; fails if a check failed.
pub(crate) fn check(windlass: &Path, sandbox: ToolSandbox) -> anyhow::Result<()> {
    let node = clients::provide()?.join("mcp-node");
    let server = Server::start(windlass, sandbox)?;
    let results = server.folder.join("results");
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
    let is_sandboxed = server.is_sandboxed();
    drop(server);
    let (passed, failed) = outcome?;
    ensure!(
        is_sandboxed == (sandbox == ToolSandbox::Workspace),
        "the tools did not run as the option says"
    );
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
    // Its exit code includes checks that do not apply, so it is ignored.
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

/// The number of passed checks, and the unexpected failures.
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

/// The reason why a check does not apply.
fn reason(id: &str) -> Option<&'static str> {
    let mut reasons = NOT_OURS.iter();
    let found = reasons.find(|(beginning, _)| id.starts_with(beginning));
    found.map(|(_, reason)| *reason)
}

/// The shipped program with the suite's tools.
///
/// It serves on a Unix socket, which needs no token: the suite cannot send one.
/// A forwarder connects a TCP address to it.
struct Server {
    child: Child,
    folder: PathBuf,
    project: PathBuf,
    url: String,
}

impl Server {
    fn start(windlass: &Path, sandbox: ToolSandbox) -> anyhow::Result<Self> {
        let folder =
            std::env::temp_dir().join(format!("windlass-conformance-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let socket = folder.join("mcp.sock");
        let fixtures = workspace::root().join("xtask/conformance");
        let mut command = Command::new(windlass);
        command
            .args(["mcp", "--config"])
            .arg(fixtures.join("config.toml"))
            .arg("--directory")
            .arg(&fixtures)
            .arg("--http")
            .arg(format!("unix:{}", socket.display()))
            .stdin(Stdio::null());
        // Ignore the user's own settings.
        for variable in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"] {
            command.env(variable, folder.join(variable));
        }
        if sandbox == ToolSandbox::Workspace {
            command.env("WINDLASS_SET", SET_WORKSPACE);
        }
        let child = command.spawn().context("cannot start the server")?;
        let mut server = Self {
            child,
            folder,
            project: fixtures,
            url: String::new(),
        };
        server.url = server.forward(&socket)?;
        Ok(server)
    }

    /// Whether the tools run in a sandbox: it has a placeholder in the project.
    fn is_sandboxed(&self) -> bool {
        self.project.join(".claude").is_dir()
    }

    /// Waits for the socket, and forwards a TCP address to it.
    fn forward(&mut self, socket: &Path) -> anyhow::Result<String> {
        while UnixStream::connect(socket).is_err() {
            if let Some(status) = self.child.try_wait()? {
                bail!("the server did not start: {status}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let url = format!("http://{}/mcp", listener.local_addr()?);
        let socket = socket.to_owned();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if let Ok(server) = UnixStream::connect(&socket) {
                    // The suite detects a broken connection.
                    let _ = join(client, server);
                }
            }
        });
        Ok(url)
    }
}

/// Copies bytes both ways until either side ends.
fn join(client: TcpStream, server: UnixStream) -> std::io::Result<()> {
    client.set_nodelay(true)?;
    let (mut from_client, mut to_client) = (client.try_clone()?, client);
    let (mut from_server, mut to_server) = (server.try_clone()?, server);
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut from_client, &mut to_server);
        let _ = to_server.shutdown(Shutdown::Write);
    });
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut from_server, &mut to_client);
        let _ = to_client.shutdown(Shutdown::Both);
    });
    Ok(())
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // A private directory in the temporary directory: it does no harm if it
        // stays.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
#[path = "conformance_tests.rs"]
mod tests;
