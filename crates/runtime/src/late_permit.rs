//! Permission for a call on a handle that its caller did not wait for.
//!
//! A caller in a hurry is told to make the call again: a call that types into a
//! handle, or ends it, must not happen by itself at a later time. The request
//! stays open meanwhile, and the same call finds the person's reply, or goes on
//! waiting for it. Each permission is good once.

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

/// How many are kept; the oldest are withdrawn.
const KEPT: usize = 64;

/// The permissions of a session that were not waited for.
#[derive(Default)]
pub(crate) struct LatePermits(Mutex<IndexMap<PermitKey, LatePermit>>);

/// A call on a handle. The same call made again has the same key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct PermitKey {
    tool: String,
    handle: HandleId,
    action: HandleAction,
    /// It is about the commands that the input holds.
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
    /// The key of the commands that the input holds.
    pub(crate) fn of_commands(self) -> Self {
        Self {
            typed: true,
            ..self
        }
    }
}

/// The arguments to run with, and who has permitted it if anybody has.
pub(crate) type LateGrant = (Arguments, Option<GrantedBy>);

type Outcome = Shared<BoxFuture<'static, Result<LateGrant, Refusal>>>;

/// A permission that is asked for. Dropping the last clone withdraws the
/// request.
#[derive(Clone)]
pub(crate) struct LatePermit {
    /// The call that the request names.
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

    /// Resolves when it is decided.
    pub(crate) async fn outcome(&self) -> Result<LateGrant, Refusal> {
        self.outcome.clone().await
    }

    /// The open request, by its id.
    pub(crate) fn request(&self, session: &SessionInner) -> Option<String> {
        session.requests.permitting(&self.call)
    }

    /// Keeps the request open after its caller was answered. One for input, or
    /// for the end of a handle, goes with the handle.
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
        tasks.spawn(async move {
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
    /// The permission that was asked for with the same call before. Its request
    /// is that of `call` from now on.
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
