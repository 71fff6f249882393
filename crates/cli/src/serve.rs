//! `windlass serve`: the runtime over HTTP, and all runtimes of this machine.

use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use windlass_serve_http::{
    Access, Api, ControlSocket, Limits, Server, Token, page, run_dir, tls_acceptor,
};

use crate::args::{Global, ServeArgs};
use crate::setup;
use crate::signals::Signals;

/// Where it listens unless told otherwise.
const USUAL: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8413);
/// How long tools have to leave when the server ends.
const GRACE: Duration = Duration::from_secs(2);

pub(crate) async fn run(global: &Global, args: ServeArgs) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::new()?;
    check(&args)?;
    let windlass = tokio::select! {
        windlass = setup::windlass(global) => Arc::new(windlass?),
        code = signals.next() => return Ok(ExitCode::from(code)),
    };
    let state = windlass::state_dir();
    let folder = run_dir(&state);
    let opening = Arc::clone(&windlass);
    let api = Api::new(windlass.runtime(), "serve")
        .opening(Arc::new(move |options| opening.session(options)))
        .reaching(&folder);
    let api = match windlass.record() {
        Ok(record) => api.recorded(Arc::new(record.clone())),
        Err(_) => api,
    };
    let socket =
        ControlSocket::listen(&folder, &api).context("the control socket cannot be made")?;
    let closing = CancellationToken::new();
    if args.socket {
        say_socket(global, socket.path())?;
    } else {
        let token_file = state.join("token");
        let token = Token::load(&token_file)
            .with_context(|| format!("the token in `{}` cannot be used", token_file.display()))?;
        let server = server(&args, &api, token.clone()).await?;
        let scheme = if server.tls.is_some() {
            "https"
        } else {
            "http"
        };
        let url = format!("{scheme}://{}", server.listener.local_addr()?);
        say(global, &url, &token, &token_file, socket.path())?;
        let (api, closing) = (api.clone(), closing.clone());
        tokio::spawn(async move { server.run(&api, closing).await });
    }
    let code = signals.next().await;
    closing.cancel();
    drop(socket);
    signals.finish(api.close(GRACE)).await;
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

async fn server(args: &ServeArgs, api: &Api, token: Token) -> anyhow::Result<Server> {
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
        router: access.guard(api.router().merge(page())),
        tls,
        limits: Limits::default(),
    })
}

fn say(
    global: &Global,
    url: &str,
    token: &Token,
    token_file: &Path,
    socket: &Path,
) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    if global.json {
        let line = json!({ "url": url, "token": token.as_str(), "socket": socket });
        writeln!(stdout, "{line}")?;
    } else {
        let (file, secret) = (token_file.display(), token.as_str());
        writeln!(stdout, "Windlass listens at {url}/#token={secret}")?;
        writeln!(stdout, "The token is in {file}")?;
        writeln!(stdout, "\nTry:")?;
        writeln!(stdout, "  windlass ps")?;
        writeln!(
            stdout,
            "  curl -H \"Authorization: Bearer $(cat {file})\" {url}/api/v1/sessions"
        )?;
        writeln!(stdout, "\nCtrl-C ends it, and what its sessions started.")?;
    }
    Ok(stdout.flush()?)
}

fn say_socket(global: &Global, socket: &Path) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    if global.json {
        writeln!(stdout, "{}", json!({ "socket": socket }))?;
    } else {
        writeln!(stdout, "Windlass listens at {}", socket.display())?;
    }
    Ok(stdout.flush()?)
}
