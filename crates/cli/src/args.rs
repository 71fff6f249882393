//! The command line.

use std::path::PathBuf;

use clap::{Args as ClapArgs, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;

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
#[derive(ClapArgs)]
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
    /// Write a commented config file to start from
    Init,
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
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
}

/// Writes a completion script to stdout.
pub(crate) fn print_completions(shell: Shell) {
    clap_complete::generate(
        shell,
        &mut Args::command(),
        "windlass",
        &mut std::io::stdout(),
    );
}
