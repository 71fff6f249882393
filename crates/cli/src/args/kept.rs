//! Arguments of the commands about the record, permissions, the configuration
//! and trust.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};
use clap_complete::engine::ArgValueCompleter;

use super::ReplyArgs;
use crate::complete;

#[derive(ClapArgs)]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<SessionsCommand>,
    /// List at most N sessions
    #[arg(long, short = 'n', default_value_t = 20, value_name = "N")]
    pub(crate) limit: usize,
}

#[derive(ClapArgs)]
pub(crate) struct GainArgs {
    /// A session's id or the last characters of it; `last` is the newest. Default: the newest sessions
    #[arg(add = ArgValueCompleter::new(complete::sessions))]
    pub(crate) session: Option<String>,
    /// Include at most N sessions
    #[arg(
        long,
        default_value_t = 20,
        value_name = "N",
        conflicts_with = "session"
    )]
    pub(crate) limit: usize,
}

#[derive(Subcommand)]
pub(crate) enum SessionsCommand {
    /// Show the messages and calls of a session
    Show {
        /// The session's id or the last characters of it; `last` is the newest
        #[arg(add = ArgValueCompleter::new(complete::sessions))]
        id: String,
        /// Show the whole output of every call
        #[arg(long, short)]
        full: bool,
        /// Also print the output that the assistant read of each call
        #[arg(long)]
        seen: bool,
        /// Print the whole output of calls that were shown in part, with line numbers
        #[arg(long)]
        whole: bool,
    },
    /// Remove sessions without recent activity, and their logs
    Prune {
        /// The time since the last activity, such as 12h, 30d or 8w
        #[arg(long, value_name = "TIME")]
        older_than: String,
        /// Remove only the output of their tools, and keep the sessions
        #[arg(long)]
        outputs: bool,
    },
}

#[derive(ClapArgs)]
pub(crate) struct HostArgs {
    /// Labels of this machine, which `windlass hosts check` shows
    #[arg(long, value_name = "LABEL", value_delimiter = ',')]
    pub(crate) labels: Vec<String>,
}

#[derive(ClapArgs)]
pub(crate) struct HostsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<HostsCommand>,
}

#[derive(Subcommand)]
pub(crate) enum HostsCommand {
    /// Connect to a host and report what works there
    Check {
        /// Its name in `[hosts]`
        name: String,
        /// Programs to look for there, in addition to `sh`, `git` and `python3`
        #[arg(value_name = "PROGRAM")]
        programs: Vec<String>,
    },
}

#[derive(ClapArgs)]
pub(crate) struct PermissionsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<PermissionsCommand>,
}

#[derive(Subcommand)]
pub(crate) enum PermissionsCommand {
    /// Show whether a call would run and which rule decides, without running it
    Explain {
        /// The tool's name
        #[arg(add = ArgValueCompleter::new(complete::tools))]
        tool: String,
        /// Its arguments as a JSON object; `-` reads them from stdin
        arguments: Option<String>,
    },
    /// List the permission requests that wait for a reply, in every session on this machine
    Pending,
    /// Reply to a permission request
    Reply(ReplyArgs),
    /// Forget a remembered rule
    Forget {
        /// The rule's number in the list
        id: i64,
    },
}

#[derive(ClapArgs)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show every value that is in effect, and where it comes from
    Show {
        /// Only keys that begin with this one
        #[arg(add = ArgValueCompleter::new(complete::config_keys))]
        key: Option<String>,
        /// Only values that are not the default
        #[arg(long)]
        changed: bool,
    },
    /// Show the files that are read, lowest layer first
    Path,
    /// Edit a config file in your editor, and check it afterwards
    Edit {
        /// Edit the project's file instead of your own
        #[arg(long)]
        project: bool,
    },
    /// Check the configuration, including the project's files, without starting anything
    Check,
}

#[derive(ClapArgs)]
pub(crate) struct TrustArgs {
    /// The project's folder, or one below it; default: the current folder
    #[arg(value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Trust the present content without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// List the projects that you have trusted or declined to trust
    #[arg(long, conflicts_with_all = ["yes", "project"])]
    pub(crate) list: bool,
}

#[derive(ClapArgs)]
pub(crate) struct UntrustArgs {
    /// The project's folder, or one below it; default: the current folder
    #[arg(value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
}
