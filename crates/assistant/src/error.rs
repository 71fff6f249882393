//! What can go wrong between us and a model.

use std::time::Duration;

/// Why a model could not be asked, or did not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The key is missing or wrong.
    #[error("`{provider}` does not accept the key ({message}); check `{variable}`")]
    Key {
        /// The provider.
        provider: String,
        /// What it said.
        message: String,
        /// Where the key is read from.
        variable: String,
    },
    /// The request is not one that it takes.
    #[error("`{provider}` refused the request with status {status}: {message}")]
    Refused {
        /// The provider.
        provider: String,
        /// The HTTP status.
        status: u16,
        /// What it said.
        message: String,
    },
    /// It is overloaded, or we ask too often.
    #[error("`{provider}` is busy (status {status}): {message}")]
    Busy {
        /// The provider.
        provider: String,
        /// The HTTP status.
        status: u16,
        /// What it said.
        message: String,
        /// When it said to come back.
        retry_after: Option<Duration>,
    },
    /// The answer broke off or cannot be read.
    #[error("the answer of `{provider}` broke off: {why}")]
    Broken {
        /// The provider.
        provider: String,
        /// How.
        why: String,
    },
    /// There is no way to it.
    #[error("`{provider}` cannot be reached at {url}: {why}")]
    Unreachable {
        /// The provider.
        provider: String,
        /// Its address.
        url: String,
        /// What the system says.
        why: String,
    },
    /// Its address is one of this machine, and nothing listens there.
    #[error(
        "`{provider}` is not running: nothing listens at {url}; start it, or choose another model"
    )]
    NotStarted {
        /// The provider.
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

    /// When the provider said to come back.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Busy { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}
