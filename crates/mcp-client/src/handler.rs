//! Requests of a server to its client.
//!
//! Questions are passed to the call that they belong to, and so are requests
//! for the client's model and folders, which the front end passes on. Progress
//! and log lines are handled in `routes`.

use std::sync::Arc;

use parking_lot::Mutex;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, ErrorCode, ErrorData, ExtensionCapabilities, FormElicitationCapability,
    Implementation, ResourceUpdatedNotificationParam, RootsCapabilities, SamplingCapability,
    TASKS_EXTENSION_ID, UrlElicitationCapability,
};
use rmcp::service::{InboundStreamOrigin, NotificationContext, Peer, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use serde_json::Value;
use tokio::sync::broadcast;
use windlass_protocol::NoticeLevel;
use windlass_runtime::{ClientRefusal, ClientRequest};

use crate::announcer::ServerAnnouncer;
use crate::call::ServerCall;
use crate::listing::{Change, ToolListing};
use crate::routes::Routes;

/// The missing capability if no client lends its model.
pub(crate) const NO_SAMPLING: &str = "sampling, and Windlass cannot offer a model of its own";

/// Answers one server.
pub(crate) struct Handler {
    pub(crate) routes: Arc<Routes>,
    pub(crate) announcer: ServerAnnouncer,
    /// The server's tools as last listed.
    pub(crate) listed: Arc<Mutex<Option<Vec<ToolListing>>>>,
    /// Whether the front end has clients that may lend their model.
    pub(crate) lends_clients: bool,
    pub(crate) news: broadcast::Sender<ServerNews>,
}

/// Something of a server has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerNews {
    Prompts,
    /// Its list of resources.
    Resources,
    /// A subscribed resource, by its URI.
    Resource(String),
}

impl Handler {
    /// Fetches the tools again and announces the differences.
    pub(crate) async fn tools_changed(&self, peer: &Peer<RoleClient>) {
        let Ok(tools) = peer.list_all_tools().await else {
            return;
        };
        let now: Vec<_> = tools.into_iter().map(ToolListing::from).collect();
        let before = self.listed.lock().replace(now.clone()).unwrap_or_default();
        if let Some(change) = Change::between(&before, &now) {
            let text = format!(
                "has changed its tools ({change}); the old definitions are used until Windlass is \
                 restarted"
            );
            self.announcer.notify(NoticeLevel::Info, &text);
        }
    }
}

impl Handler {
    /// Notifies all listeners.
    pub(crate) fn publish(&self, news: ServerNews) {
        // There may be no listener.
        let _ = self.news.send(news);
    }

    /// The call that a request of the server belongs to.
    fn asking(&self, context: &RequestContext<RoleClient>) -> Option<Arc<ServerCall>> {
        let origin = match context.extensions.get::<InboundStreamOrigin>() {
            Some(InboundStreamOrigin::OutboundRequest(id)) => Some(id),
            _ => None,
        };
        self.routes.asking(origin)
    }

    /// Passes a request to the client of its call.
    async fn ask(
        &self,
        context: &RequestContext<RoleClient>,
        request: ClientRequest,
    ) -> Result<Value, ErrorData> {
        let undeclared = || ClientRefusal::Undeclared(NO_SAMPLING);
        let answer = match self.asking(context) {
            Some(call) => {
                let asking = call.ask_client(vec![request], false);
                let answers = context.ct.run_until_cancelled(asking).await;
                answers.and_then(|mut answers| answers.pop())
            }
            None => None,
        };
        answer
            .unwrap_or_else(|| Err(undeclared()))
            .map_err(|refusal| {
                let code = match &refusal {
                    ClientRefusal::Undeclared(_) => ErrorCode::METHOD_NOT_FOUND,
                    ClientRefusal::Refused { code, .. } => ErrorCode(*code),
                };
                ErrorData::new(code, refusal.to_string(), None)
            })
    }
}

fn unreadable(error: &serde_json::Error) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let elicitation = ElicitationCapability::new()
            .with_form(FormElicitationCapability::default())
            .with_url(UrlElicitationCapability::default());
        let mut extensions = ExtensionCapabilities::new();
        extensions.insert(TASKS_EXTENSION_ID.to_owned(), serde_json::Map::new());
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(elicitation);
        capabilities.extensions = Some(extensions);
        if self.lends_clients {
            capabilities.sampling = Some(SamplingCapability::default());
            capabilities.roots = Some(RootsCapabilities::default());
        }
        let this = Implementation::new("windlass", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(capabilities, this)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        match self.asking(&context) {
            Some(call) => Ok(call.elicit(request, &context.ct).await),
            // No call is affected.
            None => Ok(ElicitResult::new(ElicitationAction::Cancel)),
        }
    }

    #[expect(deprecated, reason = "servers of the years before still ask for it")]
    async fn create_message(
        &self,
        request: rmcp::model::CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<rmcp::model::CreateMessageResult, ErrorData> {
        let params = serde_json::to_value(request).map_err(|error| unreadable(&error))?;
        let answer = self.ask(&context, ClientRequest::Sample(params)).await?;
        serde_json::from_value(answer).map_err(|error| unreadable(&error))
    }

    #[expect(deprecated, reason = "servers of the years before still ask for them")]
    async fn list_roots(
        &self,
        context: RequestContext<RoleClient>,
    ) -> Result<rmcp::model::ListRootsResult, ErrorData> {
        if self.asking(&context).is_none() {
            return Ok(rmcp::model::ListRootsResult::default());
        }
        let answer = self.ask(&context, ClientRequest::ListRoots).await?;
        serde_json::from_value(answer).map_err(|error| unreadable(&error))
    }

    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.publish(ServerNews::Resource(params.uri.clone()));
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.publish(ServerNews::Resources);
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.publish(ServerNews::Prompts);
    }

    async fn on_tool_list_changed(&self, context: NotificationContext<RoleClient>) {
        self.tools_changed(&context.peer).await;
    }
}
