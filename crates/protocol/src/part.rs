//! A call as it is recorded.
//!
//! The names and the spelling (`sessionID`, `callID`) are those of opencode's
//! wire, so that its clients can read our record.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use crate::{Arguments, MessageId, PartId, SessionId};

/// One call in the record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "tool")]
#[schemars(rename = "ToolPart", transform = says_type("tool"))]
pub struct ToolPart {
    /// The part's id.
    pub id: PartId,
    /// The session that called.
    #[serde(rename = "sessionID")]
    pub session_id: SessionId,
    /// The message that holds the call.
    #[serde(rename = "messageID")]
    pub message_id: MessageId,
    /// The call.
    #[serde(rename = "callID")]
    pub call_id: String,
    /// The tool's name.
    pub tool: String,
    /// The call's state.
    pub state: PartState,
    /// Anything else worth keeping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Arguments>,
}

/// The error of a call whose runtime died.
const INTERRUPTED: &str = "interrupted: the runtime ended before the call did";

impl ToolPart {
    /// The part of a call whose runtime died and was last seen at this time. A
    /// finished call is unchanged.
    #[must_use]
    pub fn interrupted(mut self, last_seen: Millis) -> Self {
        let (input, metadata, start) = match self.state {
            PartState::Pending(state) => (state.input, None, last_seen),
            PartState::Running(state) => (state.input, state.metadata, state.time.start),
            ended @ (PartState::Completed(_) | PartState::Error(_)) => {
                self.state = ended;
                return self;
            }
        };
        self.state = PartState::Error(StateError {
            input,
            error: INTERRUPTED.to_owned(),
            metadata: metadata.or_else(|| self.metadata.clone()),
            time: PartTimeWithEnd {
                start,
                end: last_seen.max(start),
                compacted: None,
            },
        });
        self
    }
}

/// The state of a recorded call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum PartState {
    /// Created, not yet running.
    Pending(StatePending),
    /// Running.
    Running(StateRunning),
    /// Finished successfully.
    Completed(StateCompleted),
    /// Ended with an error.
    Error(StateError),
}

/// A call that has been created and does not run yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatePending {
    /// The arguments.
    pub input: Arc<Arguments>,
    /// The arguments as the model wrote them.
    #[schemars(with = "String")]
    pub raw: RawArguments,
}

/// The arguments of a call as text. The text is produced only when it is read,
/// because most pending calls run before that.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "String")]
pub enum RawArguments {
    /// The text as it came.
    Text(String),
    /// These, as JSON.
    Json(Arc<Arguments>),
}

impl From<String> for RawArguments {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl fmt::Display for RawArguments {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => formatter.write_str(text),
            Self::Json(arguments) => {
                let text = serde_json::to_string(arguments).map_err(|_| fmt::Error)?;
                formatter.write_str(&text)
            }
        }
    }
}

impl Serialize for RawArguments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Json(arguments) => {
                let text = serde_json::to_string(arguments).map_err(serde::ser::Error::custom)?;
                serializer.serialize_str(&text)
            }
        }
    }
}

/// Two are equal when their texts are.
impl PartialEq for RawArguments {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(one), Self::Text(other)) => one == other,
            (one, other) => one.to_string() == other.to_string(),
        }
    }
}

/// A call that runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StateRunning {
    /// The arguments.
    pub input: Arc<Arguments>,
    /// The title to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Anything else worth keeping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Arguments>,
    /// When it started.
    pub time: PartTime,
}

/// A call that finished successfully.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StateCompleted {
    /// The arguments.
    pub input: Arc<Arguments>,
    /// The output that the assistant read.
    pub output: String,
    /// The title to show.
    pub title: String,
    /// Anything else worth keeping.
    #[serde(default)]
    pub metadata: Arguments,
    /// When it started and ended.
    pub time: PartTimeWithEnd,
    /// Files that came with the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attachments: Option<Vec<FilePart>>,
}

/// A call that ended with an error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StateError {
    /// The arguments.
    pub input: Arc<Arguments>,
    /// The error message.
    pub error: String,
    /// Anything else worth keeping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Arguments>,
    /// When it started and ended.
    pub time: PartTimeWithEnd,
}

/// When a call started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartTime {
    /// Milliseconds since the epoch.
    pub start: Millis,
}

/// When a call started and ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartTimeWithEnd {
    /// Milliseconds since the epoch.
    pub start: Millis,
    /// Milliseconds since the epoch.
    pub end: Millis,
    /// When its output was dropped from the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compacted: Option<Millis>,
}

/// Milliseconds since the epoch; read from any JSON number, written whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[schemars(with = "f64")]
pub struct Millis(pub u64);

impl Millis {
    /// The time in milliseconds. A time before the epoch becomes 0.
    pub fn at(time: SystemTime) -> Self {
        let since = time.duration_since(SystemTime::UNIX_EPOCH);
        Self(since.map_or(0, |since| {
            u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
        }))
    }
}

impl<'de> Deserialize<'de> for Millis {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = serde_json::Number::deserialize(deserializer)?;
        let millis = number.as_u64().or_else(|| {
            let float = number.as_f64()?;
            // 2^53: past this a double no longer names a millisecond.
            let fits = (0.0..=9_007_199_254_740_992.0).contains(&float);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the range was just checked"
            )]
            fits.then_some(float as u64)
        });
        millis.map(Self).ok_or_else(|| {
            serde::de::Error::custom(format!("{number} is not a time in milliseconds"))
        })
    }
}

/// A file that came with a call's output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "file")]
#[schemars(rename = "FilePart", transform = says_type("file"))]
pub struct FilePart {
    /// The part's id.
    pub id: PartId,
    /// The session that called.
    #[serde(rename = "sessionID")]
    pub session_id: SessionId,
    /// The message that holds the call.
    #[serde(rename = "messageID")]
    pub message_id: MessageId,
    /// Its media type.
    pub mime: String,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
    /// Its location, or its content as a `data:` URL.
    pub url: String,
    /// Its origin, as the origin described it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Value>,
}

/// Adds the `type` field of a part to its schema. Serde writes it, but schemars
/// omits it from the schema of a tagged struct.
pub(crate) fn says_type(name: &'static str) -> impl FnMut(&mut Schema) {
    move |schema| {
        let object = schema.ensure_object();
        if let Some(Value::Object(properties)) = object.get_mut("properties") {
            properties.insert("type".into(), json!({ "type": "string", "const": name }));
        }
        if let Some(Value::Array(required)) = object.get_mut("required") {
            required.push(json!("type"));
        }
    }
}
