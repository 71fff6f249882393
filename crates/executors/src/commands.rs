//! Splits a shell line into its simple commands, for permission checks.
//!
//! Start at [`CommandLine::read`]. The line is parsed as bash and sh do. Every
//! simple command is found at any depth: in groups, loops, substitutions and
//! behind wrappers such as `sudo` and `sh -c`. Text that is known only at run
//! time (a variable, the output of a command) is [`UNKNOWN`]. A line that
//! cannot be parsed is unknown as a whole, so that it cannot hide a command
//! from the person who decides.
//!
//! The result names the programs that a line runs, not their effects. Rules
//! are a guard rail, not a security boundary.

mod folder;
mod suggest;
mod walk;
mod words;
mod wrappers;

use std::collections::HashSet;
use std::path::Path;

use brush_parser::ParserOptions;
use windlass_runtime::{SubjectPattern, UNKNOWN};

pub(crate) use folder::folder_outside;
pub(crate) use suggest::suggestion;
pub(crate) use words::quoted;

/// Longer lines are not parsed.
const LONGEST: usize = 64 << 10;

/// Lines with deeper nesting are not parsed, because the parser is recursive.
const DEEPEST: usize = 100;

/// The language of a shell, as far as it is supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShellLanguage {
    Bash,
    Posix,
    /// Another language, such as fish's. Its lines are unknown.
    Other,
}

impl ShellLanguage {
    /// The language of the shell at this path.
    pub(crate) fn of(program: &Path) -> Self {
        // A link says what it stands for: `sh` may be bash, and is then asked
        // to be `sh`.
        match program.file_name().and_then(|name| name.to_str()) {
            Some("bash") => Self::Bash,
            Some("sh" | "dash" | "ash") => Self::Posix,
            _ => Self::Other,
        }
    }

    fn options(self) -> ParserOptions {
        ParserOptions {
            sh_mode: self == Self::Posix,
            posix_mode: self == Self::Posix,
            // As in a shell that runs a line: `!(a)` is no pattern there.
            enable_extended_globbing: false,
            ..ParserOptions::default()
        }
    }
}

/// All commands that a line would run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CommandLine {
    /// The simple commands, in order.
    pub(crate) commands: Vec<SubjectPattern>,
}

impl CommandLine {
    /// Reads a line.
    pub(crate) fn read(line: &str, dialect: ShellLanguage) -> Self {
        let read = || walk::walk(line, dialect);
        let commands = if is_bounded(line) && dialect != ShellLanguage::Other {
            // The parser is not ours: should it panic, the line is unknown.
            std::panic::catch_unwind(read).ok().flatten()
        } else {
            None
        };
        Self {
            commands: commands
                .filter(|commands| !commands.is_empty())
                .unwrap_or_else(|| vec![unknown(line.trim())]),
        }
    }
}

/// A command of which only the text is known.
pub(crate) fn unknown(text: &str) -> SubjectPattern {
    SubjectPattern {
        text: text.to_owned(),
        known: UNKNOWN.to_string(),
        forms: Vec::new(),
        exact: true,
    }
}

/// Prefixes a command with a variable assignment, unless the variable is
/// harmless.
pub(crate) fn set_variable(command: &mut SubjectPattern, name: &str, value: &str) {
    if words::is_harmless_variable(name) {
        return;
    }
    let assignment = quoted([format!("{name}={value}").as_str()]);
    command.text = format!("{assignment} {}", command.text);
    command.known = format!("{assignment} {}", command.known);
    // A variable may make anything of a command.
    command.forms.push(UNKNOWN.to_string());
}

/// Removes duplicate patterns.
pub(crate) fn distinct(mut patterns: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    patterns.retain(|pattern| seen.insert(pattern.clone()));
    patterns
}

fn is_bounded(line: &str) -> bool {
    let openings = line
        .bytes()
        .filter(|byte| matches!(byte, b'(' | b'{' | b'[' | b'`'));
    let words = line.split_ascii_whitespace();
    let blocks = words.filter(|word| matches!(*word, "if" | "for" | "while" | "until" | "case"));
    line.len() <= LONGEST && !line.contains(UNKNOWN) && openings.count() + blocks.count() <= DEEPEST
}

#[cfg(test)]
#[path = "commands_tests.rs"]
mod tests;
