//! How a configured program is called: its words, with templates in them.

use serde::Serialize;
use windlass_process::Command;
use windlass_protocol::Context;

use crate::template::{Quoting, Renderer, TemplateError};

/// How a configured program is called. Every part may be a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalCommand {
    /// The program, or under a shell the whole line.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// The program is a line for `sh`; values are quoted.
    pub shell: bool,
}

/// Whether a command that has no place for the context and the tool gets them
/// as its last two arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trailing {
    /// It does: its program describes itself, and so understands them.
    ContextAndTool,
    /// It is called as it is written.
    Nothing,
}

impl LocalCommand {
    /// The program is told the context, and so can tell a question from a
    /// call.
    pub(crate) fn tells_context(&self, trailing: Trailing) -> bool {
        let mentions = |part: &String| is_template(part) && part.contains("context");
        self.parts().any(mentions) || (self.is_plain() && trailing == Trailing::ContextAndTool)
    }

    /// The words to run: the program and its arguments.
    pub(crate) fn words(
        &self,
        tool: &impl Serialize,
        context: &Context,
        trailing: Trailing,
    ) -> Result<Vec<String>, TemplateError> {
        let quoting = if self.shell {
            Quoting::Shell
        } else {
            Quoting::Bare
        };
        let renderer = Renderer::new(tool, context, quoting);
        let mut words: Vec<String> = self
            .parts()
            .map(|part| renderer.render(part))
            .collect::<Result<_, _>>()?;
        if self.is_plain() && trailing == Trailing::ContextAndTool {
            words.push(renderer.render("{{context}}")?);
            words.push(renderer.render("{{tool}}")?);
        }
        if self.shell {
            let line = words.join(" ");
            words = vec!["/bin/sh".to_owned(), "-c".to_owned(), line];
        }
        Ok(words)
    }

    fn parts(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.program).chain(&self.args)
    }

    /// No part of it is a template.
    fn is_plain(&self) -> bool {
        !self.parts().any(|part| is_template(part))
    }
}

/// The command of these words, of which there is at least one.
pub(crate) fn of_words(words: &[String]) -> Command {
    let (program, args) = words.split_first().expect("a command has a program");
    Command::new(program).args(args)
}

fn is_template(part: &str) -> bool {
    part.contains("{{") || part.contains("{%")
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
