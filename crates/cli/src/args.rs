//! The command line.
//!
//! `CliCommand` lists the subcommands; their arguments are in the files below.
//! `help.rs` groups them and adds the examples, `complete.rs` completes their
//! values.

mod handles;
mod kept;
#[cfg(feature = "nats")]
mod pooled;
mod served;
mod used;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Args as ClapArgs, CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::engine::ArgValueCompleter;
use clap_complete::env::Shells;

use windlass::config::nearest;

use crate::complete;
use crate::exit;
use crate::help;
use crate::stdout;
use crate::version;

pub(crate) use handles::{
    AnswerArgs, AttachArgs, KillArgs, LogsArgs, PsArgs, ReplyArgs, ReplyChoice, RunArgs, SendArgs,
};
pub(crate) use kept::{
    ConfigArgs, ConfigCommand, GainArgs, HostArgs, HostsArgs, HostsCommand, PermissionsArgs,
    PermissionsCommand, SessionsArgs, SessionsCommand, TrustArgs, UntrustArgs,
};
#[cfg(feature = "nats")]
pub(crate) use pooled::{BrokerArgs, WorkerArgs, WorkersArgs, WorkersCommand};
pub(crate) use served::{InstallArgs, McpArgs, McpCommand, ServeArgs, UninstallArgs};
pub(crate) use used::{
    CallArgs, ChatArgs, DriveArgs, Language, ModelsArgs, NewTool, QueryArgs, ToolsArgs,
    ToolsCommand,
};

/// The first line of the help.
const ABOUT: &str =
    "A tool runtime for AI assistants: start, watch, answer, take over and stop long-running tools";

/// A tool runtime for AI assistants.
#[derive(Parser)]
#[command(name = "windlass", version, long_version = version::LONG, about = ABOUT, max_term_width = 100)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

/// The options of every subcommand.
#[derive(Clone, ClapArgs)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Also read this config file, after all others
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Vec<PathBuf>,
    /// Set a config value, such as `conversation.tools.shell.run="ask"`
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Work in this folder; default: the current folder
    #[arg(long, short = 'C', global = true, value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// Print JSON: one document, or one value per line with `-f` and `--watch`
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Colour the output: `always`, `never`, or `auto`: on a terminal, unless `NO_COLOR` is set
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value_t = ColorChoice::Auto,
        hide_possible_values = true
    )]
    pub(crate) color: ColorChoice,
}

/// When output is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ColorChoice {
    Auto,
    Always,
    Never,
}

#[derive(Subcommand)]
pub(crate) enum CliCommand {
    /// Talk with a model, message by message; its handles keep running between messages
    Chat(ChatArgs),
    /// Ask a model once; it can use all tools
    Query(QueryArgs),
    /// List the model providers, whether each is reachable, and the models it offers
    Models(ModelsArgs),
    /// Run a command as a handle that `ps` lists, and return its exit code
    Run(RunArgs),
    /// List the handles of every runtime on this machine, and who must answer those that wait
    Ps(PsArgs),
    /// Print the output of a handle
    Logs(LogsArgs),
    /// Show a handle's terminal in this terminal and type into it; Ctrl-] detaches
    Attach(AttachArgs),
    /// Type into a handle
    Send(SendArgs),
    /// End a handle and everything it started
    Kill(KillArgs),
    /// List the questions that wait for an answer, in every session on this machine
    Questions,
    /// Answer a question of a tool; a secret is read from the terminal without echo, or from stdin
    Answer(AnswerArgs),
    /// List remembered permissions, reply to a request, or explain whether a call would run
    Permissions(PermissionsArgs),
    /// Serve the tools to an agent over MCP, or add Windlass to an agent's config
    Mcp(McpArgs),
    /// Serve the tools over HTTP, with a page that shows every runtime on this machine
    Serve(ServeArgs),
    /// List the tools, show or check them, or create a new one
    Tools(ToolsArgs),
    /// Run one tool once; the exit code says whether it succeeded
    Call(CallArgs),
    /// Drive the tools with one JSON value per line on stdin and stdout
    Drive(DriveArgs),
    /// List the machines that tools run on, or check one
    Hosts(HostsArgs),
    /// List the workers of pools, with their slots, load and programs
    #[cfg(feature = "nats")]
    Workers(WorkersArgs),
    /// Join a pool: run tools for other machines on this one, until SIGTERM
    #[cfg(feature = "nats")]
    Worker(WorkerArgs),
    /// Run programs on this machine for a remote runtime, over stdin and stdout
    #[command(hide = true)]
    Host(HostArgs),
    /// List recorded sessions, show one, or remove old ones
    Sessions(SessionsArgs),
    /// Show how much output digests have saved, by session and tool
    Gain(GainArgs),
    /// Show the configuration with the origin of every value, edit it, or check it
    Config(ConfigArgs),
    /// Check this machine, the configuration, providers, agents and servers
    Doctor,
    /// Write a commented config file to start from
    Init,
    /// Show the effect of a project's own configuration, and trust it
    Trust(TrustArgs),
    /// Revoke the trust in a project
    Untrust(UntrustArgs),
    /// Print the completion script of a shell
    Completions {
        /// The shell: bash, elvish, fish, powershell or zsh
        #[arg(add = ArgValueCompleter::new(complete::shells))]
        shell: String,
    },
    /// Write the manual pages into a folder
    #[command(hide = true)]
    Man {
        /// The folder; created if it does not exist
        folder: PathBuf,
    },
}

/// Reads the command line.
pub(crate) fn read() -> Result<Args, clap::Error> {
    // Only help and errors need the texts of the help, which take longer than
    // the rest.
    let mut matches = match Args::command().try_get_matches() {
        Err(error) if error.kind() != ErrorKind::DisplayVersion => {
            help::command().try_get_matches()?
        }
        matches => matches?,
    };
    Args::from_arg_matches_mut(&mut matches)
}

/// Prints the completion script of a shell.
pub(crate) fn print_completions(shell: &str) -> anyhow::Result<ExitCode> {
    let shells = Shells::builtins();
    let Some(completer) = shells.completer(shell) else {
        let names: Vec<&str> = shells.names().collect();
        if let Some(near) = nearest(shell, names.iter().copied()) {
            anyhow::bail!("there is no completion for `{shell}`; did you mean `{near}`?");
        }
        anyhow::bail!(
            "there is no completion for `{shell}`; the shells are {}",
            names.join(", ")
        );
    };
    // Some generators panic on a failed write, so they write to memory.
    let mut script = Vec::new();
    completer.write_registration(
        complete::VARIABLE,
        "windlass",
        "windlass",
        "windlass",
        &mut script,
    )?;
    stdout::write(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the error of an invalid command line, or the requested help or version.
pub(crate) fn explain(unread: &clap::Error) -> anyhow::Result<ExitCode> {
    let printed = unread.print();
    if unread.use_stderr() {
        return Ok(ExitCode::from(exit::USAGE));
    }
    printed.map_err(stdout::error)?;
    Ok(ExitCode::SUCCESS)
}
