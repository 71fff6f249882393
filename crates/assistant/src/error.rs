//! Errors between Windlass and a model.

use std::time::Duration;

/// A model could not be asked, or did not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The key is missing or wrong.
    #[error("`{provider}` does not accept the key ({message}); check `{variable}`")]
    Key {
        provider: String,
        /// The provider's message.
        message: String,
        /// The source of the key.
        variable: String,
    },
    /// The provider rejects the request.
    #[error("`{provider}` refused the request with status {status}: {message}")]
    Refused {
        provider: String,
        /// The HTTP status.
        status: u16,
        /// The provider's message.
        message: String,
    },
    /// It is overloaded, or we ask too often.
    #[error("`{provider}` is busy (status {status}): {message}")]
    Busy {
        provider: String,
        /// The HTTP status.
        status: u16,
        /// The provider's message.
        message: String,
        /// The delay that the provider asked for.
        retry_after: Option<Duration>,
    },
    /// The answer broke off or cannot be read.
    #[error("the reply of `{provider}` was cut off: {why}")]
    Broken {
        provider: String,
        /// The cause.
        why: String,
    },
    /// The provider cannot be reached.
    #[error("`{provider}` cannot be reached at {url}: {why}")]
    Unreachable {
        provider: String,
        /// Its address.
        url: String,
        /// The system's message.
        why: String,
    },
    /// Its address is on this machine, and nothing listens there.
    #[error(
        "`{provider}` is not running: nothing listens at {url}; start it, or choose another model"
    )]
    NotStarted {
        provider: String,
        /// Its address.
        url: String,
    },
}

impl ModelError {
    /// Asking again may help.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Key { .. } | Self::Refused { .. } | Self::NotStarted { .. } => false,
            Self::Busy { .. } | Self::Broken { .. } | Self::Unreachable { .. } => true,
        }
    }

    /// The delay that the provider asked for.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Busy { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}
