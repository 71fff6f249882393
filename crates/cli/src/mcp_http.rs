//! MCP over HTTP, for any number of clients.
//!
//! [`serve`] is `windlass mcp --http`: each client must present the token,
//! except on a Unix socket, which is protected by its file permissions.
//! [`nested`] is `/mcp` of `windlass serve`, which authenticates clients
//! itself.

use std::fs::Permissions;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use crate::stdout::errln;
use anyhow::{Context as _, bail};
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::serve::{Listener, ListenerExt as _};
use axum::{Extension, Router};
use tokio::net::{TcpListener, UnixListener};
use tokio_util::sync::CancellationToken;
use windlass_control::admit;
use windlass_process::peer_is_tool;
use windlass_serve_http::{BearerCheck, Token};
use windlass_serve_mcp::{
    ClientIdentity, HttpOptions, HttpSessions, McpServer, http_router, serve_router,
};

/// The variable with the token. If it is unset, a token is generated and
/// printed.
const TOKEN: &str = "WINDLASS_TOKEN";

pub(crate) async fn serve(
    server: &McpServer,
    address: &str,
    idle: Duration,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let options = HttpOptions {
        idle,
        stop: stop.clone(),
        ..HttpOptions::default()
    };
    let (router, sessions) = http_router(server, options);
    let router = Router::new().nest_service("/mcp", router);
    let outcome = match address.strip_prefix("unix:") {
        Some(path) => serve_unix(router, Path::new(path), stop).await,
        None => serve_tcp(router, address, stop).await,
    };
    sessions.close(Duration::MAX).await;
    outcome
}

/// The router for `windlass serve`, which checks token, host and origin itself.
pub(crate) fn nested(server: &McpServer, stop: CancellationToken) -> (Router, HttpSessions) {
    let options = HttpOptions {
        guarded: true,
        stop,
        ..HttpOptions::default()
    };
    let (router, sessions) = http_router(server, options);
    (
        router.layer(Extension(ClientIdentity("serve".into()))),
        sessions,
    )
}

/// A listener that refuses connections of tools.
struct Gated<L>(L);

impl<L> Listener for Gated<L>
where
    L: Listener,
    L::Io: AsFd,
{
    type Io = L::Io;
    type Addr = L::Addr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let (stream, address) = self.0.accept().await;
            if let Some(stream) = admit(stream, peer_is_tool).await {
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.0.local_addr()
    }
}

async fn serve_unix(router: Router, path: &Path, stop: CancellationToken) -> anyhow::Result<()> {
    let listener = UnixListener::bind(path)
        .with_context(|| format!("cannot listen at `{}`", path.display()))?;
    let listener = Gated(listener);
    std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
    errln!("windlass: MCP at unix:{}", path.display());
    let router = router.layer(middleware::from_fn(local));
    let outcome = serve_router(listener, router, stop).await;
    let _ = std::fs::remove_file(path);
    Ok(outcome?)
}

async fn serve_tcp(router: Router, address: &str, stop: CancellationToken) -> anyhow::Result<()> {
    let listener = listen(address).await?;
    let token = token()?;
    errln!("windlass: MCP at http://{}/mcp", listener.local_addr()?);
    // Replies are small, and the client waits for them.
    let listener = Gated(listener).tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    let router = router.layer(middleware::from_fn_with_state(token, bearer));
    Ok(serve_router(listener, router, stop).await?)
}

async fn listen(address: &str) -> anyhow::Result<TcpListener> {
    let address: SocketAddr = address.parse().with_context(|| {
        format!("`{address}` is not an address; use 127.0.0.1:PORT or unix:PATH")
    })?;
    if !address.ip().is_loopback() {
        bail!(
            "`{address}` can be reached from other machines; use 127.0.0.1:{}",
            address.port()
        );
    }
    TcpListener::bind(address)
        .await
        .with_context(|| format!("cannot listen at `{address}`"))
}

/// The token that clients must present.
fn token() -> anyhow::Result<Token> {
    if let Some(token) = windlass::variable(TOKEN)
        && !token.is_empty()
    {
        return Token::new(&token)
            .with_context(|| format!("{TOKEN} is invalid; without it, a token is generated"));
    }
    let token = Token::generate()?;
    errln!(
        "windlass: clients must send `Authorization: Bearer {}`; {TOKEN} sets another",
        token.as_str()
    );
    Ok(token)
}

async fn bearer(State(token): State<Token>, mut request: Request, next: Next) -> Response {
    if token.check(request.headers()) != BearerCheck::Accepted {
        let wanted = [(header::WWW_AUTHENTICATE, "Bearer")];
        let how = format!(
            "send `Authorization: Bearer TOKEN`, with the token that is set in {TOKEN} or was printed at start"
        );
        return (StatusCode::UNAUTHORIZED, wanted, how).into_response();
    }
    let identity = ClientIdentity(token.as_str().into());
    request.extensions_mut().insert(identity);
    next.run(request).await
}

async fn local(mut request: Request, next: Next) -> Response {
    request
        .extensions_mut()
        .insert(ClientIdentity("local".into()));
    next.run(request).await
}
