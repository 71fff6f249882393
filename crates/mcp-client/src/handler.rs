//! What a server may ask of us.
//!
//! Questions go to the call that they belong to. Sampling is refused: a tool
//! gets no model. Progress does not come by here, see `routes`.

use std::sync::Arc;

use parking_lot::Mutex;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, ErrorCode, ErrorData, ExtensionCapabilities, FormElicitationCapability,
    Implementation, TASKS_EXTENSION_ID, UrlElicitationCapability,
};
use rmcp::service::{InboundStreamOrigin, NotificationContext, Peer, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use windlass_protocol::NoticeLevel;

use crate::listing::{Change, Listed};
use crate::routes::Routes;
use crate::telling::Telling;

/// Why a server is not given a model.
pub(crate) const NO_SAMPLING: &str =
    "sampling is not supported: Windlass runs tools and has no model to lend";

/// Answers one server.
pub(crate) struct Handler {
    pub(crate) routes: Arc<Routes>,
    pub(crate) telling: Telling,
    /// What the server has told of its tools.
    pub(crate) listed: Arc<Mutex<Option<Vec<Listed>>>>,
}

impl Handler {
    /// Fetches the tools again and tells in what they differ.
    pub(crate) async fn tools_changed(&self, peer: &Peer<RoleClient>) {
        let Ok(tools) = peer.list_all_tools().await else {
            return;
        };
        let now: Vec<_> = tools.into_iter().map(Listed::from).collect();
        let before = self.listed.lock().replace(now.clone()).unwrap_or_default();
        if let Some(change) = Change::between(&before, &now) {
            let text = format!(
                "has changed its tools ({change}); they are offered as they were until Windlass is started again"
            );
            self.telling.tell(NoticeLevel::Info, &text);
        }
    }
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
        let this = Implementation::new("windlass", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(capabilities, this)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let origin = match context.extensions.get::<InboundStreamOrigin>() {
            Some(InboundStreamOrigin::OutboundRequest(id)) => Some(id),
            _ => None,
        };
        match self.routes.asking(origin) {
            Some(call) => Ok(call.elicit(request, &context.ct).await),
            // There is nobody whom it could concern.
            None => Ok(ElicitResult::new(ElicitationAction::Cancel)),
        }
    }

    #[expect(deprecated, reason = "servers of the years before still ask for it")]
    async fn create_message(
        &self,
        _request: rmcp::model::CreateMessageRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<rmcp::model::CreateMessageResult, ErrorData> {
        let code = ErrorCode::METHOD_NOT_FOUND;
        Err(ErrorData::new(code, NO_SAMPLING, None))
    }

    async fn on_tool_list_changed(&self, context: NotificationContext<RoleClient>) {
        self.tools_changed(&context.peer).await;
    }
}
