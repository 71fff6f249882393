//! How a batch is run.

use tokio_util::sync::CancellationToken;
use windlass_protocol::MessageId;

/// How [`Session::run`](crate::Session::run) treats a batch. The default waits
/// for as long as the calls take.
///
/// The tokens stay with the caller, who keeps clones and cancels them while the
/// batch runs.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// Cancels the batch: calls that are not answered yet are refused as
    /// cancelled, one-shots among them are ended, handles stay.
    pub cancel: CancellationToken,
    /// Asks for replies at once: an `await` answers as if its time were up, and
    /// a one-shot that still runs, or waits for permission, goes on as a handle,
    /// which its reply names.
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
