//! Prompts, resources and completions of the MCP servers whose tools are
//! offered.

use std::sync::Arc;

use async_trait::async_trait;
use rmcp::ErrorData;
use rmcp::model::{InputRequiredResult, ResourceUpdatedNotificationParam};
use rmcp::service::{Peer, RequestContext, RoleServer};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::broadcast;

use crate::conversation::ClientSession;
use crate::server::is_stateless;

/// A request that is not a tool call. Parameters and replies are as in the
/// protocol.
#[derive(Debug, Clone)]
pub enum UpstreamRequest {
    /// All prompts; a list.
    Prompts,
    Prompt(Value),
    /// All resources; a list.
    Resources,
    /// All templates of resources; a list.
    ResourceTemplates,
    /// The contents of a resource.
    Resource(Value),
    /// Completions of an argument.
    Complete(Value),
    /// A client's minimum level of log lines.
    LogLevel(Value),
    /// Another client subscribes to a resource, by its URI.
    Subscribe(String),
    /// One client less does.
    Unsubscribe(String),
}

/// Something of theirs has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpstreamNews {
    Prompts,
    /// The list of resources.
    Resources,
    /// A subscribed resource, by its URI.
    Resource(String),
}

/// A source of prompts and resources.
#[async_trait]
pub trait Upstream: Send + Sync + 'static {
    /// Answers a request.
    async fn ask(&self, request: UpstreamRequest) -> Result<Value, ErrorData>;

    /// Subscribes to changes.
    fn news(&self) -> broadcast::Receiver<UpstreamNews>;
}

/// A subscription to a resource. Dropping it unsubscribes.
pub(crate) struct Subscription {
    upstream: Arc<dyn Upstream>,
    uri: String,
}

impl Subscription {
    pub(crate) async fn begin(upstream: &Arc<dyn Upstream>, uri: &str) -> Result<Self, ErrorData> {
        let request = UpstreamRequest::Subscribe(uri.to_owned());
        upstream.ask(request).await?;
        Ok(Self {
            upstream: Arc::clone(upstream),
            uri: uri.to_owned(),
        })
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let request = UpstreamRequest::Unsubscribe(std::mem::take(&mut self.uri));
        let upstream = Arc::clone(&self.upstream);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { upstream.ask(request).await });
        }
    }
}

/// Sends changes to a client of an older version, for as long as it is
/// connected.
pub(crate) fn tell_news(
    upstream: &Arc<dyn Upstream>,
    conversation: &Arc<ClientSession>,
    peer: Peer<RoleServer>,
) {
    let mut news = upstream.news();
    let conversation = Arc::downgrade(conversation);
    windlass_task::spawn(async move {
        while let Some(news) = next(&mut news).await {
            let Some(conversation) = conversation.upgrade() else {
                return;
            };
            let told = match news {
                UpstreamNews::Prompts => peer.notify_prompt_list_changed().await,
                UpstreamNews::Resources => peer.notify_resource_list_changed().await,
                UpstreamNews::Resource(uri) => {
                    if !conversation.subscriptions.lock().contains_key(&uri) {
                        continue;
                    }
                    let params = ResourceUpdatedNotificationParam::new(uri);
                    peer.notify_resource_updated(params).await
                }
            };
            if told.is_err() {
                return;
            }
        }
    });
}

/// The next change; `None` at the end. Skips changes that a slow listener has
/// missed.
pub(crate) async fn next(news: &mut broadcast::Receiver<UpstreamNews>) -> Option<UpstreamNews> {
    loop {
        match news.recv().await {
            Ok(news) => return Some(news),
            Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => return None,
        }
    }
}

/// Reads a reply that may ask for input first, which only the newest version of
/// the protocol supports.
pub(crate) fn read_round<T, R>(
    answer: Value,
    context: &RequestContext<RoleServer>,
) -> Result<T, ErrorData>
where
    T: From<InputRequiredResult> + From<R>,
    R: DeserializeOwned,
{
    if answer["resultType"] != "input_required" {
        return read::<R>(answer).map(T::from);
    }
    if !is_stateless(context) {
        let message = "its server needs input first, which this version of the protocol does not \
                       support";
        return Err(ErrorData::invalid_request(message, None));
    }
    read::<InputRequiredResult>(answer).map(T::from)
}

/// Requests a list, which is a field of the result.
pub(crate) async fn list<T: DeserializeOwned>(
    upstream: &dyn Upstream,
    request: UpstreamRequest,
    field: &str,
) -> Result<T, ErrorData> {
    let items = upstream.ask(request).await?;
    read(json!({ field: items }))
}

/// Reads a reply. An older server does not mark it as complete.
pub(crate) fn read<T: DeserializeOwned>(mut answer: Value) -> Result<T, ErrorData> {
    if let Value::Object(fields) = &mut answer {
        let result_type = fields.entry("resultType");
        result_type.or_insert_with(|| json!("complete"));
    }
    serde_json::from_value(answer)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// Writes parameters, without those of this connection.
pub(crate) fn written(params: impl Serialize) -> Result<Value, ErrorData> {
    let mut value = serde_json::to_value(params)
        .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
    if let Value::Object(fields) = &mut value {
        fields.remove("_meta");
    }
    Ok(value)
}
