//! The request for a description, and its dependencies.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use windlass_process::{Launcher, find_program};
use windlass_protocol::{Action, Context};

use super::answer::SchemaAnswer;
use super::error::SelfDescriptionError;
use crate::ask::{AskError, AskLimits, ask, bytes_of};
use crate::command::{LocalCommand, Trailing, of_words};

/// The output limit, enough for schemas of several megabytes.
const MOST_BYTES: usize = 8 << 20;

/// Asks programs for their tools.
#[derive(Clone)]
pub struct Describer {
    pub launcher: Launcher,
    pub root: PathBuf,
    /// The id of the project.
    pub workspace_id: Option<String>,
}

/// A command line that asks a program for its tools. Equal questions have equal
/// answers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SchemaQuestion {
    /// The program's name in messages.
    program: String,
    words: Vec<String>,
    shell: bool,
}

impl Describer {
    /// The question for a configured command. A command that cannot pass the
    /// context is refused, because the program would do its work instead.
    pub fn question(&self, command: &LocalCommand) -> Result<SchemaQuestion, SelfDescriptionError> {
        let trailing = Trailing::ContextAndTool;
        if !command.tells_context(trailing) {
            return Err(SelfDescriptionError::NoContext);
        }
        let context = Context {
            action: Action::Schema,
            root: self.root.clone(),
            workspace_id: self.workspace_id.clone(),
            conversation_id: None,
            handle_id: None,
        };
        let words = command.words(&json!({}), &context, trailing)?;
        let program = if command.shell {
            command.program.clone()
        } else {
            words[0].clone()
        };
        Ok(SchemaQuestion {
            program,
            words,
            shell: command.shell,
        })
    }

    /// Asks the program. If it does not answer within `limit`, it is ended with
    /// all its descendants.
    pub async fn ask(
        &self,
        question: &SchemaQuestion,
        limit: Duration,
    ) -> Result<SchemaAnswer, SelfDescriptionError> {
        let program = || question.program.clone();
        let limits = AskLimits {
            time: limit,
            bytes: MOST_BYTES,
        };
        let command = of_words(&question.words).cwd(&self.root);
        let output = ask(&self.launcher, command, limits)
            .await
            .map_err(|error| match error {
                AskError::Start(source) => SelfDescriptionError::Start {
                    program: program(),
                    source,
                },
                AskError::Failed(how) => SelfDescriptionError::Failed {
                    program: program(),
                    how,
                },
                AskError::TimedOut => SelfDescriptionError::TimedOut {
                    program: program(),
                    limit,
                },
                AskError::TooMuch => SelfDescriptionError::TooMuch {
                    program: program(),
                    limit: MOST_BYTES,
                },
            })?;
        SchemaAnswer::read(&question.program, &bytes_of(&output))
    }

    /// The dependencies of the answer: the command line, and the path, size and
    /// time of the program and of every file in the command, since the program
    /// may be an interpreter. An answer may be cached while they are unchanged.
    /// `None` if they cannot be determined.
    pub fn seal(&self, question: &SchemaQuestion) -> Option<Value> {
        let line;
        let words: Vec<&str> = if question.shell {
            line = shlex::split(&question.words[2])?;
            line.iter().map(String::as_str).collect()
        } else {
            question.words.iter().map(String::as_str).collect()
        };
        let (first, rest) = words.split_first()?;
        let path = std::env::var_os("PATH");
        let program = find_program(OsStr::new(first), path.as_deref(), &self.root);
        // A line for a shell may begin with something of the shell's own.
        let program = match program {
            Ok(program) => Some(stamp(&program)?),
            Err(_) if question.shell => None,
            Err(_) => return None,
        };
        let named = rest.iter().filter_map(|word| self.stamp_of_word(word));
        let files: Vec<Value> = program.into_iter().chain(named).collect();
        Some(json!({ "command": question.words, "files": files }))
    }

    fn stamp_of_word(&self, word: &str) -> Option<Value> {
        // No file is named like a JSON object.
        if word.is_empty() || word.starts_with('{') {
            return None;
        }
        stamp(&self.root.join(word))
    }
}

impl SchemaQuestion {
    /// The program's name in messages.
    pub fn program(&self) -> &str {
        &self.program
    }
}

/// The path, size and time of a file. Follows links.
fn stamp(path: &Path) -> Option<Value> {
    let path = path.canonicalize().ok()?;
    let metadata = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let changed = metadata.modified().ok()?;
    let since = changed.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(json!([
        path.to_string_lossy(),
        metadata.len(),
        since.as_secs(),
        since.subsec_nanos(),
    ]))
}

#[cfg(test)]
#[path = "question_tests.rs"]
mod tests;
