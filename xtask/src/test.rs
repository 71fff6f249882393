//! `cargo xtask test`: installs the required programs, runs all tests and prints the counts.
//!
//! It needs a Rust toolchain and a C compiler. [`programs`] installs the programs that the tests need, or reports those
//! that it cannot install. A test that needs a program checks the variable [`programs::SKIP`] first. If the program is
//! listed there, the test appends its name to the file [`SKIP_LOG`], returns, and is counted as skipped. Without these
//! variables, a test whose program is missing fails.

pub(crate) mod programs;
mod tally;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};

use crate::adapters;
use crate::clients;
use crate::nats;
use crate::sandboxed::ToolSandbox;
use crate::sdks;
use crate::workspace;
use tally::Tally;

/// Names the file to which a skipped test appends a line.
const SKIP_LOG: &str = "WINDLASS_SKIP_LOG";

/// The variable that puts the tools of all tests of the command into a sandbox.
const SANDBOX: &str = "WINDLASS_TEST_SANDBOX";

/// Runs all tests of the workspace and prints the counts as the last line.
/// `arguments` go to `cargo test`, except for `--sandbox workspace`, which
/// runs the tools of the command's tests in that sandbox.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    let (sandbox, arguments) = ToolSandbox::read(arguments)?;
    let mut missing = programs::provide();
    let clients = clients::provide();
    if let Err(why) = &clients {
        println!("skipping the tests with other people's MCP clients: {why:#}");
        missing.extend(clients::PROGRAMS);
    }
    let clients = clients.ok();
    let nats = nats::provide();
    if let Err(why) = &nats {
        println!("skipping the tests of pools: {why:#}");
        missing.push(nats::PROGRAM);
    }
    let folders: Vec<PathBuf> = nats.into_iter().collect();
    let log = std::env::temp_dir().join(format!("windlass-skipped-{}", std::process::id()));
    std::fs::write(&log, "").with_context(|| format!("cannot write `{}`", log.display()))?;
    let mut command = test_command(&missing, (&folders, clients.as_deref()), &log)?;
    command.args(&arguments);
    if sandbox == ToolSandbox::Workspace {
        command.env(SANDBOX, "workspace");
    }
    let outcome = run_counting(command);
    let skipped = std::fs::read_to_string(&log).unwrap_or_default();
    // A private file in the temporary directory: it does no harm if it stays.
    let _ = std::fs::remove_file(&log);
    let (mut tally, succeeded) = outcome?;
    for line in skipped.lines() {
        println!("skipped: {line}");
        tally.skip_one();
    }
    // Arguments select Rust tests. Without them no program was built.
    if arguments.is_empty()
        && tally.ran()
        && let Err(why) = test_packages(&mut tally)
    {
        println!("failed: the tests of the packages: {why:#}");
        tally.failed += 1;
    }
    println!("{tally}");
    ensure!(succeeded && tally.failed == 0, "not all tests passed");
    ensure!(tally.ran(), "no test was run");
    Ok(())
}

/// Runs the tests of the packages for other languages and of two adapters, and prints their counts.
fn test_packages(tally: &mut Tally) -> anyhow::Result<()> {
    let mut suites = sdks::check()?;
    suites.push(adapters::check()?);
    for suite in suites {
        println!(
            "{}: {} passed, {} failed, {} skipped",
            suite.title, suite.passed, suite.failed, suite.skipped
        );
        tally.passed += suite.passed;
        tally.failed += suite.failed;
        tally.skipped += suite.skipped;
    }
    Ok(())
}

/// `cargo test` with the programs that tests need.
fn test_command(
    missing: &[&str],
    (first, last): (&[PathBuf], Option<&Path>),
    log: &Path,
) -> anyhow::Result<Command> {
    let mut command = workspace::cargo_command();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = first.iter().cloned().chain(std::env::split_paths(&path));
    let folders = folders.chain(last.map(Path::to_owned));
    command.env("PATH", std::env::join_paths(folders)?);
    // Count all tests, even after a binary has failed.
    command
        .args(["test", "--workspace", "--no-fail-fast"])
        .env(programs::SKIP, missing.join(","))
        .env(SKIP_LOG, log)
        .stdout(Stdio::piped());
    Ok(command)
}

/// Runs `cargo test`, shows its output and counts the tests.
fn run_counting(mut command: Command) -> anyhow::Result<(Tally, bool)> {
    let said = workspace::shown(&command);
    println!("$ {said}");
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot run `{said}`"))?;
    let Some(stdout) = child.stdout.take() else {
        bail!("`{said}` has no stdout");
    };
    let mut tally = Tally::default();
    let mut ours = std::io::stdout().lock();
    for line in BufReader::new(stdout).split(b'\n') {
        let line = line?;
        tally.read(&String::from_utf8_lossy(&line));
        ours.write_all(&line)?;
        ours.write_all(b"\n")?;
        ours.flush()?;
    }
    drop(ours);
    let status = child.wait()?;
    Ok((tally, status.success()))
}
