//! The command line of a configured program, with templates.

use serde::Serialize;
use windlass_process::Command;
use windlass_protocol::Context;
use windlass_template::{CommandTemplate, RenderError};

/// The command line of a configured program. Every part may be a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalCommand {
    /// The program, or the whole line if `shell` is set.
    pub program: String,
    pub args: Vec<String>,
    /// The program is a line for `sh`; values are quoted.
    pub shell: bool,
}

/// Whether a command without a placeholder for the context and the tool gets
/// them as its last two arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trailing {
    /// They are appended: the program takes arguments and reads them there.
    ContextAndTool,
    /// The command runs as written.
    Nothing,
}

impl LocalCommand {
    /// Whether the program receives the context, so that it can distinguish a
    /// question from a call.
    pub(crate) fn tells_context(&self, trailing: Trailing) -> bool {
        self.template().uses_context() || self.appends(trailing)
    }

    /// Renders the words to run: the program and its arguments.
    pub(crate) fn words(
        &self,
        tool: &impl Serialize,
        context: &Context,
        trailing: Trailing,
    ) -> Result<Vec<String>, RenderError> {
        let mut words = self.template().render(tool, context)?;
        if self.appends(trailing) {
            let call = CommandTemplate {
                program: "{{context}}",
                args: &["{{tool}}".to_owned()],
                shell: self.shell,
            };
            words.extend(call.render(tool, context)?);
        }
        if self.shell {
            let line = words.join(" ");
            words = vec!["/bin/sh".to_owned(), "-c".to_owned(), line];
        }
        Ok(words)
    }

    fn appends(&self, trailing: Trailing) -> bool {
        trailing == Trailing::ContextAndTool && !self.template().has_template()
    }

    fn template(&self) -> CommandTemplate<'_> {
        CommandTemplate {
            program: &self.program,
            args: &self.args,
            shell: self.shell,
        }
    }
}

/// A command from at least one word.
pub(crate) fn of_words(words: &[String]) -> Command {
    let (program, args) = words.split_first().expect("a command has a program");
    Command::new(program).args(args)
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
