//! Commands with templates in them, such as `{{tool.arguments.path}}`.
//!
//! Start at [`CommandTemplate`]: `check` finds what is wrong with a command
//! before it is ever run, `render` gives the words to run. [`split_line`]
//! makes words of a line. Nothing here starts a program or reads a file.

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
