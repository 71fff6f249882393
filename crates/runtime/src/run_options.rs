//! Options for running a batch.

use tokio_util::sync::CancellationToken;
use windlass_protocol::MessageId;

/// Options for [`Session::run`](crate::Session::run). The default waits until
/// all calls are done.
///
/// The caller keeps clones of the tokens, and cancels them while the batch
/// runs.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// Cancels the batch: unanswered calls are refused as cancelled, their
    /// one-shots are ended, handles continue.
    pub cancel: CancellationToken,
    /// Requests replies at once: an `await` returns as on a timeout, and a
    /// one-shot that still runs, or waits for permission, continues as a handle
    /// named in its reply.
    pub hurry: CancellationToken,
    /// The message of the conversation that holds these calls, in the record
    /// and in requests for permission. Default: a new one.
    pub message: Option<MessageId>,
}

impl RunOptions {
    /// The default, with this token as `cancel`.
    pub fn until(cancel: &CancellationToken) -> Self {
        Self {
            cancel: cancel.clone(),
            ..Self::default()
        }
    }
}
