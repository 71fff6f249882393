//! A model: a request in, a stream of events out.
//!
//! Start at [`Model`]. A [`ModelReply`] is the fold of a stream's events. It is
//! complete only after [`ModelEvent::Finished`]; calls are not run before that.
//! Nothing here depends on HTTP.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use futures_util::stream::BoxStream;
use serde_json::Value;
use windlass_protocol::{Said, ToolCall, TurnEvent};
use windlass_schema::{Dialect, RenderedShape};

use crate::error::ModelError;

/// A model.
pub trait Model: Send + Sync + 'static {
    /// Its name, provider and all.
    fn id(&self) -> &ModelId;

    /// The schema dialect for tools. Arguments that the model writes pass
    /// through [`windlass_schema::restore`] before they are read.
    fn dialect(&self) -> Dialect;

    /// Asks the model. The stream ends after [`ModelEvent::Finished`] or an
    /// error; dropping it cancels the request. Retries have been made already,
    /// so an error is final.
    fn stream<'a>(&'a self, request: ModelRequest<'a>) -> ModelStream<'a>;
}

/// The events of a model's reply.
pub type ModelStream<'a> = BoxStream<'a, Result<ModelEvent, ModelError>>;

/// A model's name, as `provider/name`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModelId {
    /// The provider's name.
    pub provider: String,
    /// The provider's name for the model. It may contain slashes.
    pub name: String,
}

impl fmt::Display for ModelId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.provider, self.name)
    }
}

/// A text that names no model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a model; write provider/name, such as `anthropic/claude-sonnet-4-5`")]
pub struct InvalidModelId(String);

impl FromStr for ModelId {
    type Err = InvalidModelId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('/') {
            Some((provider, name)) if !provider.is_empty() && !name.is_empty() => Ok(Self {
                provider: provider.to_owned(),
                name: name.to_owned(),
            }),
            _ => Err(InvalidModelId(text.to_owned())),
        }
    }
}

/// A request to a model.
#[derive(Debug, Clone, Copy)]
pub struct ModelRequest<'a> {
    /// The system prompt.
    pub system: &'a str,
    /// The conversation so far. Every call in it has a reply.
    pub events: &'a [Arc<TurnEvent>],
    /// The tools it may call.
    pub tools: &'a [OfferedTool],
    /// The format of the answer, if it must be JSON.
    pub format: Option<&'a AnswerFormat>,
    /// The maximum length of the reply, in tokens.
    pub max_tokens: Option<u32>,
    /// The reasoning effort, if the provider supports it.
    pub effort: Option<Effort>,
}

/// The description of a tool for a model.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedTool {
    pub name: String,
    /// Its purpose.
    pub description: String,
    /// Its parameters and actions, with the rendered schemas.
    pub shape: RenderedShape,
}

/// The form of an answer that must be JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerFormat {
    /// A name for it, which some providers want.
    pub name: String,
    /// Its schema: an object with every property required.
    pub schema: Value,
}

/// The reasoning effort of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// A little.
    Low,
    /// Moderately.
    Medium,
    /// As hard as it can.
    High,
}

impl Effort {
    /// The name that all providers share.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// Something that came from a model.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelEvent {
    /// More text.
    Text(String),
    /// More reasoning.
    Reasoning(String),
    /// Data that the provider needs back with the last reasoning.
    Sealed(Value),
    /// The model has begun to write a call.
    Calling {
        /// The tool that it will be of.
        tool: String,
    },
    /// A whole call.
    Called {
        call: ToolCall,
        /// Data that the provider needs back with it.
        seal: Option<Value>,
    },
    /// The tokens used so far.
    Spent(Usage),
    /// The reply is whole.
    Finished(Finish),
    /// The stream broke and is requested again: discard everything so far.
    Again {
        /// The cause.
        why: String,
    },
}

/// The tokens that a reply used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Read, cached or not.
    pub input: u64,
    /// Of these, read from a cache.
    pub cached: u64,
    /// Written.
    pub output: u64,
}

impl Usage {
    /// Both together.
    pub fn plus(self, other: Self) -> Self {
        Self {
            input: self.input + other.input,
            cached: self.cached + other.cached,
            output: self.output + other.output,
        }
    }
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finish {
    /// The reply is complete, or waits for replies to its calls.
    Done,
    /// It reached the limit of its length.
    Length,
    /// It would not go on, for this reason.
    Refused(String),
}

/// One reply of a model: the fold of its events.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelReply {
    /// Its parts, in order.
    pub said: Vec<Said>,
    /// The tokens used.
    pub usage: Usage,
    /// Why it stopped; `None` while it has not.
    pub finish: Option<Finish>,
}

impl ModelReply {
    pub fn take(&mut self, event: ModelEvent) {
        match event {
            ModelEvent::Text(more) => match self.said.last_mut() {
                Some(Said::Text { text }) => text.push_str(&more),
                _ => self.said.push(Said::Text { text: more }),
            },
            ModelEvent::Reasoning(more) => match self.said.last_mut() {
                Some(Said::Reasoning { text, seal: None }) => text.push_str(&more),
                _ => self.said.push(Said::Reasoning {
                    text: more,
                    seal: None,
                }),
            },
            ModelEvent::Sealed(value) => self.seal(value),
            ModelEvent::Called { call, seal } => self.said.push(Said::Call { call, seal }),
            ModelEvent::Spent(usage) => self.usage = usage,
            ModelEvent::Finished(finish) => self.finish = Some(finish),
            ModelEvent::Again { .. } => *self = Self::default(),
            ModelEvent::Calling { .. } => {}
        }
    }

    fn seal(&mut self, value: Value) {
        let open = self.said.iter_mut().rev().find_map(|said| match said {
            Said::Reasoning { seal, .. } if seal.is_none() => Some(seal),
            _ => None,
        });
        match open {
            Some(seal) => *seal = Some(value),
            None => self.said.push(Said::Reasoning {
                text: String::new(),
                seal: Some(value),
            }),
        }
    }

    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.said.iter().filter_map(|said| match said {
            Said::Call { call, .. } => Some(call),
            _ => None,
        })
    }

    /// Its text, without reasoning and calls.
    pub fn text(&self) -> String {
        self.said
            .iter()
            .filter_map(|said| match said {
                Said::Text { text } => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// The usable part of an interrupted reply: its text. Calls have not run,
    /// and providers that sign reasoning reject it if incomplete.
    pub fn into_interrupted(self) -> Vec<Said> {
        self.said
            .into_iter()
            .filter(|said| matches!(said, Said::Text { text } if !text.trim().is_empty()))
            .collect()
    }
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
