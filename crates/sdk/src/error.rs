//! The reasons for which a tool does not finish: it failed, it was aborted, or
//! it must ask first.

use std::error::Error as StdError;
use std::fmt;

use windlass_protocol::ToolError;

use crate::question::{Answer, TypedQuestion};

/// An error that ends a tool without a result.
///
/// Every standard error converts to it with `?`, and so does text: `Err("there
/// is no such branch")?`. The sources of an error become the trace. This type
/// does not implement [`std::error::Error`], which makes that conversion
/// possible.
pub struct Error(StopReason);

/// Why a tool stops.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum StopReason {
    /// It failed.
    Failed(ToolError),
    /// It asks a question and must be run again with the answer.
    Asks(Box<windlass_protocol::Question>),
    /// It was aborted.
    Aborted,
}

impl Error {
    /// An error that trying again would not mend.
    pub fn new(message: impl fmt::Display) -> Self {
        Self(StopReason::Failed(ToolError::new(message.to_string())))
    }

    /// Says that trying again may help.
    ///
    /// Made for `map_err`: `send().map_err(Error::from).map_err(Error::transient)?`.
    pub fn transient(mut self) -> Self {
        if let StopReason::Failed(error) = &mut self.0 {
            error.transient = true;
        }
        self
    }

    /// Adds a message in front; the previous message becomes the first cause.
    pub fn context(mut self, message: impl fmt::Display) -> Self {
        if let StopReason::Failed(error) = &mut self.0 {
            let cause = std::mem::replace(&mut error.message, message.to_string());
            error.trace.insert(0, cause);
        }
        self
    }

    /// Trying again may help.
    pub fn is_transient(&self) -> bool {
        matches!(&self.0, StopReason::Failed(error) if error.transient)
    }

    /// Whether the tool ends because it was aborted.
    pub fn is_abort(&self) -> bool {
        self.0 == StopReason::Aborted
    }

    pub(crate) fn aborted() -> Self {
        Self(StopReason::Aborted)
    }

    pub(crate) fn asks(question: windlass_protocol::Question) -> Self {
        Self(StopReason::Asks(Box::new(question)))
    }

    pub(crate) fn into_stop(self) -> StopReason {
        self.0
    }
}

impl<E: Into<Box<dyn StdError + Send + Sync>>> From<E> for Error {
    fn from(error: E) -> Self {
        let error: Box<dyn StdError + Send + Sync> = error.into();
        let causes = std::iter::successors(error.source(), |&cause| cause.source());
        Self(StopReason::Failed(ToolError {
            message: error.to_string(),
            trace: causes.map(ToString::to_string).collect(),
            transient: false,
        }))
    }
}

/// Ends the run with a question; the tool is run again with the answer.
/// [`Call::ask`](crate::Call::ask) does this if needed.
impl<A: Answer> From<TypedQuestion<A>> for Error {
    fn from(question: TypedQuestion<A>) -> Self {
        Self::asks(question.into_wire())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            StopReason::Failed(error) => formatter.write_str(&error.message),
            StopReason::Asks(question) => write!(formatter, "not answered yet: {}", question.text),
            StopReason::Aborted => formatter.write_str("aborted"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
