//! Executors for local programs, the shell, and functions of this program.
//!
//! Start at [`LocalTool`], which runs a configured program, or at [`Shell`].
//! Both return a job for a child process of `windlass-process`; `text` and
//! `state` turn its output into events. [`Describer`] asks programs to describe
//! their tools. Executors have no access to the registry.

mod ask;
mod command;
mod commands;
mod confined;
mod describing;
mod ending;
mod function;
mod git;
mod held;
mod kept;
mod keys;
mod listening;
mod local;
mod recording;
mod secret;
mod shell;
mod state;
mod terminal;
mod text;
mod typing;
mod writing;

pub use command::LocalCommand;
pub use describing::{Describer, SchemaAnswer, SchemaQuestion, SelfDescriptionError};
pub use function::{Function, FunctionCall};
pub use git::Git;
pub use kept::Kept;
pub use local::LocalTool;
pub use shell::Shell;

/// A command that cannot be rendered.
pub use windlass_template::RenderError;

/// Checks of tool definitions, for callers that register tools.
pub use windlass_schema::{SchemaError, check as check_shape};

/// Program launchers, for callers that create executors.
pub use windlass_process::{Launcher, LauncherOptions, TerminalSize, init};
