//! Assigns a server's messages to calls.
//!
//! Messages are inspected in transit: outgoing requests after rmcp has given
//! them an id and a token, and incoming notifications in the order of sending.
//! rmcp itself handles notifications in separate tasks, which may overtake each
//! other and the result.

#![expect(
    deprecated,
    reason = "the newest version of the protocol has no log lines; all others have"
)]

use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use rmcp::RoleClient;
use rmcp::model::{
    GetExtensions, GetMeta, JsonRpcMessage, ProgressNotificationParam, ProgressToken, RequestId,
    ServerNotification,
};
use rmcp::service::{InboundStreamOrigin, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use windlass_runtime::ToolLogLine;

use crate::call::ServerCall;

/// Marks a request as part of a call. It is not sent.
#[derive(Clone)]
pub(crate) struct OfCall(pub(crate) Arc<ServerCall>);

/// The requests of running calls, in the order of sending.
#[derive(Default)]
pub(crate) struct Routes {
    requests: Mutex<Vec<Route>>,
}

struct Route {
    request: RequestId,
    progress: Option<ProgressToken>,
    call: Weak<ServerCall>,
}

impl Routes {
    fn sent(&self, message: &TxJsonRpcMessage<RoleClient>) {
        let JsonRpcMessage::Request(request) = message else {
            return;
        };
        let Some(OfCall(call)) = request.request.extensions().get::<OfCall>() else {
            return;
        };
        let mut requests = self.requests.lock();
        requests.retain(|route| route.call.strong_count() > 0);
        requests.push(Route {
            request: request.id.clone(),
            progress: request.request.get_meta().get_progress_token(),
            call: Arc::downgrade(call),
        });
    }

    fn received(&self, message: &RxJsonRpcMessage<RoleClient>) {
        let JsonRpcMessage::Notification(notification) = message else {
            return;
        };
        match &notification.notification {
            ServerNotification::ProgressNotification(progress) => self.progress(&progress.params),
            ServerNotification::LoggingMessageNotification(logged) => {
                let origin = match logged.extensions.get::<InboundStreamOrigin>() {
                    Some(InboundStreamOrigin::OutboundRequest(id)) => Some(id),
                    _ => None,
                };
                if let Some(call) = self.asking(origin) {
                    let params = &logged.params;
                    call.logged(ToolLogLine {
                        level: level_name(params.level),
                        logger: params.logger.clone(),
                        data: params.data.clone(),
                    });
                }
            }
            ServerNotification::TaskStatusNotification(_) => {
                for call in self.calls() {
                    call.look_at_task();
                }
            }
            _ => {}
        }
    }

    fn progress(&self, progress: &ProgressNotificationParam) {
        let requests = self.requests.lock();
        let is_meant = |route: &&Route| route.progress.as_ref() == Some(&progress.progress_token);
        let call = requests.iter().find(is_meant).map(|route| &route.call);
        let call = call.and_then(Weak::upgrade);
        drop(requests);
        if let Some(call) = call {
            call.progressed(progress);
        }
    }

    /// The call that a request of the server belongs to. Only HTTP identifies
    /// it; over pipes it is the latest call.
    pub(crate) fn asking(&self, origin: Option<&RequestId>) -> Option<Arc<ServerCall>> {
        let requests = self.requests.lock();
        let told = requests
            .iter()
            .find(|route| Some(&route.request) == origin)
            .and_then(|route| route.call.upgrade());
        drop(requests);
        told.or_else(|| self.calls().pop())
    }

    /// The calls that run, the latest last.
    fn calls(&self) -> Vec<Arc<ServerCall>> {
        let requests = self.requests.lock();
        let calls = requests.iter().filter_map(|route| route.call.upgrade());
        calls.filter(|call| !call.has_ended()).collect()
    }
}

/// A transport whose messages are inspected.
pub(crate) struct Tapped<T> {
    pub(crate) inner: T,
    pub(crate) routes: Arc<Routes>,
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Tapped<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.routes.sent(&message);
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let message = self.inner.receive().await?;
        self.routes.received(&message);
        Some(message)
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

/// A level as the protocol writes it.
fn level_name(level: impl serde::Serialize) -> String {
    match serde_json::to_value(level) {
        Ok(Value::String(name)) => name,
        _ => "info".to_owned(),
    }
}
