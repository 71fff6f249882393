//! The methods of the protocol, dispatched to their modules.

#![expect(
    deprecated,
    reason = "the newest version of the protocol has no logging; the clients of all others have"
)]

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use axum::http::request::Parts;
use parking_lot::Mutex;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, ClientCapabilities,
    CompleteRequestMethod, CompleteRequestParams, CompleteResult, GetPromptRequestMethod,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, GetTaskParams, GetTaskResult,
    Implementation, JsonObject, ListPromptsRequestMethod, ListPromptsResult,
    ListResourceTemplatesRequestMethod, ListResourceTemplatesResult, ListResourcesRequestMethod,
    ListResourcesResult, ListToolsResult, LoggingLevel, PaginatedRequestParams, PromptsCapability,
    ProtocolVersion, ReadResourceRequestMethod, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, RequestStateCodec, ResourcesCapability, ServerCapabilities, ServerConfig,
    SetLevelRequestParams, SubscribeRequestMethod, SubscribeRequestParams, SubscriptionFilter,
    Tool, UnsubscribeRequestMethod, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};
use tokio::time::Instant;
use windlass_runtime::Runtime;

use crate::call::{ActiveCall, RequestedCall};
use crate::clients::ClientTraits;
use crate::conversation::{ClientSession, SessionFactory, SessionSuccession};
use crate::http::{HttpSessions, Visit};
use crate::listen;
use crate::offer::offered;
use crate::options::{McpOptions, TaskPolicy};
use crate::progress::Waiting;
use crate::rounds::{Round, Sealing};
use crate::seats::Means;
use crate::status::Listening;
use crate::task::Taker;
use crate::upstream::{self, Subscription, Upstream, UpstreamRequest};
use crate::wording::instructions;

/// The time after its start for which the server waits for late tools.
const LATE_TOOLS: Duration = Duration::from_secs(5);

/// State that all connections share.
pub(crate) struct ServerState {
    pub(crate) runtime: Runtime,
    pub(crate) factory: SessionFactory,
    /// The tools as shown, and the number of tools still missing at that time.
    shown: Mutex<(u64, Arc<Vec<Tool>>)>,
    /// Whether tools may be added later.
    may_change: bool,
    /// The time until which late tools are waited for.
    patience: Instant,
    codec: RequestStateCodec,
    options: McpOptions,
}

/// The tools of a runtime as an MCP server. Cloning is cheap and gives the same
/// server.
#[derive(Clone)]
pub struct McpServer {
    shared: Arc<ServerState>,
    place: SessionLocation,
    pub(crate) upstream: Option<Arc<dyn Upstream>>,
    succession: Option<SessionSuccession>,
}

/// The location of a request's session.
#[derive(Clone)]
enum SessionLocation {
    Connection(Arc<ClientSession>),
    /// Found by the client's identity, over HTTP.
    Http(HttpSessions),
    /// Nowhere yet.
    Nowhere,
}

impl McpServer {
    /// Serves these tools; `factory` starts a session of the same runtime for
    /// each client.
    pub fn new(runtime: Runtime, factory: SessionFactory, options: McpOptions) -> Self {
        let tools = Arc::new(offered(runtime.tools()));
        let version = *runtime.tools().changes().borrow();
        let may_change = runtime.tools().may_change();
        // Only this process seals and opens.
        let key = format!("{}{}", ulid::Ulid::generate(), ulid::Ulid::generate());
        let codec = RequestStateCodec::try_new(key.as_bytes()).expect("the key is long enough");
        Self {
            shared: Arc::new(ServerState {
                runtime,
                factory,
                shown: Mutex::new((version, tools)),
                may_change,
                patience: Instant::now() + LATE_TOOLS,
                codec,
                options,
            }),
            place: SessionLocation::Nowhere,
            upstream: None,
            succession: None,
        }
    }

    /// The server with prompts and resources, which `upstream` has.
    #[must_use]
    pub fn with_upstream(mut self, upstream: Arc<dyn Upstream>) -> Self {
        self.upstream = Some(upstream);
        self
    }

    /// Makes sessions adopt the handles of their predecessors, once their
    /// client is known and before its first call is answered.
    #[must_use]
    pub fn with_succession(mut self, succession: SessionSuccession) -> Self {
        self.succession = Some(succession);
        self
    }

    /// Makes a session adopt the handles of its predecessor, once.
    async fn succeed(&self, conversation: &ClientSession, client: Option<&str>) {
        if let Some(client) = client {
            conversation.session.set_client_name(client);
        }
        if let Some(succession) = &self.succession {
            let succeeded = || succession(conversation.session.clone());
            conversation.succession.get_or_init(succeeded).await;
        }
    }

    /// The tools as they are shown now.
    fn tools(&self) -> Arc<Vec<Tool>> {
        let catalogue = self.shared.runtime.tools();
        let version = *catalogue.changes().borrow();
        let mut shown = self.shared.shown.lock();
        if shown.0 != version {
            *shown = (version, Arc::new(offered(catalogue)));
        }
        Arc::clone(&shown.1)
    }

    /// Waits a little for late tools, because a client may list the tools only
    /// once.
    async fn late_tools(&self) {
        let mut awaited = self.shared.runtime.tools().awaited();
        let all = awaited.wait_for(|awaited| *awaited == 0);
        let _ = tokio::time::timeout_at(self.shared.patience, all).await;
    }

    pub(crate) fn shared(&self) -> &Arc<ServerState> {
        &self.shared
    }

    /// The server for one connection, with its session.
    pub(crate) fn connected(&self) -> (Self, Arc<ClientSession>) {
        let conversation =
            ClientSession::begin(&self.shared.factory, self.shared.options.session.clone());
        let server = Self {
            shared: Arc::clone(&self.shared),
            place: SessionLocation::Connection(Arc::clone(&conversation)),
            upstream: self.upstream.clone(),
            succession: self.succession.clone(),
        };
        (server, conversation)
    }

    /// The server for requests over HTTP.
    pub(crate) fn on_http(&self, sessions: HttpSessions) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            place: SessionLocation::Http(sessions),
            upstream: self.upstream.clone(),
            succession: self.succession.clone(),
        }
    }

    fn visit(&self, context: &RequestContext<RoleServer>) -> Result<Visit, ErrorData> {
        match &self.place {
            SessionLocation::Connection(conversation) => Ok(Visit::to(Arc::clone(conversation))),
            SessionLocation::Http(sessions) => sessions.of_request(context).ok_or_else(|| {
                ErrorData::invalid_request("the request does not identify its client", None)
            }),
            SessionLocation::Nowhere => {
                Err(ErrorData::internal_error("the server is not served", None))
            }
        }
    }

    fn sealing<'a>(&'a self, visit: &'a Visit, request: &CallToolRequestParams) -> Sealing<'a> {
        let arguments = request.arguments.as_ref();
        let arguments = arguments.map(|arguments| serde_json::json!(arguments).to_string());
        let session = visit.conversation().session.id();
        Sealing {
            codec: &self.shared.codec,
            context: format!("{session}\n{}\n{arguments:?}", request.name).into_bytes(),
            parked: &visit.conversation().parked,
        }
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_logging();
        let mut capabilities = match self.shared.options.tasks {
            TaskPolicy::Never => capabilities.build(),
            TaskPolicy::Auto | TaskPolicy::After(_) => capabilities.enable_tasks().build(),
        };
        if self.upstream.is_some() {
            let mut prompts = PromptsCapability::default();
            prompts.list_changed = Some(true);
            capabilities.prompts = Some(prompts);
            let mut resources = ResourcesCapability::default();
            resources.list_changed = Some(true);
            resources.subscribe = Some(true);
            capabilities.resources = Some(resources);
            capabilities.completions = Some(JsonObject::new());
        }
        if let Some(tools) = &mut capabilities.tools
            && self.shared.may_change
        {
            tools.list_changed = Some(true);
        }
        let mut info = ServerConfig::new(capabilities).with_instructions(instructions());
        info.server_info =
            Implementation::new("windlass", env!("CARGO_PKG_VERSION")).with_title("Windlass");
        info
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.late_tools().await;
        let mut tools = self.tools().to_vec();
        let client = context.client_info().map(|client| client.name);
        let traits = ClientTraits::of(client.as_deref());
        if !traits.is_structured(&self.shared.options) {
            // A tool that declares structured content must give it.
            for tool in &mut tools {
                tool.output_schema = None;
            }
        }
        Ok(ListToolsResult::with_all_items(tools))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let tools = self.tools();
        tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let visit = self.visit(&context)?;
        let conversation = visit.conversation();
        let client = context.client_info().map(|client| client.name);
        self.succeed(conversation, client.as_deref()).await;
        if self.shared.runtime.tools().get(&request.name).is_none() {
            self.late_tools().await;
        }
        let known = self.shared.runtime.tools().get(&request.name);
        let is_shown = self.tools().iter().any(|tool| tool.name == request.name);
        let Some(tool) = known.filter(|_| is_shown) else {
            let message = format!("there is no tool `{}`", request.name);
            return Err(ErrorData::invalid_params(message, None));
        };
        let definition = tool.definition();
        let capabilities = context.client_capabilities();
        let stateless = is_stateless(&context);
        let sealing = self.sealing(&visit, &request);
        let caller = self.caller(conversation, &context).await;
        let tasks = stateless
            && capabilities
                .as_ref()
                .is_some_and(ClientCapabilities::supports_tasks);
        let traits = ClientTraits::of(client.as_deref());
        let options = &self.shared.options;
        let after = traits.task_after(options, caller.token.is_some());
        let taker = after.filter(|_| tasks).map(|after| Taker {
            conversation,
            after,
            peer: matches!(self.place, SessionLocation::Connection(_))
                .then(|| context.peer.clone()),
        });
        let taker = taker.as_ref();
        if let Some(state) = request.request_state.take() {
            let answers = request.input_responses.take().unwrap_or_default();
            let round = sealing.resume(&state, answers)?;
            let taker = taker.filter(|_| round.call().may_last());
            let waiting = Waiting::new(options, caller, round.call(), taker.is_some());
            return sealing.run(round, &waiting, &context.ct, taker).await;
        }
        let call = ActiveCall::begin(
            conversation,
            RequestedCall {
                definition,
                arguments: request.arguments.take().unwrap_or_default(),
                means: Means::of(capabilities.as_ref(), &traits, stateless, options.max_block),
                structured: traits.is_structured(options),
            },
        );
        let taker = taker.filter(|_| call.may_last());
        let waiting = Waiting::new(options, caller, &call, taker.is_some());
        if stateless {
            let given = request.input_responses.take().unwrap_or_default();
            let round = Round::first(call, given);
            return sealing.run(round, &waiting, &context.ct, taker).await;
        }
        let result = call.run_to_end(&context.peer, &waiting, &context.ct).await;
        Ok(result.into())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let parts = context.extensions.get::<Parts>();
        let visit = match (&self.place, parts) {
            (SessionLocation::Http(sessions), Some(parts)) => sessions.of_session(parts),
            (SessionLocation::Connection(conversation), _) => {
                Some(Visit::to(Arc::clone(conversation)))
            }
            _ => None,
        };
        if self.shared.may_change {
            let mut changes = self.shared.runtime.tools().changes();
            let peer = context.peer.clone();
            windlass_task::spawn(async move {
                while changes.changed().await.is_ok() {
                    if peer.notify_tool_list_changed().await.is_err() {
                        return;
                    }
                }
            });
        }
        if let Some(visit) = visit {
            let (server, conversation) = (self.clone(), Arc::clone(visit.conversation()));
            let client = context.peer.peer_info();
            let client = client.map(|info| info.client_info.name.clone());
            // A lease must not run out while the client has nothing to ask.
            windlass_task::spawn(async move {
                server.succeed(&conversation, client.as_deref()).await;
            });
            if let Some(upstream) = &self.upstream {
                upstream::tell_news(upstream, visit.conversation(), context.peer.clone());
            }
            listen::listen(visit.conversation(), LoggingLevel::Info, context.peer);
        }
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let visit = self.visit(&context)?;
        listen::listen(visit.conversation(), request.level, context.peer.clone());
        self.want_logs(request.level).await;
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let upstream = self.having::<SubscribeRequestMethod>()?;
        let visit = self.visit(&context)?;
        let subscriptions = &visit.conversation().subscriptions;
        if subscriptions.lock().contains_key(&request.uri) {
            return Ok(());
        }
        let subscription = Subscription::begin(upstream, &request.uri).await?;
        let before = subscriptions.lock().insert(request.uri, subscription);
        drop(before);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.having::<UnsubscribeRequestMethod>()?;
        let visit = self.visit(&context)?;
        let subscription = visit
            .conversation()
            .subscriptions
            .lock()
            .remove(&request.uri);
        drop(subscription);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        // The stream itself says that its client is there, and hears how tasks
        // stand.
        let mut accepted = SubscriptionFilter::new();
        let may_change = self.shared.may_change;
        accepted.tools_list_changed = requested.tools_list_changed.filter(|_| may_change);
        if self.upstream.is_some() {
            accepted.prompts_list_changed = requested.prompts_list_changed;
            accepted.resources_list_changed = requested.resources_list_changed;
            accepted
                .resource_subscriptions
                .clone_from(&requested.resource_subscriptions);
        }
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let visit = self.visit(context.request_context())?;
        visit.stands();
        let request = context.request_context();
        let _listening = Listening::new(visit.conversation(), &request.id, &request.peer);
        let mut changes = self.shared.runtime.tools().changes();
        let tools = async {
            while changes.changed().await.is_ok() {
                if context.accepted().tools_list_changed == Some(true) {
                    // A stream that is gone is cancelled.
                    let _ = context.sink().notify_tool_list_changed().await;
                }
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = context.cancelled() => {}
            () = tools => {}
            () = self.tell_listener(&context) => {}
        }
        Ok(())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let visit = self.visit(&context)?;
        let task = visit.conversation().task(&request.task_id)?;
        Ok(GetTaskResult::new(task))
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let visit = self.visit(&context)?;
        let tasks = &visit.conversation().tasks;
        tasks.update_task(&request.task_id, request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let visit = self.visit(&context)?;
        visit.conversation().tasks.cancel_task(&request.task_id)
    }

    // Without a source of them they are not declared, so requests for them are refused.

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let upstream = self.having::<CompleteRequestMethod>()?;
        let params = upstream::written(request)?;
        upstream::read(upstream.ask(UpstreamRequest::Complete(params)).await?)
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let upstream = self.having::<ListPromptsRequestMethod>()?;
        upstream::list(&**upstream, UpstreamRequest::Prompts, "prompts").await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let upstream = self.having::<GetPromptRequestMethod>()?;
        let params = upstream::written(request)?;
        let answer = upstream.ask(UpstreamRequest::Prompt(params)).await?;
        upstream::read_round::<_, GetPromptResult>(answer, &context)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let upstream = self.having::<ListResourcesRequestMethod>()?;
        upstream::list(&**upstream, UpstreamRequest::Resources, "resources").await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let upstream = self.having::<ListResourceTemplatesRequestMethod>()?;
        let request = UpstreamRequest::ResourceTemplates;
        upstream::list(&**upstream, request, "resourceTemplates").await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let upstream = self.having::<ReadResourceRequestMethod>()?;
        let params = upstream::written(request)?;
        let answer = upstream.ask(UpstreamRequest::Resource(params)).await?;
        upstream::read_round::<_, ReadResourceResult>(answer, &context)
    }
}

/// Whether the request is independent of a connection, as in 2026-07-28.
pub(crate) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}
