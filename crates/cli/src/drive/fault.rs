//! Faults of `drive` lines.

use windlass_protocol::{AnswerError, HandleId, LineError};
use windlass_runtime::{Refusal, ReplyError};
use windlass_schema::UnknownDialect;

/// The reason why a line was rejected. It is answered with an error, and
/// nothing else changes.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DriveFault {
    /// The line is too long.
    #[error("the line is longer than {} MiB; send shorter lines", .most >> 20)]
    TooLong {
        /// The maximum length of a line, in bytes.
        most: usize,
    },
    /// The line is not UTF-8.
    #[error("the line is not UTF-8")]
    NotUtf8,
    /// The line cannot be parsed.
    #[error(transparent)]
    Line(#[from] LineError),
    /// A reply arrived, but the driver does not act as the user.
    #[error("no requests are sent without --ask")]
    NotAsking,
    /// A batch of this name is in progress.
    #[error("batch `{0}` is still running; give this one another name")]
    BatchTaken(String),
    /// No batch of this name is in progress.
    #[error("no batch `{0}` is running")]
    NoBatch(String),
    /// The reply to a request is not expected, or is invalid.
    #[error(transparent)]
    Reply(#[from] ReplyError),
    /// No question with this id is open for the assistant.
    #[error("no question `{0}` is open")]
    NoQuestion(String),
    /// The answer is invalid. The question stays open.
    #[error(transparent)]
    Answer(#[from] AnswerError),
    /// A handle cannot be read.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A handle has no screen.
    #[error("handle `{0}` has no terminal; read its output instead")]
    NoScreen(HandleId),
    /// The dialect is unknown.
    #[error(transparent)]
    Dialect(#[from] UnknownDialect),
    /// The driver's tool cannot be offered.
    #[error("{}", chain(.0))]
    Tool(Box<windlass::BuildError>),
    /// The parameters of the driver's tool are not a JSON Schema of an object.
    #[error("the parameters of tool `{0}` must be a JSON Schema with `\"type\": \"object\"`")]
    NotObject(String),
    /// No run of that name is in progress.
    #[error("no run `{0}` is active; it has ended, or was aborted")]
    NoRun(String),
    /// No inquiry with this id is open.
    #[error("no inquiry `{0}` is open")]
    NoInquiry(String),
    /// A decision names a handle that is not part of the inquiry.
    #[error("inquiry `{inquiry}` is not about `{handle}`; it is about {}", .handles.join(", "))]
    OtherHandle {
        inquiry: String,
        /// The handle of the decision.
        handle: String,
        /// The handles of the inquiry.
        handles: Vec<String>,
    },
}

/// Formats an error and its causes on one line.
fn chain(error: &windlass::BuildError) -> String {
    let mut causes = vec![error.to_string()];
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        causes.push(error.to_string());
        cause = error.source();
    }
    causes.join(": ")
}
