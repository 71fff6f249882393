//! The lines of `windlass drive`: one JSON value each, in both directions.
//!
//! [`DriveInput::read`] reads a line; [`DriveOutput`] is written as one.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::line_error::LineError;
use crate::{
    AnswerError, Arguments, Batch, BatchReply, DriverCall, DriverReply, DriverReport,
    DriverRequest, HandleId, HandleState, HandleView, PermissionAnswer, PermissionId,
    PermissionRequest, Question, QuestionForm, RequestRendering, StreamedEvent, ToolCall,
};

/// A line from the driver.
#[derive(Debug, Clone, PartialEq)]
pub enum DriveInput {
    /// Run these calls.
    Batch {
        /// The calls.
        batch: Batch,
        /// They run in parallel with other batches, without waiting in either
        /// direction.
        concurrent: bool,
    },
    /// End a blocking batch.
    Cancel(String),
    /// End the turn.
    TurnEnd,
    /// Reply to a permission request.
    Permission {
        /// The request.
        permission: PermissionId,
        /// The reply.
        answer: PermissionAnswer,
    },
    /// Answer a question.
    Answer {
        /// The question, by the id it was asked under.
        ask: String,
        /// The answer.
        value: Value,
    },
    /// Decline a question: its tool is ended with the reason as its error.
    Decline {
        /// The question, by the id it was asked under.
        ask: String,
        /// The reason.
        why: String,
    },
    /// Ask something of the session.
    Request {
        /// The request's id, repeated in its reply.
        id: String,
        /// The request.
        request: DriverRequest,
    },
    /// Report on a run of one of the driver's tools.
    Report {
        /// The run.
        run: String,
        /// The report.
        report: DriverReport,
    },
    /// Decide about the handles at the turn's end.
    Inquire {
        /// The inquiry, by the id it was asked under.
        ask: String,
        /// The decision for each handle.
        decisions: BTreeMap<String, TurnEndDecision>,
    },
}

/// The decision about a handle at the turn's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnEndDecision {
    /// Wait until it has stopped.
    Wait,
    /// End it.
    Abort,
}

/// A line to the driver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum DriveOutput {
    /// A batch is answered.
    Replies(BatchReply),
    /// The turn has ended.
    TurnEnd {
        /// The report on its handles.
        turn_end: TurnEndReport,
    },
    /// An event or request for the driver.
    Event(Box<DriveEvent>),
    /// A request is answered.
    Reply(DriverReply),
    /// A line was not understood; nothing else changed.
    Error {
        /// The error, with a line that would work.
        error: String,
    },
}

/// An event or request for the driver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum DriveEvent {
    /// May this run?
    Permission {
        /// The request.
        request: PermissionRequest,
    },
    /// A tool asks.
    Question(Ask),
    /// A question is closed, and not by an answer of the driver.
    Withdrawn {
        /// The question, by the id it was asked under.
        ask: String,
    },
    /// Asks for decisions about these handles at the turn's end.
    Inquire {
        /// The inquiry's id.
        ask: String,
        /// The handles that still run.
        handles: Vec<TurnEndHandle>,
    },
    /// The driver must run one of its tools.
    ToolCall(DriverCall),
    /// A run of the driver's has its answer.
    ToolAnswer {
        /// The run.
        run: String,
        /// The question, by the id that the tool gave it.
        question: String,
        /// The answer.
        value: Value,
    },
    /// A run of the driver must end soon. Its end is still reported.
    ToolAbort {
        /// The run.
        run: String,
    },
    /// Something happened in the session, which the driver follows.
    Update(Box<StreamedEvent>),
    /// Events were dropped because the driver did not read them in time.
    Missed {
        /// The number of dropped events.
        count: u64,
    },
}

/// A question that waits for an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ask {
    /// The question's id in the session.
    pub ask: String,
    /// The call that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The handle that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<HandleId>,
    /// The tool that asks.
    pub tool: String,
    /// The question itself.
    pub question: Question,
    /// The tool's text that belongs to the question, such as the hunk that it
    /// asks about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The form that the question is a field of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Box<QuestionForm>>,
    /// The form in which a person sees it, if a person is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendering: Option<Box<RequestRendering>>,
}

impl Ask {
    /// Checks an answer against the question. A question that is a field of a
    /// form may be answered with an object of all the form's fields.
    pub fn check(&self, answer: Value) -> Result<Value, AnswerError> {
        if self.form.is_some() && answer.is_object() {
            return Ok(answer);
        }
        self.question.check(answer)
    }
}

/// A handle that still runs when the turn ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnEndHandle {
    /// The handle.
    pub id: HandleId,
    /// Its tool.
    pub tool: String,
    /// Its state.
    pub state: HandleState,
    /// The time since its start.
    pub elapsed_secs: f64,
    /// The end of its output.
    pub output_preview: String,
    /// Its open question, when waiting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Question>,
}

/// The handles' fates at a turn's end.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TurnEndReport {
    /// Those that were ended.
    pub ended: Vec<HandleId>,
    /// Those that were waited for and have stopped.
    pub awaited: Vec<HandleId>,
    /// Handles that were ended because the inquiry about them failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undecided: Vec<HandleId>,
    /// Handles that continue, because the session keeps them between turns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<HandleId>,
    /// The final views of the handles that the inquiry decided to wait for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<HandleView>,
}

/// A batch in the two forms that [`DriveInput::read`] accepts: a list of calls,
/// or an object with the calls and the batch's name.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
pub enum CallsBody {
    /// The calls alone.
    Calls(Vec<NewCall>),
    /// With a name.
    Batch {
        /// The batch's id; default: the line's number.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        batch: Option<String>,
        /// The calls, answered in this order.
        calls: Vec<NewCall>,
    },
}

/// A call whose id may be missing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCall {
    /// The call's id within its batch; default: its position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool's name.
    pub tool: String,
    /// The arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Arguments>,
}

impl DriveInput {
    /// Reads a line. `number` is the line's number, from 1; it names a batch
    /// that has no name of its own.
    pub fn read(line: &str, number: u64) -> Result<Self, LineError> {
        let mut value = serde_json::from_str(line).map_err(LineError::Json)?;
        let concurrent = match &mut value {
            Value::Array(_) => false,
            Value::Object(object) if object.contains_key("calls") => {
                match object.shift_remove("concurrent") {
                    None | Some(Value::Null) => false,
                    Some(Value::Bool(concurrent)) => concurrent,
                    Some(_) => {
                        return Err(LineError::Value {
                            key: "concurrent",
                            expected: "true or false",
                        });
                    }
                }
            }
            Value::Object(object) => return Self::read_order(std::mem::take(object)),
            _ => return Err(LineError::NotALine),
        };
        let batch = Batch::from_value(value, number)?;
        Ok(Self::Batch { batch, concurrent })
    }

    /// Reads a line other than a batch.
    fn read_order(object: Arguments) -> Result<Self, LineError> {
        let has = |key: &str| object.contains_key(key);
        if has("request") {
            let (id, request) = split(object, "request")?;
            match serde_json::from_value(request) {
                Ok(request) => Ok(Self::Request { id, request }),
                Err(error) => Err(LineError::Request { request: id, error }),
            }
        } else if has("run") {
            let (run, report) = split(object, "run")?;
            match serde_json::from_value(report) {
                Ok(report) => Ok(Self::Report { run, report }),
                Err(error) => Err(LineError::Report { run, error }),
            }
        } else if has("cancel") {
            Ok(Self::Cancel(single(
                object,
                "cancel",
                "the name of a batch",
            )?))
        } else if has("turn_end") {
            if single(object, "turn_end", "true")? {
                Ok(Self::TurnEnd)
            } else {
                Err(LineError::Value {
                    key: "turn_end",
                    expected: "true",
                })
            }
        } else if has("permission") {
            let mut object = object;
            let permission = object.shift_remove("permission").unwrap_or_default();
            Ok(Self::Permission {
                permission: serde_json::from_value(permission).map_err(LineError::Permission)?,
                answer: serde_json::from_value(Value::Object(object))
                    .map_err(LineError::Permission)?,
            })
        } else if has("answer") && has("decline") {
            #[derive(Deserialize)]
            #[serde(deny_unknown_fields)]
            struct DeclineLine {
                answer: String,
                decline: String,
            }
            let line: DeclineLine =
                serde_json::from_value(Value::Object(object)).map_err(LineError::Answer)?;
            Ok(Self::Decline {
                ask: line.answer,
                why: line.decline,
            })
        } else if has("answer") {
            #[derive(Deserialize)]
            #[serde(deny_unknown_fields)]
            struct AnswerLine {
                answer: String,
                value: Value,
            }
            let wire: AnswerLine =
                serde_json::from_value(Value::Object(object)).map_err(LineError::Answer)?;
            Ok(Self::Answer {
                ask: wire.answer,
                value: wire.value,
            })
        } else if has("inquire") {
            #[derive(Deserialize)]
            #[serde(deny_unknown_fields)]
            struct InquiryLine {
                inquire: String,
                decisions: BTreeMap<String, TurnEndDecision>,
            }
            let wire: InquiryLine =
                serde_json::from_value(Value::Object(object)).map_err(LineError::Inquiry)?;
            Ok(Self::Inquire {
                ask: wire.inquire,
                decisions: wire.decisions,
            })
        } else {
            Err(LineError::UnknownObject)
        }
    }
}

/// Removes the id from an object and returns it with the remaining object.
fn split(mut object: Arguments, key: &'static str) -> Result<(String, Value), LineError> {
    match object.shift_remove(key) {
        Some(Value::String(id)) => Ok((id, Value::Object(object))),
        _ => Err(LineError::Value {
            key,
            expected: "a string",
        }),
    }
}

impl Batch {
    /// Maximum number of calls in a batch.
    pub const MOST_CALLS: usize = 1024;

    /// Reads a batch, in either form that a line of [`DriveInput`] accepts.
    /// `number` names a batch that has no name of its own.
    pub fn read(text: &str, number: u64) -> Result<Self, LineError> {
        let value = serde_json::from_str(text).map_err(LineError::Json)?;
        Self::from_value(value, number)
    }

    fn from_value(value: Value, number: u64) -> Result<Self, LineError> {
        let (id, calls) = match value {
            Value::Array(calls) => (number.to_string(), calls),
            Value::Object(mut object) if object.contains_key("calls") => {
                let id = match object.shift_remove("batch") {
                    None | Some(Value::Null) => number.to_string(),
                    Some(Value::String(id)) => id,
                    Some(_) => {
                        return Err(LineError::Value {
                            key: "batch",
                            expected: "a string",
                        });
                    }
                };
                let Some(Value::Array(calls)) = object.shift_remove("calls") else {
                    return Err(LineError::Value {
                        key: "calls",
                        expected: "a list of calls",
                    });
                };
                if let Some(key) = object.keys().next() {
                    return Err(LineError::UnknownBatchKey(key.clone()));
                }
                (id, calls)
            }
            _ => return Err(LineError::NotABatch),
        };
        if calls.len() > Self::MOST_CALLS {
            let given = calls.len();
            return Err(LineError::TooManyCalls { given });
        }
        let mut seen = IndexMap::new();
        let mut read = Vec::with_capacity(calls.len());
        for (place, call) in (1..).zip(calls) {
            if !call.is_object() {
                return Err(LineError::NotACall { place });
            }
            let call: NewCall =
                serde_json::from_value(call).map_err(|error| LineError::Call { place, error })?;
            let id = call.id.unwrap_or_else(|| place.to_string());
            if let Some(earlier) = seen.insert(id.clone(), place) {
                return Err(LineError::CallTwice { earlier, place, id });
            }
            read.push(ToolCall {
                id,
                tool: call.tool,
                arguments: call.arguments.unwrap_or_default(),
            });
        }
        Ok(Self { id, calls: read })
    }
}

fn single<T: serde::de::DeserializeOwned>(
    mut object: Arguments,
    key: &'static str,
    expected: &'static str,
) -> Result<T, LineError> {
    let value = object.shift_remove(key).unwrap_or_default();
    if let Some(other) = object.keys().next() {
        return Err(LineError::UnknownKey {
            key: other.clone(),
            beside: key,
        });
    }
    serde_json::from_value(value).map_err(|_| LineError::Value { key, expected })
}

#[cfg(test)]
#[path = "drive_tests.rs"]
mod tests;
