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
    /// List at most this many
    #[arg(long, short = 'n', default_value_t = 20, value_name = "N")]
    pub(crate) limit: usize,
}

#[derive(ClapArgs)]
pub(crate) struct GainArgs {
    /// A session's id or the end of it; `last` is the newest. Default: the newest sessions
    #[arg(add = ArgValueCompleter::new(complete::sessions))]
    pub(crate) session: Option<String>,
    /// How many sessions
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
        /// Its id or the end of it; `last` is the newest
        #[arg(add = ArgValueCompleter::new(complete::sessions))]
        id: String,
        /// Show the whole output of every call
        #[arg(long, short)]
        full: bool,
        /// Print what the assistant read of each call too
        #[arg(long)]
        seen: bool,
        /// Print all of the output of calls that were shown in part, with line numbers
        #[arg(long)]
        whole: bool,
    },
    /// Remove sessions in which nothing has happened for a while, with their logs
    Prune {
        /// How long, such as 12h, 30d or 8w
        #[arg(long, value_name = "TIME")]
        older_than: String,
        /// Remove only the output of their tools
        #[arg(long)]
        outputs: bool,
    },
}

#[derive(ClapArgs)]
pub(crate) struct HostsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<HostsCommand>,
}

#[derive(Subcommand)]
pub(crate) enum HostsCommand {
    /// Connect to a host and say what works there
    Check {
        /// Its name in `[hosts]`
        name: String,
    },
}

#[derive(ClapArgs)]
pub(crate) struct PermissionsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<PermissionsCommand>,
}

#[derive(Subcommand)]
pub(crate) enum PermissionsCommand {
    /// Say whether a call would run, and which rule decides, without running it
    Explain {
        /// The tool's name
        #[arg(add = ArgValueCompleter::new(complete::tools))]
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
    /// Check the configuration, the project's files included, and start nothing
    Check,
}

#[derive(ClapArgs)]
pub(crate) struct TrustArgs {
    /// The project's folder, or one below it; default: the current one
    #[arg(value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Trust the present content without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// List the projects that were decided about
    #[arg(long, conflicts_with_all = ["yes", "project"])]
    pub(crate) list: bool,
}

#[derive(ClapArgs)]
pub(crate) struct UntrustArgs {
    /// The project's folder, or one below it; default: the current one
    #[arg(value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
}
