//! Arguments of the commands that use models and tools.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};
use clap_complete::engine::ArgValueCompleter;

use crate::complete;

#[derive(ClapArgs)]
pub(crate) struct DriveArgs {
    /// Receive requests for permissions, questions and turn ends as lines on stdout
    #[arg(long)]
    pub(crate) ask: bool,
    /// Name the session; it takes over the kept handles of the last session with this name
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// Ignore Ctrl-C and leave it to the driver; the end of stdin ends everything
    #[arg(long)]
    pub(crate) ignore_interrupts: bool,
}

#[derive(ClapArgs)]
pub(crate) struct ChatArgs {
    /// The model, as provider/name
    #[arg(
        long,
        short,
        env = "WINDLASS_MODEL",
        value_name = "PROVIDER/NAME",
        add = ArgValueCompleter::new(complete::models)
    )]
    pub(crate) model: Option<String>,
    /// Continue the newest conversation of this project
    #[arg(long = "continue", short = 'c', conflicts_with = "session")]
    pub(crate) go_on: bool,
    /// Continue the conversation of this session
    #[arg(long, value_name = "ID", add = ArgValueCompleter::new(complete::sessions))]
    pub(crate) session: Option<String>,
    /// The first message
    pub(crate) message: Vec<String>,
}

#[derive(ClapArgs)]
pub(crate) struct QueryArgs {
    /// The message; without it, read from stdin or written in an editor
    pub(crate) message: Vec<String>,
    /// The model, as provider/name
    #[arg(
        long,
        short,
        env = "WINDLASS_MODEL",
        value_name = "PROVIDER/NAME",
        add = ArgValueCompleter::new(complete::models)
    )]
    pub(crate) model: Option<String>,
    /// Continue the newest conversation of this project
    #[arg(long = "continue", short = 'c', conflicts_with = "session")]
    pub(crate) go_on: bool,
    /// Continue the conversation of this session
    #[arg(long, value_name = "ID", add = ArgValueCompleter::new(complete::sessions))]
    pub(crate) session: Option<String>,
    /// Never prompt: reject calls that need permission, answer questions with their default
    #[arg(long)]
    pub(crate) non_interactive: bool,
}

#[derive(ClapArgs)]
pub(crate) struct ModelsArgs {
    /// List the models of this provider only
    #[arg(add = ArgValueCompleter::new(complete::providers))]
    pub(crate) provider: Option<String>,
    /// Query no provider; show only which ones are configured
    #[arg(long)]
    pub(crate) offline: bool,
}

#[derive(ClapArgs)]
pub(crate) struct CallArgs {
    /// The tool's name
    #[arg(add = ArgValueCompleter::new(complete::tools))]
    pub(crate) tool: String,
    /// Its arguments as a JSON object; `-` reads them from stdin
    pub(crate) arguments: Option<String>,
}

#[derive(ClapArgs)]
pub(crate) struct ToolsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ToolsCommand>,
    /// The tool to show; put it after `--` if a subcommand has the same name
    #[arg(add = ArgValueCompleter::new(complete::tools))]
    pub(crate) name: Option<String>,
    /// Print schemas in a dialect: json-schema, anthropic, openai, openai-strict, gemini, mcp, ollama, …
    #[arg(long, value_name = "DIALECT", add = ArgValueCompleter::new(complete::dialects))]
    pub(crate) dialect: Option<String>,
}

#[derive(Subcommand)]
pub(crate) enum ToolsCommand {
    /// Run every program for its description again, and list the faults of every tool
    Check,
    /// Create a working tool and its config
    New(NewTool),
}

#[derive(ClapArgs)]
pub(crate) struct NewTool {
    /// The tool's name
    pub(crate) name: String,
    /// The language of the tool
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
