//! How long a caller waits for its replies.

use tokio_util::sync::CancellationToken;

/// What a caller has to say while its batch runs. The default waits for as
/// long as it takes.
#[derive(Debug, Clone, Default)]
pub struct Patience {
    /// The caller has given up: calls that are not answered yet are refused as
    /// cancelled, one-shots among them are ended, handles stay.
    pub cancel: CancellationToken,
    /// The caller wants to be answered now, with what there is: an `await`
    /// answers as if its time were up, a one-shot that still runs goes on as a
    /// handle, which its reply names.
    pub hurry: CancellationToken,
}

impl Patience {
    /// Waits until this is cancelled.
    pub fn until(cancel: &CancellationToken) -> Self {
        Self {
            cancel: cancel.clone(),
            ..Self::default()
        }
    }
}
