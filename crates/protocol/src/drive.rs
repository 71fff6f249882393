//! The lines of `windlass drive`: one JSON value each, both ways.
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
        /// They run beside other batches: they wait for none, and none waits for them.
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
    /// Refuse to answer a question: its tool is ended with the reason as its
    /// error.
    Decline {
        /// The question, by the id it was asked under.
        ask: String,
        /// The reason.
        why: String,
    },
    /// Ask something of the session.
    Request {
        /// Names the request in its reply.
        id: String,
        /// The request.
        request: DriverRequest,
    },
    /// Tell of a run of one of the driver's tools.
    Report {
        /// The run.
        run: String,
        /// The report.
        report: DriverReport,
    },
    /// Say what becomes of the handles at the turn's end.
    Inquire {
        /// The inquiry, by the id it was asked under.
        ask: String,
        /// What becomes of each.
        decisions: BTreeMap<String, TurnEndDecision>,
    },
}

/// What becomes of a handle at the turn's end.
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
        /// What became of its handles.
        turn_end: TurnEndReport,
    },
    /// The driver is asked or told something.
    Event(Box<DriveEvent>),
    /// A request is answered.
    Reply(DriverReply),
    /// A line was not understood; nothing else changed.
    Error {
        /// What would have been.
        error: String,
    },
}

/// Something that the driver is asked or told.
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
    /// A question that was told is no longer open, and not by an answer of the
    /// driver's.
    Withdrawn {
        /// The question, by the id it was asked under.
        ask: String,
    },
    /// What becomes of these handles at the turn's end?
    Inquire {
        /// Names the inquiry.
        ask: String,
        /// The handles that still run.
        handles: Vec<TurnEndHandle>,
    },
    /// A tool of the driver's is to run.
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
    /// A run of the driver's is to end soon. Its end is still reported.
    ToolAbort {
        /// The run.
        run: String,
    },
    /// Something happened in the session, which the driver follows.
    Update(Box<StreamedEvent>),
    /// Events are gone that the driver has not read in time.
    Missed {
        /// How many.
        count: u64,
    },
}

/// A question on its way to whoever answers it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ask {
    /// Names the asking.
    pub ask: String,
    /// The call that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The handle that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<HandleId>,
    /// The tool that asks.
    pub tool: String,
    /// What it asks.
    pub question: Question,
    /// The tool's words beside the question, such as the hunk that it asks
    /// about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The form that the question is a field of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Box<QuestionForm>>,
    /// How it is shown to a person, where one is asked.
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
    /// How long it has run.
    pub elapsed_secs: f64,
    /// The end of its output.
    pub output_preview: String,
    /// Its open question, when waiting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Question>,
}

/// What became of the handles at a turn's end.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TurnEndReport {
    /// Those that were ended.
    pub ended: Vec<HandleId>,
    /// Those that were waited for and have stopped.
    pub awaited: Vec<HandleId>,
    /// Those that the inquiry should have decided on and did not, because it
    /// failed. They were ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undecided: Vec<HandleId>,
    /// Those that go on, because the session keeps them between its turns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<HandleId>,
    /// What came of those that the inquiry said to wait for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<HandleView>,
}

/// A batch as [`DriveInput::read`] takes it: the calls, or an object with them
/// and the batch's name.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
pub enum CallsBody {
    /// The calls alone.
    Calls(Vec<NewCall>),
    /// With a name.
    Batch {
        /// Names the batch; the line's number unless given.
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
    /// Names the call within its batch; its place unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool's name.
    pub tool: String,
    /// What it is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Arguments>,
}

impl DriveInput {
    /// Reads a line. `number` is the line's place in the input, from 1 on,
    /// which names a batch that has no name of its own.
    pub fn read(line: &str, number: u64) -> Result<Self, LineError> {
        match serde_json::from_str(line).map_err(LineError::Json)? {
            Value::Array(calls) => Batch::of(number.to_string(), calls).map(|batch| Self::Batch {
                batch,
                concurrent: false,
            }),
            Value::Object(object) => Self::read_object(object, number),
            _ => Err(LineError::NotALine),
        }
    }

    fn read_object(object: Arguments, number: u64) -> Result<Self, LineError> {
        let has = |key: &str| object.contains_key(key);
        if has("calls") {
            Self::read_batch(object, number)
        } else if has("request") {
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
            struct Wire {
                answer: String,
                value: Value,
            }
            let wire: Wire =
                serde_json::from_value(Value::Object(object)).map_err(LineError::Answer)?;
            Ok(Self::Answer {
                ask: wire.answer,
                value: wire.value,
            })
        } else if has("inquire") {
            #[derive(Deserialize)]
            #[serde(deny_unknown_fields)]
            struct Wire {
                inquire: String,
                decisions: BTreeMap<String, TurnEndDecision>,
            }
            let wire: Wire =
                serde_json::from_value(Value::Object(object)).map_err(LineError::Inquiry)?;
            Ok(Self::Inquire {
                ask: wire.inquire,
                decisions: wire.decisions,
            })
        } else {
            Err(LineError::UnknownObject)
        }
    }

    fn read_batch(mut object: Arguments, number: u64) -> Result<Self, LineError> {
        let concurrent = match object.shift_remove("concurrent") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(concurrent)) => concurrent,
            Some(_) => {
                return Err(LineError::Value {
                    key: "concurrent",
                    expected: "true or false",
                });
            }
        };
        let batch = read_batch(object, number)?;
        Ok(Self::Batch { batch, concurrent })
    }
}

/// Takes the id out of an object, and gives the rest of it.
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
    /// The most calls that a batch may have when it is read.
    pub const MOST_CALLS: usize = 1024;

    /// Reads what must be a batch, in either of the forms that a line of
    /// [`DriveInput`] has it. `number` names one that has no name of its own.
    pub fn read(text: &str, number: u64) -> Result<Self, LineError> {
        match serde_json::from_str(text).map_err(LineError::Json)? {
            Value::Array(calls) => Self::of(number.to_string(), calls),
            Value::Object(object) if object.contains_key("calls") => read_batch(object, number),
            _ => Err(LineError::NotABatch),
        }
    }

    /// Reads the calls of a batch.
    fn of(id: String, calls: Vec<Value>) -> Result<Self, LineError> {
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

fn read_batch(mut object: Arguments, number: u64) -> Result<Batch, LineError> {
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
    Batch::of(id, calls)
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
