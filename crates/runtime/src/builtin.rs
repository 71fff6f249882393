//! Tools of the runtime itself, with access to the session.

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;
use windlass_protocol::{Arguments, ReplyContent};

use crate::catalogue::Catalogue;
use crate::refusal::{HandleSummary, Refusal};
use crate::session::Session;

/// A tool that runs inside the runtime.
#[async_trait]
pub trait BuiltinTool: Send + Sync + 'static {
    /// Runs the tool. It is dropped when the call is cancelled.
    async fn execute(
        &self,
        arguments: &Arguments,
        context: &BuiltinContext,
    ) -> Result<ReplyContent, Refusal>;

    /// Whether the tool is offered to an assistant, given the others.
    fn is_offered(&self, catalogue: &Catalogue) -> bool {
        let _ = catalogue;
        true
    }
}

/// The context of a builtin.
pub struct BuiltinContext {
    /// Cancelled when the call is.
    pub cancellation: CancellationToken,
    /// Cancelled when the caller wants a reply with the current state.
    pub hurry: CancellationToken,
    pub(crate) session: Session,
}

impl BuiltinContext {
    /// The session's handles, a line each.
    pub fn handles(&self) -> Vec<HandleSummary> {
        self.session.handles()
    }

    /// The tools of the runtime.
    pub fn tools(&self) -> &Catalogue {
        &self.session.inner.catalogue
    }
}
