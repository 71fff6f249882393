//! `windlass mcp`: the tools for any agent that speaks MCP.

pub(crate) mod install;
mod unusable;
mod upstream;

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use tokio_util::sync::CancellationToken;
use windlass::config::TaskSetting;
use windlass::{Succession, Windlass};
use windlass_serve_mcp::{
    McpOptions, McpServer, SessionSuccession, StdioError, TaskPolicy, serve_stdio,
};

use crate::args::{Global, McpArgs, McpCommand};
use crate::control;
use crate::mcp_http;
use crate::session_name::{self, SessionName};
use crate::setup;
use crate::signals::Signals;
use crate::stdout::{self, errln};
use upstream::Upstreams;

/// For a user who starts it manually.
const ON_TERMINAL: &str = "windlass: this is the MCP server. It waits for an agent's JSON messages on stdin.\n\
    `windlass mcp install` adds it to an agent's config; `windlass mcp --http 127.0.0.1:8414` serves over HTTP.\n\
    `windlass query` is an assistant for people. Ctrl-C ends this server.";

pub(crate) async fn run(global: &Global, args: McpArgs) -> anyhow::Result<ExitCode> {
    match &args.command {
        Some(McpCommand::Install(args)) => return install::run(global, args).await,
        Some(McpCommand::Uninstall(args)) => return install::uninstall(global, args).await,
        None => {}
    }
    let mut signals = Signals::new()?;
    let max_block = args.max_block_secs;
    let max_block = max_block.map(|given| seconds(given, "--max-block-secs"));
    let max_block = max_block.transpose()?;
    let idle = seconds(args.idle_secs, "--idle-secs")?;
    if let Some(name) = &args.session {
        session_name::check(name)?;
    }
    if args.http.is_none() && std::io::stdin().is_terminal() {
        errln!("{ON_TERMINAL}");
    }
    let stop = CancellationToken::new();
    let serving = async {
        let set_up = async {
            let builder = setup::builder(global)?;
            let report = |problem: &str| errln!("windlass: {problem}");
            setup::build(builder.late_servers(report).lends_clients()).await
        };
        let set_up = tokio::select! {
            set_up = set_up => set_up,
            // Nothing runs yet.
            () = stop.cancelled() => return Ok(()),
        };
        let mut _name = None;
        let (server, _reachable) = match set_up {
            Ok(windlass) => {
                if let Some(name) = &args.session {
                    _name = Some(SessionName::take(name, &windlass.config().root).await?);
                }
                let windlass = Arc::new(windlass);
                setup::await_trust(&windlass, global)?;
                setup::warn_of_record(&windlass);
                let reachable = control::listen(&windlass, "mcp");
                let mut server = server(&windlass, max_block, args.session.clone());
                if !args.fresh {
                    server = server.with_succession(succession(&windlass));
                }
                (server, Some(reachable))
            }
            Err(error) => {
                errln!("windlass: {error:#}");
                (unusable::server(global, &error), None)
            }
        };
        if let Some(address) = &args.http {
            return mcp_http::serve(&server, address, idle, stop.clone()).await;
        }
        let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
        let outcome = Box::pin(serve_stdio(&server, input, output, stop.clone())).await;
        match outcome {
            Err(StdioError::Output(error)) => Err(stdout::error(error).into()),
            outcome => Ok(outcome?),
        }
    };
    tokio::pin!(serving);
    let code = tokio::select! {
        outcome = &mut serving => {
            outcome?;
            return Ok(ExitCode::SUCCESS);
        }
        code = signals.next() => code,
    };
    stop.cancel();
    signals
        .finish(async {
            // Errors while it is being stopped do not matter.
            let _ = serving.await;
        })
        .await;
    Ok(ExitCode::from(code))
}

/// The MCP server. The maximum blocking time of a call is the argument;
/// default: the configured one.
pub(crate) fn server(
    windlass: &Arc<Windlass>,
    max_block: Option<Duration>,
    session: Option<String>,
) -> McpServer {
    let usual = McpOptions::default();
    let config = &windlass.config().mcp;
    let options = McpOptions {
        max_block: max_block.or(config.max_block).unwrap_or(usual.max_block),
        tasks: match config.tasks {
            None | Some(TaskSetting::Auto) => TaskPolicy::Auto,
            Some(TaskSetting::Never) => TaskPolicy::Never,
            Some(TaskSetting::After(time)) => TaskPolicy::After(time),
        },
        structured: config.structured,
        session,
        ..usual
    };
    let runtime = windlass.runtime().clone();
    let opening = Arc::clone(windlass);
    let factory = Arc::new(move |options| opening.session(options));
    let server = McpServer::new(runtime, factory, options);
    let servers = windlass.mcp_servers();
    if servers.is_empty() {
        server
    } else {
        server.with_upstream(Arc::new(Upstreams::new(servers)))
    }
}

/// Lets a session take over the kept handles of its predecessor: the one of the
/// same name or, without a name, those of the same project and client.
pub(crate) fn succession(windlass: &Arc<Windlass>) -> SessionSuccession {
    let windlass = Arc::clone(windlass);
    Arc::new(move |session| {
        let windlass = Arc::clone(&windlass);
        Box::pin(async move {
            let succession = match session.name() {
                Some(name) => Succession::Named(name.to_owned()),
                None => Succession::Client {
                    front_end: "mcp".to_owned(),
                    client: session.client_name().map(str::to_owned),
                },
            };
            windlass.succeed(&session, &succession, true).await;
        })
    })
}

fn seconds(seconds: f64, flag: &str) -> anyhow::Result<Duration> {
    Duration::try_from_secs_f64(seconds)
        .with_context(|| format!("{flag} must be a non-negative number of seconds, not {seconds}"))
}
