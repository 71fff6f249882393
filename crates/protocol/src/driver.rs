//! Requests of a driver, and tools that the driver runs itself.
//!
//! These are lines of `windlass drive` beside the batches of
//! [`DriveInput`](crate::DriveInput). A [`DriverRequest`] is answered with a
//! [`DriverReply`] of the same id. A [`DriverTool`] runs in the driver's own
//! program: the runtime sends a [`DriverCall`], and the driver replies with
//! [`DriverReport`] lines.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Arguments, HandleId, HandleInfo, OnTurnEnd, Question, ScreenUpdate, SessionId, ToolError,
};

/// A request of the driver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum DriverRequest {
    /// The session.
    Session {},
    /// The tools that a model is offered.
    Tools {
        /// The dialect of their parameters. Default: `json-schema`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dialect: Option<String>,
    },
    /// Every readable handle, and every running one-shot.
    Handles {},
    /// The screen of a handle.
    Screen {
        /// The handle.
        handle: HandleId,
        /// The generation that the driver has seen. Default: all rows are sent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<u64>,
        /// Delays the reply until the screen has changed since then, or the
        /// handle has stopped.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        wait: bool,
    },
    /// The output of a handle from an offset. The assistant's cursor does not
    /// move.
    Output {
        /// The handle.
        handle: HandleId,
        /// The offset of the first byte. Default: 0.
        #[serde(default)]
        from: u64,
        /// Delays the reply until there is output beyond the offset, or the
        /// handle has stopped.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        wait: bool,
        /// Sends only whole lines, without control sequences; an unfinished
        /// last line is sent once the handle has stopped.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        lines: bool,
    },
    /// Adds a tool that the driver runs.
    AddTool(DriverTool),
    /// Sends every event of the session from now on. Following a followed
    /// session again restarts at this point.
    Follow {
        /// Events after this number are sent. Default: the newest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<u64>,
    },
    /// Tells no more events.
    Unfollow {},
}

/// The reply to a request: a value, or an error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DriverReply {
    /// The request.
    pub reply: String,
    /// The requested value; `{}` if the request has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "DriverValue")]
    pub value: Option<Value>,
    /// The reason for the refusal, and a request that would work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl DriverReply {
    /// The reply to a request: its value, or its refusal.
    pub fn new(request: String, outcome: Result<DriverValue, impl ToString>) -> Self {
        let (value, error) = match outcome {
            Ok(value) => {
                let value = serde_json::to_value(value)
                    .expect("values hold only strings, numbers, lists and string-keyed maps");
                (Some(value), None)
            }
            Err(error) => (None, Some(error.to_string())),
        };
        Self {
            reply: request,
            value,
            error,
        }
    }
}

/// The value of a reply, by the request.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum DriverValue {
    /// To `session`.
    Session(DriverSession),
    /// To `tools`.
    Tools(Vec<ToolOffer>),
    /// To `handles`.
    Handles(Vec<HandleInfo>),
    /// To `screen`.
    Screen(Box<DriverScreen>),
    /// To `output`.
    Output(OutputPiece),
    /// The reply to a request without a value.
    Done {},
}

/// The session of a driver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DriverSession {
    /// The session.
    pub id: SessionId,
    /// The process of the runtime.
    pub pid: u32,
    /// The version of the runtime.
    pub version: String,
    /// The project's root folder.
    pub root: PathBuf,
    /// The driver needs no permission for anything.
    pub trusted: bool,
    /// The number of the newest event.
    pub last_event: u64,
}

/// A tool as a model is offered it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolOffer {
    /// Its name.
    pub name: String,
    /// A line for the model.
    pub description: String,
    /// The JSON Schema of its parameters, in the requested dialect.
    pub parameters: Value,
}

/// The screen of a handle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DriverScreen {
    /// The current screen.
    #[serde(flatten)]
    pub screen: ScreenUpdate,
    /// The handle has stopped: the screen no longer changes.
    pub ended: bool,
}

/// A piece of a handle's output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutputPiece {
    /// The offset of its first byte.
    pub from: u64,
    /// The offset after its last byte, where the next piece begins.
    pub to: u64,
    /// The text. Invalid UTF-8 is replaced by U+FFFD.
    pub text: String,
    /// The number of bytes between the two offsets that are no longer stored.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted_bytes: u64,
    /// The handle has stopped, and this is the last of its output.
    pub ended: bool,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A tool that the driver runs in its own program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DriverTool {
    /// Its name, as the model calls it.
    pub name: String,
    /// A line for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Details, given only on `describe_tools`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON Schema of its arguments, an object. Default: no arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Value>,
    /// It can be spawned and then runs as a handle.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// It runs without asking a person, unless the configuration says
    /// otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unattended: bool,
    /// Time limit of a one-shot in seconds. Default: the configured one, else
    /// 600.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_secs: Option<u64>,
    /// The fate of its handles at the turn's end. Default: the assistant is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_turn_end: Option<OnTurnEnd>,
}

/// A call that the driver must run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DriverCall {
    /// The run's id, used in reports and orders.
    pub run: String,
    /// The tool.
    pub tool: String,
    /// The handle, unless it is a one-shot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<HandleId>,
    /// The call's arguments. They fit the tool's parameters.
    pub arguments: Arguments,
}

/// The driver's report about one of its runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "report", rename_all = "snake_case", deny_unknown_fields)]
pub enum DriverReport {
    /// The first step is done and the run continues. Windlass now replies to
    /// the `spawn`, or to the answer of a question.
    Running {},
    /// It has written a line, or several.
    Output {
        /// The text, without the newline at its end.
        text: String,
    },
    /// It asks something and waits for the answer.
    Question {
        /// The question.
        question: Question,
        /// Words beside the question.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<String>,
    },
    /// It finished successfully. Nothing follows.
    Result {
        /// Its result.
        text: String,
    },
    /// It has failed. Nothing follows.
    Error {
        /// The error.
        error: ToolError,
    },
}
