//! The prompts and resources of the MCP servers whose tools are offered.

use async_trait::async_trait;
use futures_util::future::join_all;
use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use serde_json::Value;
use tokio::sync::broadcast;
use windlass::mcp_client::{PassError, PassedRequest, ServerNews, UpstreamServer};
use windlass_serve_mcp::{Upstream, UpstreamNews, UpstreamRequest};

/// Several servers as one: lists are joined, and other requests are answered by
/// the first server that can.
pub(super) struct Upstreams {
    servers: Vec<UpstreamServer>,
    news: broadcast::Sender<UpstreamNews>,
}

/// How many changes are buffered for a slow listener.
const NEWS: usize = 256;

impl Upstreams {
    pub(super) fn new(servers: &[UpstreamServer]) -> Self {
        let news = broadcast::Sender::new(NEWS);
        for server in servers {
            let (mut of_server, news) = (server.news(), news.clone());
            windlass_task::spawn(async move {
                loop {
                    let told = match of_server.recv().await {
                        Ok(ServerNews::Prompts) => UpstreamNews::Prompts,
                        Ok(ServerNews::Resources) => UpstreamNews::Resources,
                        Ok(ServerNews::Resource(uri)) => UpstreamNews::Resource(uri),
                        Err(broadcast::error::RecvError::Lagged(_)) => continue,
                        Err(broadcast::error::RecvError::Closed) => return,
                    };
                    // There may be no listener.
                    let _ = news.send(told);
                }
            });
        }
        Self {
            servers: servers.to_vec(),
            news,
        }
    }
}

#[async_trait]
impl Upstream for Upstreams {
    async fn ask(&self, request: UpstreamRequest) -> Result<Value, ErrorData> {
        let (request, is_list) = match request {
            UpstreamRequest::Prompts => (PassedRequest::Prompts, true),
            UpstreamRequest::Resources => (PassedRequest::Resources, true),
            UpstreamRequest::ResourceTemplates => (PassedRequest::ResourceTemplates, true),
            UpstreamRequest::Prompt(params) => (PassedRequest::Prompt(params), false),
            UpstreamRequest::Resource(params) => (PassedRequest::Resource(params), false),
            UpstreamRequest::Complete(params) => (PassedRequest::Complete(params), false),
            UpstreamRequest::LogLevel(level) => (PassedRequest::LogLevel(level), false),
            UpstreamRequest::Subscribe(uri) => (PassedRequest::Subscribe(uri), false),
            UpstreamRequest::Unsubscribe(uri) => (PassedRequest::Unsubscribe(uri), false),
        };
        let asking = self
            .servers
            .iter()
            .map(|server| server.pass(request.clone()));
        let answers = join_all(asking).await;
        if is_list {
            // A server that has none of them, or is not running, adds nothing.
            let lists = answers.into_iter().flatten();
            let items = lists.filter_map(|list| match list {
                Value::Array(items) => Some(items),
                _ => None,
            });
            return Ok(items.flatten().collect());
        }
        let mut refusal = None;
        for answer in answers {
            match answer {
                Ok(answer) => return Ok(answer),
                // Prefer the error of a server that knows the method.
                Err(PassError::Refused { code, .. }) if code == ErrorCode::METHOD_NOT_FOUND.0 => {}
                Err(PassError::Refused {
                    code,
                    message,
                    data,
                }) => refusal = Some(ErrorData::new(ErrorCode(code), message, data)),
                Err(PassError::Server(error)) => {
                    refusal
                        .get_or_insert_with(|| ErrorData::internal_error(error.to_string(), None));
                }
            }
        }
        let none = || ErrorData::invalid_params("no MCP server has it", None);
        Err(refusal.unwrap_or_else(none))
    }

    fn news(&self) -> broadcast::Receiver<UpstreamNews> {
        self.news.subscribe()
    }
}
