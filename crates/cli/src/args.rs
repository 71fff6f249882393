//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args as ClapArgs, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;

use crate::exit;
use crate::mcp::install::{Client, Scope};
use crate::stdout;

/// Tools that last, for any AI assistant.
#[derive(Parser)]
#[command(name = "windlass", version, about, max_term_width = 100)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every subcommand takes.
#[derive(Clone, ClapArgs)]
pub(crate) struct Global {
    /// Read this config file too, after all others
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Vec<PathBuf>,
    /// Set a config value, such as `conversation.tools.shell.run="ask"`
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Work in this folder instead of the current one
    #[arg(long, short = 'C', global = true, value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// Print JSON, also on a terminal
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Drive the tools with one JSON value per line on stdin and stdout
    Drive(DriveArgs),
    /// Run one tool once; the exit code follows its result
    Call(CallArgs),
    /// List the tools, or show one as a model sees it
    Tools(ToolsArgs),
    /// Ask a model, which works with all the tools
    Query(QueryArgs),
    /// List the providers of models, and whether each can be asked
    Models,
    /// Serve the tools to an agent over MCP, on stdin and stdout or over HTTP
    Mcp(McpArgs),
    /// Serve the tools over HTTP, and show what every runtime of this machine does
    Serve(ServeArgs),
    /// List the sessions and handles of every runtime of this machine
    Ps,
    /// Print what a handle has written
    Logs(LogsArgs),
    /// Show a handle's terminal in this one and type into it; Ctrl-] leaves
    Attach(AttachArgs),
    /// Type into a handle
    Send(SendArgs),
    /// End a handle and everything it started
    Kill(KillArgs),
    /// List what was recorded, show a session, or remove old ones
    Sessions(SessionsArgs),
    /// List the remembered permissions, forget one, or explain what would become of a call
    Permissions(PermissionsArgs),
    /// List the questions that wait for an answer, in any session of this machine
    Questions,
    /// Answer a question of a tool; a secret is typed, or read from stdin
    Answer(AnswerArgs),
    /// Write a commented config file to start from
    Init,
    /// Show what a project's own configuration would do, and trust it
    Trust(TrustArgs),
    /// Trust a project no longer
    Untrust(UntrustArgs),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
}

#[derive(ClapArgs)]
pub(crate) struct TrustArgs {
    /// The project's folder, or one below it; the current one unless said
    #[arg(value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Trust what is there now without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// List the projects that were decided about
    #[arg(long, conflicts_with_all = ["yes", "project"])]
    pub(crate) list: bool,
}

#[derive(ClapArgs)]
pub(crate) struct UntrustArgs {
    /// The project's folder, or one below it; the current one unless said
    #[arg(value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
}

#[derive(ClapArgs)]
pub(crate) struct DriveArgs {
    /// Be asked for permissions, questions and the end of turns
    #[arg(long)]
    pub(crate) ask: bool,
}

#[derive(ClapArgs)]
pub(crate) struct QueryArgs {
    /// What to ask; without it, stdin or an editor
    pub(crate) message: Vec<String>,
    /// The model, as provider/name
    #[arg(long, short, env = "WINDLASS_MODEL", value_name = "PROVIDER/NAME")]
    pub(crate) model: Option<String>,
    /// Go on with the newest conversation of this project
    #[arg(long = "continue", short = 'c', conflicts_with = "session")]
    pub(crate) go_on: bool,
    /// Go on with the conversation of this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Ask the user nothing: what needs permission is rejected, questions take their default
    #[arg(long)]
    pub(crate) non_interactive: bool,
}

#[derive(ClapArgs)]
pub(crate) struct CallArgs {
    /// The tool's name
    pub(crate) tool: String,
    /// Its arguments as a JSON object; `-` reads them from stdin
    pub(crate) arguments: Option<String>,
}

#[derive(ClapArgs)]
pub(crate) struct ToolsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ToolsCommand>,
    /// Show this tool's schema; after `--` if it is called like a subcommand
    pub(crate) name: Option<String>,
    /// The schema's dialect: json-schema, anthropic, openai, openai-strict, gemini, mcp, ollama, …
    #[arg(long, value_name = "DIALECT")]
    pub(crate) dialect: Option<String>,
}

#[derive(Subcommand)]
pub(crate) enum ToolsCommand {
    /// Ask every program anew, and say what is wrong with any tool
    Check,
    /// Write a tool that works, and its config
    New(NewTool),
}

#[derive(ClapArgs)]
pub(crate) struct NewTool {
    /// What the tool is called
    pub(crate) name: String,
    /// What it is written in
    #[arg(long, value_enum, default_value_t = Language::Sh)]
    pub(crate) lang: Language,
    /// The folder of the package `windlass-sdk`, for a tool in Rust
    #[arg(long, value_name = "DIR", env = "WINDLASS_SDK")]
    pub(crate) sdk: Option<PathBuf>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum Language {
    Rust,
    Python,
    Sh,
}

#[derive(ClapArgs)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    pub(crate) command: Option<McpCommand>,
    /// Serve any number of clients at this address, such as 127.0.0.1:8414 or unix:PATH
    #[arg(long, value_name = "ADDR")]
    pub(crate) http: Option<String>,
    /// Answer a call after this many seconds, with a handle if it still runs; 50 unless said
    #[arg(long, value_name = "SECONDS")]
    pub(crate) max_block_secs: Option<f64>,
    /// End the session of an HTTP client that has been silent for so long
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 1800.0,
        requires = "http"
    )]
    pub(crate) idle_secs: f64,
    /// Name the session: the next one of that name is its successor, and there is one at a time
    #[arg(long, value_name = "NAME", conflicts_with = "http")]
    pub(crate) session: Option<String>,
}

#[derive(Subcommand)]
pub(crate) enum McpCommand {
    /// Add Windlass to an agent's config, or list the agents that are here
    Install(InstallArgs),
}

#[derive(ClapArgs)]
pub(crate) struct InstallArgs {
    /// The agent
    #[arg(value_enum)]
    pub(crate) client: Option<Client>,
    /// Whose config is changed
    #[arg(long, value_enum, default_value_t = Scope::User)]
    pub(crate) scope: Scope,
    /// Print what the config must hold, and change nothing
    #[arg(long)]
    pub(crate) print: bool,
    /// Write without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(ClapArgs)]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<SessionsCommand>,
    /// List at most this many
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub(crate) limit: usize,
}

#[derive(Subcommand)]
pub(crate) enum SessionsCommand {
    /// Show the calls of a session
    Show {
        /// Its id; `last` is the newest
        id: String,
    },
    /// Remove sessions that nothing has happened in for a while, with their logs
    Prune {
        /// How long, such as 12h, 30d or 8w
        #[arg(long, value_name = "TIME")]
        older_than: String,
        /// Remove only what their tools printed
        #[arg(long)]
        outputs: bool,
    },
}

#[derive(ClapArgs)]
pub(crate) struct PermissionsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<PermissionsCommand>,
}

#[derive(Subcommand)]
pub(crate) enum PermissionsCommand {
    /// Say what becomes of a call, and which rule decides, without running it
    Explain {
        /// The tool's name
        tool: String,
        /// Its arguments as a JSON object; `-` reads them from stdin
        arguments: Option<String>,
    },
    /// List the permissions that wait for a reply, in any session of this machine
    Pending,
    /// Reply to a permission that is being asked for
    Reply(ReplyArgs),
    /// Forget a remembered rule
    Forget {
        /// The rule's number in the list
        id: i64,
    },
}

#[derive(ClapArgs)]
pub(crate) struct ServeArgs {
    /// Listen at this address; 127.0.0.1:8413 unless said
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// Listen on the control socket only
    #[arg(long, conflicts_with = "listen")]
    pub(crate) socket: bool,
    /// Take requests that are addressed to this name too
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_host: Vec<String>,
    /// Encrypt with this certificate chain
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The certificate's private key
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Listen without encryption where others can reach it
    #[arg(long)]
    pub(crate) insecure: bool,
}

#[derive(ClapArgs)]
pub(crate) struct LogsArgs {
    /// The handle's id, or SESSION/HANDLE
    pub(crate) handle: String,
    /// Go on until the handle has stopped
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Leave out colours too
    #[arg(long)]
    pub(crate) plain: bool,
    /// Write every byte as it is, control sequences for the terminal included
    #[arg(long, conflicts_with = "plain")]
    pub(crate) raw: bool,
}

#[derive(ClapArgs)]
pub(crate) struct AttachArgs {
    /// The handle's id, or SESSION/HANDLE
    pub(crate) handle: String,
    /// Only look on: neither take over nor resize
    #[arg(long)]
    pub(crate) watch: bool,
}

#[derive(ClapArgs)]
pub(crate) struct SendArgs {
    /// The handle's id, or SESSION/HANDLE
    pub(crate) handle: String,
    /// What to type
    pub(crate) text: Option<String>,
    /// Do not press Enter after it
    #[arg(long)]
    pub(crate) no_enter: bool,
    /// Press this key after it, such as ctrl-c
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Vec<String>,
}

#[derive(ClapArgs)]
pub(crate) struct KillArgs {
    /// The handle's id, or SESSION/HANDLE
    pub(crate) handle: String,
}

#[derive(ClapArgs)]
pub(crate) struct ReplyArgs {
    /// The request's id, `per_…`
    pub(crate) permission: String,
    /// Yes, always or no
    #[arg(value_enum)]
    pub(crate) reply: Reply,
    /// A word to the assistant, with a rejection
    #[arg(long)]
    pub(crate) message: Option<String>,
}

#[derive(ClapArgs)]
pub(crate) struct AnswerArgs {
    /// The question's id, `q_…`
    pub(crate) question: String,
    /// The answer; without it you are asked, or stdin is read
    #[arg(allow_hyphen_values = true)]
    pub(crate) value: Option<String>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum Reply {
    Once,
    Always,
    Reject,
}

/// Writes a completion script to stdout.
pub(crate) fn print_completions(shell: Shell) -> std::io::Result<()> {
    // A writer that fails makes the generator panic, so it is given one that
    // does not.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "windlass", &mut script);
    stdout::write(&script)
}

/// Says why the command line was not taken, or gives the help or the version
/// that it asked for.
pub(crate) fn explain(unread: &clap::Error) -> anyhow::Result<ExitCode> {
    let printed = unread.print();
    if unread.use_stderr() {
        return Ok(ExitCode::from(exit::USAGE));
    }
    printed.map_err(stdout::error)?;
    Ok(ExitCode::SUCCESS)
}
