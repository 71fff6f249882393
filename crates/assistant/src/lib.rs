//! The assistant: models of any provider, and the turns in which they work
//! with a session's tools.
//!
//! Start at [`Model`], which is what a provider comes down to. Nothing here
//! prints, and nothing here starts a program.

mod error;
mod frames;
mod model;
mod provider;
mod remote;
mod secret;
mod wire;

pub use error::ModelError;
pub use model::{
    AnswerFormat, Effort, Finish, InvalidModelId, Model, ModelEvent, ModelId, ModelStream,
    OfferedTool, Reply, Request, Usage,
};
pub use provider::{
    KNOWN_PROVIDERS, KeyCommand, KnownProvider, OpenError, ProviderSettings, Providers, Variables,
    key_variables,
};
pub use remote::{Endpoint, Patience, RemoteModel, SetupError};
pub use secret::Secret;
pub use wire::Api;
