//! Passes log levels and change notifications between clients and the servers
//! with prompts and resources.

#![expect(
    deprecated,
    reason = "the newest version of the protocol has no logging; the clients of all others have"
)]

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{ConstString, LoggingLevel};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};

use crate::conversation::ClientSession;
use crate::listen::Level;
use crate::progress::{LogWish, Requester};
use crate::server::{McpServer, is_stateless};
use crate::upstream::{self, Subscription, Upstream, UpstreamNews, UpstreamRequest};

impl McpServer {
    /// The upstream with prompts and resources; without one, the method is
    /// unknown.
    pub(crate) fn having<M: ConstString>(&self) -> Result<&Arc<dyn Upstream>, ErrorData> {
        let upstream = self.upstream.as_ref();
        upstream.ok_or_else(ErrorData::method_not_found::<M>)
    }

    /// Passes on a client's minimum level of log lines.
    pub(crate) async fn want_logs(&self, level: LoggingLevel) {
        if let Some(upstream) = &self.upstream {
            let level = serde_json::json!(level);
            // Servers that do not log are as they are.
            let _ = upstream.ask(UpstreamRequest::LogLevel(level)).await;
        }
    }

    /// The request that a call answers.
    pub(crate) async fn caller(
        &self,
        conversation: &Arc<ClientSession>,
        context: &RequestContext<RoleServer>,
    ) -> Requester {
        let log = if is_stateless(context) {
            let level = context.meta.log_level();
            if let Some(level) = level {
                self.want_logs(level).await;
            }
            LogWish::OfRequest(level.map(Level::from))
        } else {
            LogWish::OfClient(Arc::clone(conversation))
        };
        Requester {
            peer: context.peer.clone(),
            token: context.meta.get_progress_token(),
            log,
        }
    }

    /// Sends changes of prompts and resources to a stream. Never resolves.
    pub(crate) async fn tell_listener(&self, context: &SubscriptionContext) {
        let Some(upstream) = &self.upstream else {
            return std::future::pending().await;
        };
        let mut news = upstream.news();
        let accepted = context.accepted();
        let uris = accepted.resource_subscriptions.clone().unwrap_or_default();
        let mut subscriptions = Vec::new();
        for uri in &uris {
            // One that no server has never changes.
            subscriptions.extend(Subscription::begin(upstream, uri).await.ok());
        }
        while let Some(news) = upstream::next(&mut news).await {
            let sink = context.sink();
            // A stream that is gone is cancelled.
            let _ = match news {
                UpstreamNews::Prompts if accepted.prompts_list_changed == Some(true) => {
                    sink.notify_prompt_list_changed().await
                }
                UpstreamNews::Resources if accepted.resources_list_changed == Some(true) => {
                    sink.notify_resource_list_changed().await
                }
                UpstreamNews::Resource(uri) if uris.contains(&uri) => {
                    sink.notify_resource_updated(uri).await
                }
                _ => continue,
            };
        }
        std::future::pending::<()>().await;
    }
}
