//! Arguments of the commands that serve others.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

use crate::mcp::install::{Client, Scope};

#[derive(ClapArgs)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    pub(crate) command: Option<McpCommand>,
    /// Serve any number of clients over HTTP at this address, such as 127.0.0.1:8414 or unix:PATH
    #[arg(long, value_name = "ADDR")]
    pub(crate) http: Option<String>,
    /// Reply to a call after this many seconds, with a handle if it is still running; default: 50
    #[arg(long, value_name = "SECONDS")]
    pub(crate) max_block_secs: Option<f64>,
    /// End the session of an HTTP client after this time without a request
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 1800.0,
        requires = "http"
    )]
    pub(crate) idle_secs: f64,
    /// Name the session; the next session with this name takes over its kept handles, and only one can run at a time
    #[arg(long, value_name = "NAME", conflicts_with = "http")]
    pub(crate) session: Option<String>,
    /// Do not take over the kept handles of earlier sessions
    #[arg(long)]
    pub(crate) fresh: bool,
}

#[derive(Subcommand)]
pub(crate) enum McpCommand {
    /// Add Windlass to an agent's config, or list the installed agents
    Install(InstallArgs),
    /// Remove Windlass from an agent's config
    Uninstall(UninstallArgs),
}

#[derive(ClapArgs)]
pub(crate) struct InstallArgs {
    /// The agent
    #[arg(value_enum)]
    pub(crate) client: Option<Client>,
    /// The config to change: yours or the project's
    #[arg(long, value_enum, default_value_t = Scope::User)]
    pub(crate) scope: Scope,
    /// Print the config entry without changing anything
    #[arg(long)]
    pub(crate) print: bool,
    /// Write without asking; AGENTS.md is changed only with `--agents-md`
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Add the paragraph about Windlass to the project's AGENTS.md
    #[arg(long)]
    pub(crate) agents_md: bool,
}

#[derive(ClapArgs)]
pub(crate) struct UninstallArgs {
    /// The agent
    #[arg(value_enum)]
    pub(crate) client: Client,
    /// The config to change: yours or the project's
    #[arg(long, value_enum, default_value_t = Scope::User)]
    pub(crate) scope: Scope,
    /// Write without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(ClapArgs)]
pub(crate) struct ServeArgs {
    /// Listen at this address; default: 127.0.0.1:8413
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// Listen on the control socket only
    #[arg(long, conflicts_with = "listen")]
    pub(crate) socket: bool,
    /// Also accept requests for this host name
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_host: Vec<String>,
    /// Serve over TLS with this certificate chain
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The certificate's private key
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Allow a listening address that other machines can reach without TLS
    #[arg(long)]
    pub(crate) insecure: bool,
    /// Replace the running server: take over its port, its kept handles and their sessions
    #[arg(long)]
    pub(crate) replace: bool,
}
