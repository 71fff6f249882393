//! The providers of models that are known without configuration.
//!
//! Start at [`KNOWN_PROVIDERS`]. It is the only list of them: `config` reads
//! from it which words name an API, `assistant` how each provider is reached,
//! and the runtime's set-up which environment variables hold keys and are
//! therefore withheld from tools. Nothing here does I/O.

mod api;
mod known;

pub use api::Api;
pub use known::{KNOWN_PROVIDERS, KnownProvider, key_variables};
