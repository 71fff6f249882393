//! `windlass serve`: the runtime over HTTP, and all runtimes of this machine.

use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use axum::Router;
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use windlass::Windlass;
use windlass_process::peer_is_tool;
use windlass_serve_http::{
    Access, Api, ControlSocket, Limits, Server, Token, page, run_dir, tls_acceptor,
};

use crate::args::{Global, ServeArgs};
use crate::control;
use crate::setup;
use crate::signals::Signals;
use crate::stdout;
use crate::trust;
use crate::{mcp, mcp_http};

/// Where it listens unless told otherwise.
const USUAL: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8413);
/// How long tools have to leave when the server ends.
const GRACE: Duration = Duration::from_secs(2);

/// The runtime. Agents that come by `/mcp` may lend MCP servers their model.
async fn set_up(global: &Global) -> anyhow::Result<Windlass> {
    trust::settle(global).await?;
    setup::build(setup::builder(global)?.lends_clients()).await
}

pub(crate) async fn run(global: &Global, args: ServeArgs) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::new()?;
    check(&args)?;
    let windlass = tokio::select! {
        windlass = set_up(global) => Arc::new(windlass?),
        code = signals.next() => return Ok(ExitCode::from(code)),
    };
    setup::await_trust(&windlass, global)?;
    setup::warn_of_record(&windlass);
    let state = windlass::state_dir();
    let folder = run_dir(&state);
    let opening = Arc::clone(&windlass);
    let api = Api::new(windlass.runtime(), "serve")
        .opening(Arc::new(move |options| opening.session(options)))
        .reaching(&folder);
    let api = control::looking_again(&windlass, control::recalling(&windlass, api));
    let socket = ControlSocket::listen(&folder, &api, peer_is_tool)
        .context("the control socket cannot be made")?;
    let closing = CancellationToken::new();
    let (mcp, mcp_sessions) =
        mcp_http::nested(&mcp::server(&windlass, None, None), closing.clone());
    if args.socket {
        say_socket(global, socket.path())?;
    } else {
        let token_file = state.join("token");
        let token = Token::load(&token_file)
            .with_context(|| format!("the token in `{}` cannot be used", token_file.display()))?;
        let server = server(&args, &api, mcp, token.clone()).await?;
        let scheme = if server.tls.is_some() {
            "https"
        } else {
            "http"
        };
        let url = format!("{scheme}://{}", server.listener.local_addr()?);
        if global.json {
            say_json(&url, &token, socket.path())?;
        } else {
            say(&args, &url, &token, &token_file)?;
        }
        let (api, closing) = (api.clone(), closing.clone());
        tokio::spawn(async move { server.run(&api, closing).await });
    }
    let code = signals.next().await;
    closing.cancel();
    drop(socket);
    let ending = async { tokio::join!(api.close(GRACE), mcp_sessions.close(GRACE)) };
    signals.finish(async { _ = ending.await }).await;
    Ok(ExitCode::from(code))
}

/// Others on the network must not read along, unless that is wanted.
fn check(args: &ServeArgs) -> anyhow::Result<()> {
    let address = args.listen.unwrap_or(USUAL);
    if !address.ip().is_loopback() && args.tls_cert.is_none() && !args.insecure {
        bail!(
            "`{address}` can be reached by others, who could read the token; \
             give --tls-cert and --tls-key, or --insecure if you know that it is safe"
        );
    }
    Ok(())
}

async fn server(args: &ServeArgs, api: &Api, mcp: Router, token: Token) -> anyhow::Result<Server> {
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(certificate), Some(key)) => Some(tls_acceptor(certificate, key)?),
        _ => None,
    };
    let address = args.listen.unwrap_or(USUAL);
    let listener = match TcpListener::bind(address).await {
        // Another server has the usual place; any other will do.
        Err(_) if args.listen.is_none() => TcpListener::bind((USUAL.ip(), 0)).await,
        bound => bound,
    };
    let listener = listener.with_context(|| format!("cannot listen at `{address}`"))?;
    let mut access = Access::new(api, token).open("/").open("/assets/");
    if !address.ip().is_unspecified() {
        access = access.host(address.ip().to_string());
    }
    for host in &args.allow_host {
        access = access.host(host);
    }
    Ok(Server {
        listener,
        router: access.guard(api.router().merge(page()).nest_service("/mcp", mcp)),
        tls,
        limits: Limits::default(),
        is_tool: peer_is_tool,
    })
}

fn say_json(url: &str, token: &Token, socket: &Path) -> anyhow::Result<()> {
    let mut stdout = stdout::lock();
    let mcp = format!("{url}/mcp");
    let line = json!({ "url": url, "mcp": mcp, "token": token.as_str(), "socket": socket });
    writeln!(stdout, "{line}")?;
    Ok(stdout.flush()?)
}

/// Where it is, where the token is, and two lines that begin a session and run
/// a call in it when they are pasted into a shell.
fn say(args: &ServeArgs, url: &str, token: &Token, token_file: &Path) -> anyhow::Result<()> {
    let mut stdout = stdout::lock();
    let (file, secret) = (quoted(token_file)?, token.as_str());
    let trust = match &args.tls_cert {
        Some(certificate) => format!(" --cacert {}", quoted(certificate)?),
        None => String::new(),
    };
    writeln!(stdout, "Windlass listens at {url}/#token={secret}")?;
    writeln!(stdout, "The token is in {}", token_file.display())?;
    writeln!(stdout, "\nTry, in another terminal:")?;
    writeln!(
        stdout,
        "  token=$(cat {file}); session=$(curl -s{trust} -H \"Authorization: Bearer $token\" \
         {url}/api/v1/sessions -d '{{\"trusted\":true}}' | cut -d'\"' -f4)"
    )?;
    writeln!(
        stdout,
        "  curl -s{trust} -H \"Authorization: Bearer $token\" {url}/api/v1/sessions/$session/calls \
         -d '[{{\"tool\":\"shell\",\"arguments\":{{\"command\":\"echo hello\"}}}}]'"
    )?;
    writeln!(
        stdout,
        "\nFor an agent that speaks MCP, such as Claude Code:\n  claude mcp add --transport http windlass {url}/mcp \
         --header \"Authorization: Bearer $(cat {file})\""
    )?;
    writeln!(
        stdout,
        "\n`windlass ps` shows what runs. Ctrl-C ends it all, and what its sessions started."
    )?;
    Ok(stdout.flush()?)
}

/// A path as a shell reads it.
fn quoted(path: &Path) -> anyhow::Result<String> {
    let text = path.display().to_string();
    Ok(shlex::try_quote(&text)?.into_owned())
}

fn say_socket(global: &Global, socket: &Path) -> anyhow::Result<()> {
    let mut stdout = stdout::lock();
    if global.json {
        writeln!(stdout, "{}", json!({ "socket": socket }))?;
    } else {
        writeln!(stdout, "Windlass listens at {}", socket.display())?;
    }
    Ok(stdout.flush()?)
}
