//! A model server that follows a script, in the format of every provider.
//!
//! Start at [`ModelServer::start`]; a [`Script`] is a list of [`Turn`]s, each
//! of which answers one request. [`stream`] returns the bytes of a turn without
//! a server, for tests of stream readers. Requests are not checked, but stored
//! for the test.

mod anthropic;
mod chat;
mod format;
mod gemini;
mod ollama;
mod responses;
mod script;
mod segment;
mod server;

pub use format::{ProviderFormat, stream};
pub use script::{Fault, Say, Script, ScriptError, Spent, Turn};
pub use server::{ModelServer, SeenRequest};
