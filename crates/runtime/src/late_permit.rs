//! Permission for a call on a handle whose caller did not wait.
//!
//! A caller in a hurry is told to repeat the call: typing into a handle or
//! ending it must not happen at an unexpected later time. The request stays
//! open, and the repeated call finds the person's reply or continues to wait
//! for it. Each permission is valid once.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use indexmap::IndexMap;
use parking_lot::Mutex;
use windlass_protocol::{Arguments, HandleAction, HandleId};

use crate::event::Status;
use crate::handle::Handle;
use crate::permission::GrantedBy;
use crate::refusal::Refusal;
use crate::session::SessionInner;

/// The maximum number; the oldest are withdrawn.
const KEPT: usize = 64;

/// A session's permission requests whose callers did not wait.
#[derive(Default)]
pub(crate) struct LatePermits(Mutex<IndexMap<PermitKey, LatePermit>>);

/// The identity of a call on a handle. A repeated call has the same key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct PermitKey {
    tool: String,
    handle: HandleId,
    action: HandleAction,
    /// It is about the commands in the input.
    typed: bool,
    /// As JSON.
    args: String,
}

impl PermitKey {
    pub(crate) fn new(
        tool: &str,
        handle: &HandleId,
        action: HandleAction,
        args: &Arguments,
    ) -> Self {
        Self {
            tool: tool.to_owned(),
            handle: handle.clone(),
            action,
            typed: false,
            args: serde_json::json!(args).to_string(),
        }
    }
}

impl PermitKey {
    /// The key for the commands in the input.
    pub(crate) fn of_commands(self) -> Self {
        Self {
            typed: true,
            ..self
        }
    }
}

/// The arguments to run with, and who has permitted them, if anyone.
pub(crate) type LateGrant = (Arguments, Option<GrantedBy>);

type Outcome = Shared<BoxFuture<'static, Result<LateGrant, Refusal>>>;

/// A requested permission. Dropping the last clone withdraws the request.
#[derive(Clone)]
pub(crate) struct LatePermit {
    /// The call named in the request.
    call: Arc<str>,
    outcome: Outcome,
}

impl LatePermit {
    pub(crate) fn new(
        call: &Arc<str>,
        asking: impl Future<Output = Result<LateGrant, Refusal>> + Send + 'static,
    ) -> Self {
        Self {
            call: Arc::clone(call),
            outcome: asking.boxed().shared(),
        }
    }

    /// Resolves to the decision.
    pub(crate) async fn outcome(&self) -> Result<LateGrant, Refusal> {
        self.outcome.clone().await
    }

    /// The id of the open request.
    pub(crate) fn request(&self, session: &SessionInner) -> Option<String> {
        session.requests.permitting(&self.call)
    }

    /// Keeps the request open after its caller was answered. A request for
    /// input, or for the end of a handle, ends with the handle.
    pub(crate) fn park(self, session: &Arc<SessionInner>, handle: &Arc<Handle>, key: PermitKey) {
        let outcome = self.outcome.clone();
        {
            let mut permits = session.late_permits.0.lock();
            if permits.len() == KEPT {
                permits.shift_remove_index(0);
            }
            permits.insert(key.clone(), self);
        }
        let (session, handle) = (Arc::clone(session), Arc::clone(handle));
        let (tasks, closing) = (session.tasks.clone(), session.closing.clone());
        windlass_task::spawn_tracked(&tasks, async move {
            let ended = async {
                match key.action {
                    HandleAction::Fetch => std::future::pending().await,
                    _ => handle.wait_until(Status::is_stopped).await,
                }
            };
            let carried_out = async {
                tokio::select! {
                    // What the reply leads to, such as a rule, is seen to at once.
                    _ = outcome => {}
                    _ = ended => drop(session.late_permits.0.lock().shift_remove(&key)),
                }
            };
            closing.run_until_cancelled(carried_out).await;
        });
    }
}

impl LatePermits {
    /// Takes the permission that an earlier, equal call requested. Its request
    /// belongs to `call` from now on.
    pub(crate) fn take(
        session: &SessionInner,
        key: &PermitKey,
        call: &Arc<str>,
    ) -> Option<LatePermit> {
        let mut permit = session.late_permits.0.lock().shift_remove(key)?;
        session.requests.pass_to(&permit.call, call);
        permit.call = Arc::clone(call);
        Some(permit)
    }
}
