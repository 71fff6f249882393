//! The example tools as Windlass runs them: by arguments and lines.
//!
//! `support.rs` starts the program; each other file is a tool. That Windlass
//! itself gets along with them is tested with its command.
#![expect(
    clippy::disallowed_methods,
    reason = "the program under test is nobody's tool"
)]

mod cargo;
mod http;
mod support;
mod watch;
