//! Errors in a line of `windlass drive`, or in the body of a batch.

use std::fmt::Display;

/// A line or a batch that cannot be read. The message is a single line,
/// whatever it quotes.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// The text is not JSON.
    #[error("not JSON: {}", one_line(.0))]
    Json(serde_json::Error),
    /// The JSON value is neither a list nor an object.
    #[error(
        "a line must be a list of calls or an object; for example \
         [{{\"tool\":\"shell\",\"arguments\":{{\"command\":\"ls\"}}}}]"
    )]
    NotALine,
    /// The JSON value is not a batch, and only a batch is accepted here.
    #[error(
        "a batch is a list of calls, or an object with `calls`; for example \
         [{{\"tool\":\"shell\",\"arguments\":{{\"command\":\"ls\"}}}}]"
    )]
    NotABatch,
    /// A batch has more calls than one may have.
    #[error("a batch has at most {most} calls, and this one has {given}; send several batches", most = crate::Batch::MOST_CALLS)]
    TooManyCalls {
        /// The number of calls.
        given: usize,
    },
    /// The object has none of the keys that identify its kind.
    #[error(
        "an object must have one of `calls`, `cancel`, `turn_end`, `permission`, `answer`, \
         `inquire`, `request` and `run`"
    )]
    UnknownObject,
    /// A batch has an unknown key.
    #[error(
        "unknown key `{}` beside `calls`; a batch has `batch` and `calls`",
        one_line(.0)
    )]
    UnknownBatchKey(String),
    /// An object has an unknown key beside the one that identifies its kind.
    #[error("unknown key `{}` beside `{beside}`", one_line(.key))]
    UnknownKey {
        /// The unknown key.
        key: String,
        /// The known one.
        beside: &'static str,
    },
    /// A key has a value that does not fit.
    #[error("`{key}` must be {expected}")]
    Value {
        /// The key.
        key: &'static str,
        /// The value that would fit.
        expected: &'static str,
    },
    /// A reply to a permission request does not fit its schema.
    #[error("the reply to a permission is invalid: {}", one_line(.0))]
    Permission(serde_json::Error),
    /// An answer to a question does not fit its schema.
    #[error("the answer is invalid: {}", one_line(.0))]
    Answer(serde_json::Error),
    /// A request does not fit its schema.
    #[error("request `{}` is invalid: {}", one_line(.request), one_line(.error))]
    Request {
        /// The request, by its id.
        request: String,
        /// The mismatch.
        error: serde_json::Error,
    },
    /// A report on a run of the driver's tools does not fit its schema.
    #[error("the report on run `{}` is invalid: {}", one_line(.run), one_line(.error))]
    Report {
        /// The run.
        run: String,
        /// The mismatch.
        error: serde_json::Error,
    },
    /// An answer to a turn end's inquiry does not fit its schema.
    #[error("the answer to an inquiry is invalid: {}", one_line(.0))]
    Inquiry(serde_json::Error),
    /// An element of `calls` is not an object.
    #[error("call {place} must be an object with `tool` and `arguments`")]
    NotACall {
        /// The element's place, from 1 on.
        place: usize,
    },
    /// An element of `calls` does not fit its schema.
    #[error("call {place} is invalid: {}", one_line(.error))]
    Call {
        /// The element's place, from 1 on.
        place: usize,
        /// The mismatch.
        error: serde_json::Error,
    },
    /// Two calls of a batch have one id.
    #[error("calls {earlier} and {place} have the same id `{}`", one_line(.id))]
    CallTwice {
        /// The first call's place, from 1 on.
        earlier: usize,
        /// The second call's place.
        place: usize,
        /// Their id.
        id: String,
    },
}

impl LineError {
    /// Whether the text is not JSON. Otherwise it is JSON with a wrong value.
    pub fn is_syntax(&self) -> bool {
        matches!(self, Self::Json(_))
    }
}

/// Escapes control characters in a quotation, so that the message stays on one
/// line.
fn one_line(quoted: &impl Display) -> String {
    quoted.to_string().replace(char::is_control, " ")
}
