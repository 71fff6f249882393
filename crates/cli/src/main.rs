//! The `windlass` command.
//!
//! `args.rs` lists the subcommands; each has a module of its own. This is the
//! only crate that prints, and it does so through `stdout.rs`.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod attach;
mod call;
mod control;
mod draw;
mod drive;
mod exit;
mod init;
mod logs;
mod mcp;
mod mcp_http;
mod models;
mod permissions;
mod person;
mod prompt;
mod ps;
mod query;
mod questions;
mod reach;
mod replies;
mod room;
mod safe_text;
mod screen;
mod send;
mod serve;
mod sessions;
mod setup;
mod signals;
mod stdout;
mod tools;
mod trust;

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser;

use crate::args::{Args, Command};
use crate::stdout::{StdoutError, errln};

fn main() -> ExitCode {
    // Before anything else: this may be a zygote.
    windlass::init();
    // While there is one thread.
    windlass::withdraw_credentials();
    let result = match Args::try_parse() {
        Ok(args) => run(args),
        Err(unread) => args::explain(&unread),
    };
    // What is still in the buffer counts too.
    let result = result.and_then(|code| Ok(stdout::write(&[]).map(|()| code)?));
    result.unwrap_or_else(|error| failed(&error))
}

/// Says why the command failed, and gives its exit code.
fn failed(error: &anyhow::Error) -> ExitCode {
    let stdout = stdout::error_in(error);
    if !matches!(stdout, Some(StdoutError::Closed)) {
        errln!("windlass: {error:#}");
    }
    ExitCode::from(stdout.map_or(exit::USAGE, StdoutError::exit_code))
}

fn run(args: Args) -> anyhow::Result<ExitCode> {
    start_tracing();
    match args.command {
        Command::Drive(drive) => on_runtime(drive::run(&args.global, drive)),
        Command::Call(call) => on_runtime(call::run(&args.global, call)),
        Command::Tools(tools) => on_runtime(tools::run(&args.global, &tools)),
        Command::Query(query) => on_runtime(query::run(&args.global, query)),
        Command::Models => on_runtime(models::run(&args.global)),
        Command::Mcp(mcp) => on_runtime(mcp::run(&args.global, mcp)),
        Command::Serve(serve) => on_runtime(serve::run(&args.global, serve)),
        Command::Ps => on_runtime(ps::run(&args.global)),
        Command::Logs(logs) => on_runtime(logs::run(logs)),
        Command::Attach(attach) => on_runtime(attach::run(attach)),
        Command::Send(send) => on_runtime(send::run(send)),
        Command::Kill(kill) => on_runtime(send::kill(kill)),
        Command::Sessions(sessions) => on_runtime(sessions::run(&args.global, sessions)),
        Command::Permissions(permissions) => {
            on_runtime(permissions::run(&args.global, permissions))
        }
        Command::Questions => on_runtime(questions::list(&args.global)),
        Command::Answer(answer) => on_runtime(questions::answer(answer)),
        Command::Init => init::run(&args.global),
        Command::Trust(trust) => on_runtime(trust::run(&args.global, trust)),
        Command::Untrust(untrust) => trust::untrust(&args.global, &untrust),
        Command::Completions { shell } => {
            args::print_completions(shell)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Runs a subcommand on tokio and does not wait for threads that block.
fn on_runtime(command: impl Future<Output = anyhow::Result<ExitCode>>) -> anyhow::Result<ExitCode> {
    room::check_files()?;
    let workers = room::workers()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_all()
        .build()
        .context("the system refuses what every command needs; look at `ulimit -a`")?;
    let result = runtime.block_on(command);
    runtime.shutdown_background();
    result
}

/// Diagnostics go to stderr, and only when `WINDLASS_LOG` asks for them.
fn start_tracing() {
    let Ok(filter) = tracing_subscriber::EnvFilter::try_from_env("WINDLASS_LOG") else {
        return;
    };
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .init();
}
