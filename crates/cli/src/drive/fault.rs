//! Faults of `drive` lines.

use windlass_protocol::{AnswerError, HandleId, LineError};
use windlass_runtime::{Refusal, ReplyError};
use windlass_schema::UnknownDialect;

/// The reason why a line was rejected. It is answered with an error, and
/// nothing else changes.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DriveFault {
    /// The line is longer than a line may be.
    #[error("the line is longer than {} MiB; send less at once", .most >> 20)]
    TooLong {
        /// The most bytes that a line may have.
        most: usize,
    },
    /// The line is not text.
    #[error("the line is not UTF-8")]
    NotUtf8,
    /// The line cannot be read.
    #[error(transparent)]
    Line(#[from] LineError),
    /// A reply came, and the driver is not the person.
    #[error("nothing is asked without --ask")]
    NotAsking,
    /// A batch of this name is not answered yet.
    #[error("batch `{0}` is not answered yet; give this one another name")]
    BatchTaken(String),
    /// No such batch is under way.
    #[error("no batch `{0}` is being answered")]
    NoBatch(String),
    /// The reply to a request is not wanted, or does not fit.
    #[error(transparent)]
    Reply(#[from] ReplyError),
    /// No such question to the assistant is open.
    #[error("no question `{0}` is open")]
    NoQuestion(String),
    /// The answer does not fit the question, which stays open.
    #[error(transparent)]
    Answer(#[from] AnswerError),
    /// A handle cannot be read.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A handle has no screen.
    #[error("handle `{0}` has no terminal; read its output instead")]
    NoScreen(HandleId),
    /// No such dialect is known.
    #[error(transparent)]
    Dialect(#[from] UnknownDialect),
    /// The driver's tool cannot be offered.
    #[error("{}", chain(.0))]
    Tool(Box<windlass::BuildError>),
    /// The parameters of the driver's tool are no JSON Schema of an object.
    #[error("the parameters of tool `{0}` must be a JSON Schema with `\"type\": \"object\"`")]
    NotObject(String),
    /// No run of that name is under way.
    #[error("no run `{0}` is under way; it has ended, or was aborted")]
    NoRun(String),
    /// No such inquiry is open.
    #[error("no inquiry `{0}` is open")]
    NoInquiry(String),
    /// A decision is about a handle that the inquiry does not name.
    #[error("inquiry `{inquiry}` is not about `{handle}`; it is about {}", .handles.join(", "))]
    OtherHandle {
        inquiry: String,
        /// The handle that was named.
        handle: String,
        /// The handles that could have been.
        handles: Vec<String>,
    },
}

/// An error and its causes, in one line.
fn chain(error: &windlass::BuildError) -> String {
    let mut causes = vec![error.to_string()];
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        causes.push(error.to_string());
        cause = error.source();
    }
    causes.join(": ")
}
