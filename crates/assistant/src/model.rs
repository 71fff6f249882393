//! A model: a request in, a stream of events out.
//!
//! Start at [`Model`]. A [`Reply`] is the fold of a stream's events, and is
//! whole only once [`ModelEvent::Finished`] has come; whoever runs calls waits
//! for that. Nothing here knows HTTP.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use futures_util::stream::BoxStream;
use serde_json::Value;
use windlass_protocol::{Said, ToolCall, TurnEvent};
use windlass_schema::{Dialect, RenderedShape};

use crate::error::ModelError;

/// A model that can be asked.
pub trait Model: Send + Sync + 'static {
    /// Its name, provider and all.
    fn id(&self) -> &ModelId;

    /// How it is told a tool's parameters. Arguments that it writes go through
    /// [`windlass_schema::restore`] before they are read.
    fn dialect(&self) -> Dialect;

    /// Asks it. The stream ends after [`ModelEvent::Finished`] or an error;
    /// dropped, it stops asking. What can be tried again has been, so an error
    /// is final.
    fn stream<'a>(&'a self, request: Request<'a>) -> ModelStream<'a>;
}

/// What comes from a model.
pub type ModelStream<'a> = BoxStream<'a, Result<ModelEvent, ModelError>>;

/// A model's name, as `provider/name`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModelId {
    /// Who runs it.
    pub provider: String,
    /// What the provider calls it. It may hold slashes of its own.
    pub name: String,
}

impl fmt::Display for ModelId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.provider, self.name)
    }
}

/// A text that names no model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` names no model; write it as provider/name, such as `anthropic/claude-sonnet-4-5`")]
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

/// What a model is asked.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// What it is told before everything else.
    pub system: &'a str,
    /// The conversation so far. Every call in it is answered.
    pub events: &'a [Arc<TurnEvent>],
    /// The tools it may call.
    pub tools: &'a [OfferedTool],
    /// The form of its answer, where it must be JSON.
    pub format: Option<&'a AnswerFormat>,
    /// How much it may say, in tokens.
    pub max_tokens: Option<u32>,
    /// How hard it should think, where that can be said.
    pub effort: Option<Effort>,
}

/// A tool as a model is told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedTool {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Its parameters and actions, with the schemas that models were given.
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

/// How hard a model should think.
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
    /// The word for it, which all providers share.
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
    /// What the provider wants back with the reasoning that came last.
    Sealed(Value),
    /// A call is on its way.
    Calling {
        /// The tool that it will be of.
        tool: String,
    },
    /// A whole call.
    Called {
        /// The call.
        call: ToolCall,
        /// What the provider wants back with it.
        seal: Option<Value>,
    },
    /// What it has cost so far.
    Spent(Usage),
    /// The reply is whole.
    Finished(Finish),
    /// The stream broke and is asked for again: what came so far is void.
    Again {
        /// What happened.
        why: String,
    },
}

/// What a reply cost, in tokens.
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
    /// It has said what it had to say, or wants its calls answered.
    Done,
    /// It ran into the limit of how much it may say.
    Length,
    /// It would not go on, for this reason.
    Refused(String),
}

/// What a model said in one go: the fold of its events.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reply {
    /// What it said, in order.
    pub said: Vec<Said>,
    /// What it cost.
    pub usage: Usage,
    /// Why it stopped; `None` while it has not.
    pub finish: Option<Finish>,
}

impl Reply {
    /// Takes an event in.
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

    /// Its calls.
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

    /// What can be kept of a reply that was interrupted: its text. Calls have
    /// not run and reasoning without its end is refused by those who sign it.
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
