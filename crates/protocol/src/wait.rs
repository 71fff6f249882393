//! The `await` tool: its conditions and its reply.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{HandleId, HandleView};

/// The arguments of `await`. Everything given must hold.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AwaitRequest {
    /// At least one of these has stopped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub any: Vec<String>,
    /// Every one of these has stopped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub all: Vec<String>,
    /// Every one of these holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub until: Vec<Condition>,
    /// The longest time to wait; default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_secs: Option<f64>,
}

/// One condition of `until`, as it is written: an id and one thing to wait
/// for.
///
/// [`Condition::read`] checks it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// The handle.
    pub id: String,
    /// A line of its output matches this regular expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Only lines that come from now on count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<bool>,
    /// It has printed nothing for this long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_secs: Option<f64>,
    /// Something accepts connections on this local port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// It waits for an answer or for input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<bool>,
}

/// One condition of `until`, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Until {
    /// The handle.
    pub id: String,
    /// The condition.
    pub wait_for: WaitFor,
}

/// A condition of a handle to wait for.
#[derive(Debug, Clone, PartialEq)]
pub enum WaitFor {
    /// A line matches.
    Pattern {
        /// The regular expression.
        pattern: String,
        /// Only lines that come from now on count.
        new: bool,
    },
    /// Nothing was printed for this many seconds.
    Idle(f64),
    /// Something accepts on this local port.
    Port(u16),
    /// The handle waits.
    Waiting,
}

/// A condition with a missing or an extra field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    /// None or several of the kinds were given.
    #[error(
        "a condition in `until` needs `id` and exactly one of `pattern`, `idle_secs`, `port` and `waiting`; the one for `{0}` has {1}"
    )]
    NotOne(String, usize),
    /// `new` without `pattern`.
    #[error("`new` is allowed only with `pattern`, in the condition for `{0}`")]
    NewWithoutPattern(String),
    /// `waiting: false`.
    #[error("`waiting` must be true, in the condition for `{0}`")]
    WaitingFalse(String),
    /// A number of seconds that no clock can count.
    #[error("`idle_secs` must be a non-negative number of seconds, in the condition for `{0}`")]
    BadSeconds(String),
    /// Port 0, on which nobody can listen.
    #[error("`port` must be 1 to 65535, in the condition for `{0}`")]
    BadPort(String),
}

impl Condition {
    /// Checks that exactly one condition is given. If there are several,
    /// neutral values (`""`, `0`, `false`) count as absent: some clients fill
    /// every field.
    pub fn read(&self) -> Result<Until, ConditionError> {
        let told = self.without_neutral();
        if self.given() > 1 && told.given() == 1 {
            return told.read_one();
        }
        self.read_one()
    }

    fn given(&self) -> usize {
        let kinds = [
            self.pattern.is_some(),
            self.idle_secs.is_some(),
            self.port.is_some(),
            self.waiting.is_some(),
        ];
        kinds.into_iter().filter(|given| *given).count()
    }

    fn without_neutral(&self) -> Self {
        let pattern = self.pattern.clone().filter(|pattern| !pattern.is_empty());
        Self {
            id: self.id.clone(),
            new: self.new.filter(|new| *new || pattern.is_some()),
            pattern,
            idle_secs: self.idle_secs.filter(|seconds| *seconds != 0.0),
            port: self.port.filter(|port| *port != 0),
            waiting: self.waiting.filter(|waiting| *waiting),
        }
    }

    fn read_one(&self) -> Result<Until, ConditionError> {
        let id = || self.id.clone();
        let given = self.given();
        if given != 1 {
            return Err(ConditionError::NotOne(id(), given));
        }
        if self.new.is_some() && self.pattern.is_none() {
            return Err(ConditionError::NewWithoutPattern(id()));
        }
        let wait_for = if let Some(pattern) = &self.pattern {
            WaitFor::Pattern {
                pattern: pattern.clone(),
                new: self.new.unwrap_or(false),
            }
        } else if let Some(seconds) = self.idle_secs {
            if !(0.0..=1e9).contains(&seconds) {
                return Err(ConditionError::BadSeconds(id()));
            }
            WaitFor::Idle(seconds)
        } else if let Some(port) = self.port {
            if port == 0 {
                return Err(ConditionError::BadPort(id()));
            }
            WaitFor::Port(port)
        } else if self.waiting == Some(true) {
            WaitFor::Waiting
        } else {
            return Err(ConditionError::WaitingFalse(id()));
        };
        Ok(Until { id: id(), wait_for })
    }
}

/// The result of an `await`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AwaitReply {
    /// The handles that have stopped.
    pub completed: Vec<HandleView>,
    /// Those that have not, without their output.
    pub pending: Vec<HandleView>,
    /// The conditions that came to hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matched: Vec<Matched>,
    /// The conditions whose handle stopped first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmet: Vec<Condition>,
    /// Handles whose question only the caller can answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs_answer: Vec<HandleId>,
    /// The time was up first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
}

/// A condition that came to hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Matched {
    /// The condition as it was given.
    #[serde(flatten)]
    pub condition: Condition,
    /// The line that matched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
}

/// The ids that a request names, each once, in the order of first mention.
impl AwaitRequest {
    /// Every handle id in the request, once.
    pub fn ids(&self) -> Vec<&str> {
        let mut ids: Vec<&str> = Vec::new();
        let named = self.all.iter().chain(&self.any).map(String::as_str);
        let conditions = self.until.iter().map(|condition| condition.id.as_str());
        for id in named.chain(conditions) {
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        ids
    }

    /// The valid handle ids in the request.
    pub fn handle_ids(&self) -> Vec<HandleId> {
        self.ids()
            .into_iter()
            .filter_map(|id| HandleId::new(id).ok())
            .collect()
    }
}

#[cfg(test)]
#[path = "wait_tests.rs"]
mod tests;
