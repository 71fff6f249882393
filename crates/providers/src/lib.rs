//! The providers of models that are known without configuration.
//!
//! Start at [`KNOWN_PROVIDERS`], the only list of them. `config` takes the
//! names of APIs from it, `assistant` the address of each provider, and the
//! runtime's set-up the environment variables that hold keys and are therefore
//! hidden from tools. This crate does no I/O.

mod api;
mod known;

pub use api::ProviderApi;
pub use known::{KNOWN_PROVIDERS, KnownProvider, key_variables};
