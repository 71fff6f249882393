//! Commands with templates in them, such as `{{tool.arguments.path}}`.
//!
//! Start at [`CommandTemplate`]: `check` finds the faults of a command before
//! it is run, `render` returns the words to run. [`split_line`] splits a line
//! into words. This crate starts no program and reads no file.

mod command;
mod error;
mod names;
mod render;
mod shell;
mod similar;
mod split;
mod syntax;

pub use command::{CommandTemplate, TemplateAdvice};
pub use error::{RenderError, ShellPlace, TemplateFault};
pub use names::KnownNames;
pub use similar::nearest;
pub use split::{SplitError, split_line};
