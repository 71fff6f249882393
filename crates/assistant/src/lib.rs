//! Assistants: models of any provider, and the turns in which they use a
//! session's tools.
//!
//! Start at [`Assistant::turn`] for the course of a turn, and at [`Model`] for
//! the interface of a provider. This crate prints nothing and starts no
//! program.

mod agent;
mod conversation;
mod error;
mod frames;
mod inquiry;
mod listing;
mod model;
mod prompt;
mod provider;
mod remote;
mod secret;
mod stopping;
mod turn;
mod wire;

pub use agent::{AgentLimits, AgentSource, Agents};
pub use conversation::Conversation;
pub use error::ModelError;
pub use inquiry::ModelInquirer;
pub use listing::ListModelsError;
pub use model::{
    AnswerFormat, Effort, Finish, InvalidModelId, Model, ModelEvent, ModelId, ModelReply,
    ModelRequest, ModelStream, OfferedTool, Usage,
};
pub use prompt::system_prompt;
pub use provider::{
    KeyCommand, KeyCommandError, OpenError, ProviderSettings, Providers, Variables, address_of,
};
pub use remote::{Endpoint, Patience, RemoteModel, SetupError};
pub use secret::Secret;
pub use turn::{Assistant, Audience, Heard, Interjection, TurnError, TurnOutcome};

/// The table of known providers.
pub use windlass_providers::{KNOWN_PROVIDERS, KnownProvider, ProviderApi, key_variables};
