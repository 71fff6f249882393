//! How tools run: local programs, the shell, and functions of this program.
//!
//! Start at [`LocalTool`], which runs a configured program, or at [`Shell`].
//! Both give a job over a child process that `windlass-process` holds; what
//! the child says becomes events in `text` and `state`. [`Describer`] asks
//! programs what their tools are. The registry is a stranger to this crate.

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
mod plan;
mod recording;
mod secret;
mod shell;
mod state;
mod terminal;
mod text;
mod typing;
mod writing;

pub use command::LocalCommand;
pub use describing::{DescribeError, Describer, SchemaAnswer, SchemaQuestion};
pub use function::{Function, FunctionCall};
pub use git::Git;
pub use kept::Kept;
pub use local::LocalTool;
pub use shell::Shell;

/// A command that cannot be rendered.
pub use windlass_template::RenderError;

/// What no provider would take, for those who register tools.
pub use windlass_schema::{SchemaError, check as check_shape};

/// What starts programs, for those who set executors up.
pub use windlass_process::{Launcher, LauncherOptions, TerminalSize, init};
