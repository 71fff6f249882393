//! How tools run: local programs, the shell, and functions of this program.
//!
//! Start at [`LocalTool`], which runs a configured program, or at [`Shell`].
//! Both give a job over a child process that `windlass-process` holds; what
//! the child says becomes events in `text` and `state`. The registry is a
//! stranger to this crate.

mod commands;
mod ending;
mod function;
mod git;
mod keys;
mod local;
mod recording;
mod shell;
mod state;
mod template;
mod terminal;
mod text;
mod typing;
mod viewing;

pub use commands::simple_commands;
pub use function::{Function, FunctionCall};
pub use git::Git;
pub use local::{LocalCommand, LocalTool};
pub use shell::Shell;
pub use template::TemplateError;

/// What starts programs, for those who set executors up.
pub use windlass_process::{Launcher, LauncherOptions, TerminalSize, init};
