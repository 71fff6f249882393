//! The `windlass` command.
//!
//! `args.rs` lists the subcommands; each has a module of its own. This is the
//! only crate that prints, and it does so through `stdout.rs`.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod ages;
mod args;
mod ask;
mod attach;
mod call;
mod chat;
mod complete;
mod config_command;
mod control;
mod diagnostics;
mod doctor;
mod draw;
mod drive;
mod exit;
mod gain;
mod held;
mod help;
mod host;
mod host_check;
mod host_survey;
mod init;
mod logs;
mod man;
mod mcp;
mod mcp_http;
mod models;
mod permissions;
mod person;
#[cfg(feature = "nats")]
mod pool_check;
mod print;
mod prompt;
mod ps;
mod query;
mod questions;
mod reach;
mod replies;
mod room;
mod run;
mod safe_text;
mod screen;
mod send;
mod serve;
mod session_name;
mod sessions;
mod setup;
mod signals;
mod stdout;
mod tools;
mod trust;
mod version;
#[cfg(feature = "nats")]
mod workers;
mod wrap;

use std::process::ExitCode;

use anyhow::Context as _;

use crate::args::{Args, CliCommand};
use crate::stdout::{StdoutError, errln};

fn main() -> ExitCode {
    // Must be first: this process may be a zygote.
    windlass::init();
    // Must run before other threads start.
    windlass::withdraw_credentials();
    complete::answer_shell();
    let result = match args::read() {
        Ok(args) => run(args),
        Err(unread) => args::explain(&unread),
    };
    // Flush: an error of buffered output counts too.
    let result = result.and_then(|code| Ok(stdout::write(&[]).map(|()| code)?));
    result.unwrap_or_else(|error| failed(&error))
}

/// Reports the error, and returns its exit code.
fn failed(error: &anyhow::Error) -> ExitCode {
    let stdout = stdout::error_in(error);
    if !matches!(stdout, Some(StdoutError::Closed)) {
        errln!("windlass: {error:#}");
    }
    ExitCode::from(stdout.map_or(exit::USAGE, StdoutError::exit_code))
}

fn run(args: Args) -> anyhow::Result<ExitCode> {
    print::choose(args.global.color);
    diagnostics::start();
    match args.command {
        CliCommand::Drive(drive) => on_runtime(drive::run(&args.global, drive)),
        CliCommand::Call(call) => on_runtime(call::run(&args.global, call)),
        CliCommand::Tools(tools) => on_runtime(tools::run(&args.global, &tools)),
        CliCommand::Chat(chat) => on_runtime(chat::run(&args.global, chat)),
        CliCommand::Query(query) => on_runtime(query::run(&args.global, query)),
        CliCommand::Models(models) => on_runtime(models::run(&args.global, models)),
        CliCommand::Mcp(mcp) => on_runtime(mcp::run(&args.global, mcp)),
        CliCommand::Serve(serve) => on_runtime(serve::run(&args.global, serve)),
        CliCommand::Run(run) => on_runtime(run::run(&args.global, run)),
        CliCommand::Ps(ps) => on_runtime(ps::run(&args.global, ps)),
        CliCommand::Logs(logs) => on_runtime(logs::run(&args.global, logs)),
        CliCommand::Attach(attach) => on_runtime(attach::run(&args.global, attach)),
        CliCommand::Send(send) => on_runtime(send::run(&args.global, send)),
        CliCommand::Kill(kill) => on_runtime(send::kill(&args.global, kill)),
        CliCommand::Gain(gain) => on_runtime(gain::run(&args.global, gain)),
        CliCommand::Config(config) => on_runtime(config_command::run(&args.global, config)),
        CliCommand::Doctor => on_runtime(doctor::run(&args.global)),
        CliCommand::Sessions(sessions) => on_runtime(sessions::run(&args.global, sessions)),
        CliCommand::Permissions(permissions) => {
            on_runtime(permissions::run(&args.global, permissions))
        }
        CliCommand::Questions => on_runtime(questions::list(&args.global)),
        CliCommand::Answer(answer) => on_runtime(questions::answer(&args.global, answer)),
        CliCommand::Host(host) => on_runtime(host::serve(host)),
        CliCommand::Hosts(hosts) => on_runtime(host::list(&args.global, hosts)),
        #[cfg(feature = "nats")]
        CliCommand::Workers(workers) => on_runtime(workers::list(&args.global, workers)),
        #[cfg(feature = "nats")]
        CliCommand::Worker(worker) => on_runtime(workers::work(worker)),
        CliCommand::Init => init::run(&args.global),
        CliCommand::Trust(trust) => on_runtime(trust::run(&args.global, trust)),
        CliCommand::Untrust(untrust) => trust::untrust(&args.global, &untrust),
        CliCommand::Completions { shell } => args::print_completions(&shell),
        CliCommand::Man { folder } => man::run(&folder),
    }
}

/// Runs a subcommand on tokio, without waiting for blocking threads at the end.
fn on_runtime(command: impl Future<Output = anyhow::Result<ExitCode>>) -> anyhow::Result<ExitCode> {
    room::check_files()?;
    let workers = room::workers()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_all()
        .build()
        .context("the system refuses a resource that every command needs; check `ulimit -a`")?;
    let result = runtime.block_on(command);
    runtime.shutdown_background();
    result
}
