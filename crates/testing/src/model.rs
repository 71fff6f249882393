//! A model server that says what a script says, in every provider's own
//! format.
//!
//! Start at [`ModelServer::start`]; a [`Script`] is a list of [`Turn`]s, each
//! of which answers one request. [`stream`] gives the bytes of a turn without
//! any server, for those who read streams. It judges nothing that it is
//! asked: requests are kept for the test to look at.

mod anthropic;
mod chat;
mod format;
mod gemini;
mod ollama;
mod responses;
mod script;
mod segment;
mod server;

pub use format::{Format, stream};
pub use script::{Fault, Say, Script, ScriptError, Spent, Turn};
pub use server::{ModelServer, Seen};
