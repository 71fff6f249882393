//! Tools for Windlass, written in Rust.
//!
//! A tool is a struct of arguments and a function. The struct says what a call
//! takes, and its doc comments are what the model reads; there is no second
//! place to keep in step with it.
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//! use windlass_sdk::{Call, Error, Tool, Tools};
//!
//! /// Says hello.
//! #[derive(Deserialize, JsonSchema)]
//! struct Greet {
//!     /// Whom to greet.
//!     name: String,
//!     /// How often; once unless said.
//!     times: Option<usize>,
//! }
//!
//! fn greet(args: Greet, _: &Call) -> Result<String, Error> {
//!     Ok(format!("Hello, {}! ", args.name).repeat(args.times.unwrap_or(1)))
//! }
//!
//! fn main() -> ExitCode {
//!     Tools::new().add(Tool::new("greet", greet)).run()
//! }
//! ```
//!
//! Two lines of config make it a tool of the assistant's:
//!
//! ```toml
//! [conversation.tools.greet]
//! command = "path/to/the/program"
//! ```
//!
//! Start at [`Tool`], which has the three kinds: [`Tool::new`] for one that
//! runs and answers, [`Tool::stateful`] for one that lasts, and
//! [`Tool::interactive`] for one that hands its handle to a program. Then read
//! [`Call`], [`TypedQuestion`] and [`Error`]. No async runtime is needed or
//! started: a stateful tool's future is polled on the main thread, and may
//! block it.

#![warn(missing_docs)]

mod answer;
mod call;
mod describe;
mod error;
mod exec;
mod explain;
mod handle;
mod inbox;
mod invocation;
mod question;
mod tool;
mod tools;
mod unblock;

pub use call::Call;
pub use describe::DescribeError;
pub use error::Error;
pub use exec::{Exec, InteractiveCommand};
pub use handle::{Stateful, ToolHandle};
pub use question::{Answer, TypedQuestion};
pub use tool::Tool;
pub use tools::Tools;
pub use unblock::unblock;

/// The types of a description, for users of [`Tools::descriptions`].
pub use windlass_protocol::{Examples, HandleAction, ToolDescription, ToolDescriptions};
