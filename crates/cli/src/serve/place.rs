//! The place of a server: its listening socket and router.

use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;

use anyhow::{Context as _, bail};
use axum::Router;
use tokio_util::sync::CancellationToken;
use windlass_control::{Api, Limits};
use windlass_process::peer_is_tool;
use windlass_serve_http::{Access, Server, TlsAcceptor, Token, page, tls_acceptor};

use crate::args::ServeArgs;

/// The default address.
const USUAL: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8413);

/// A port that can be served more than once.
pub(super) struct ServerPlace {
    pub(super) listener: TcpListener,
    tls: Option<TlsAcceptor>,
}

impl ServerPlace {
    /// Listens on the address of the command line.
    pub(super) fn new(args: &ServeArgs) -> anyhow::Result<Self> {
        let address = args.listen.unwrap_or(USUAL);
        check(args, address)?;
        let listener = match TcpListener::bind(address) {
            // Another server has the default port; use any other.
            Err(_) if args.listen.is_none() => TcpListener::bind((USUAL.ip(), 0)),
            bound => bound,
        };
        let listener = listener.with_context(|| format!("cannot listen at `{address}`"))?;
        Self::at(args, listener)
    }

    /// Takes over the socket of another server.
    pub(super) fn taken(args: &ServeArgs, listener: OwnedFd) -> anyhow::Result<Self> {
        let listener = TcpListener::from(listener);
        check(args, listener.local_addr()?)?;
        Self::at(args, listener)
    }

    fn at(args: &ServeArgs, listener: TcpListener) -> anyhow::Result<Self> {
        let tls = match (&args.tls_cert, &args.tls_key) {
            (Some(certificate), Some(key)) => Some(tls_acceptor(certificate, key)?),
            _ => None,
        };
        listener.set_nonblocking(true)?;
        Ok(Self { listener, tls })
    }

    pub(super) fn url(&self) -> anyhow::Result<String> {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        Ok(format!("{scheme}://{}", self.listener.local_addr()?))
    }

    /// The interface, the page and MCP, for clients with the token.
    pub(super) fn router(
        &self,
        args: &ServeArgs,
        api: &Api,
        beside: Router,
        token: Token,
    ) -> anyhow::Result<Router> {
        let address = self.listener.local_addr()?;
        let mut access = Access::new(api, token).open("/").open("/assets/");
        if !address.ip().is_unspecified() {
            access = access.host(address.ip().to_string());
        }
        for host in &args.allow_host {
            access = access.host(host);
        }
        Ok(access.guard(api.router().merge(page()).merge(beside)))
    }

    /// Serves until it is ordered to leave or to close.
    pub(super) fn serve(
        &self,
        router: Router,
        api: &Api,
        closing: CancellationToken,
    ) -> anyhow::Result<tokio::task::JoinHandle<()>> {
        let listener = self.listener.try_clone()?;
        let server = Server {
            listener: tokio::net::TcpListener::from_std(listener)?,
            router,
            tls: self.tls.clone(),
            limits: Limits::default(),
            is_tool: peer_is_tool,
        };
        let api = api.clone();
        Ok(windlass_task::spawn(async move {
            server.run(&api, closing).await;
        }))
    }
}

/// Refuses unencrypted connections from the network, unless they are explicitly
/// allowed.
fn check(args: &ServeArgs, address: SocketAddr) -> anyhow::Result<()> {
    if !address.ip().is_loopback() && args.tls_cert.is_none() && !args.insecure {
        bail!(
            "`{address}` can be reached from other machines, and without TLS they could read the \
             token; give --tls-cert and --tls-key, or --insecure if the network is safe"
        );
    }
    Ok(())
}
