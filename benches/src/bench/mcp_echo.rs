//! The floor of `mcp`: a bare server of the same library, with one tool that
//! returns a word.
//!
//! It is this executable, started with [`STDIO`] or [`HTTP`] as its only
//! argument, so that both sides of the comparison are separate processes.

use std::net::Ipv4Addr;
use std::sync::Arc;

use axum::Router;
use axum::serve::ListenerExt as _;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer, ServiceExt as _};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, ServerHandler};

/// Serves over stdin and stdout.
pub(super) const STDIO: &str = "mcp-echo-stdio";
/// Prints its address and serves over HTTP until its input ends.
pub(super) const HTTP: &str = "mcp-echo-http";

/// Serves, if the command line requests it.
pub(super) fn run_if_told() -> bool {
    let told = std::env::args().nth(1);
    let serving = match told.as_deref() {
        Some(STDIO) => serve(true),
        Some(HTTP) => serve(false),
        _ => return false,
    };
    serving.expect("it can serve");
    true
}

fn serve(stdio: bool) -> std::io::Result<()> {
    let executor = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let outcome = executor.block_on(async {
        if stdio {
            over_pipes().await
        } else {
            over_http().await
        }
    });
    executor.shutdown_background();
    outcome
}

async fn over_pipes() -> std::io::Result<()> {
    let transport = rmcp::transport::stdio();
    let running = Echo.serve(transport).await;
    let running = running.map_err(std::io::Error::other)?;
    running.waiting().await.map_err(std::io::Error::other)?;
    Ok(())
}

async fn over_http() -> std::io::Result<()> {
    let service = StreamableHttpService::new(
        || Ok(Echo),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    println!("{}", listener.local_addr()?);
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    let router = Router::new().nest_service("/mcp", service);
    let mut input = Vec::new();
    let mut stdin = tokio::io::stdin();
    let ended = tokio::io::AsyncReadExt::read_to_end(&mut stdin, &mut input);
    tokio::select! {
        outcome = axum::serve(listener, router).into_future() => outcome,
        _ = ended => Ok(()),
    }
}

#[derive(Clone)]
struct Echo;

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let said = vec![ContentBlock::text("nothing")];
        Ok(CallToolResult::success(said).into())
    }
}
