//! The question, and what it depends on.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use windlass_process::{Launcher, find_program};
use windlass_protocol::{Action, Context};

use super::answer::SchemaAnswer;
use super::error::DescribeError;
use crate::ask::{AskError, AskLimits, ask, bytes_of};
use crate::command::{LocalCommand, Trailing, of_words};

/// How much a program may print. Five megabytes of schema are odd, and still
/// an answer.
const MOST_BYTES: usize = 8 << 20;

/// Asks programs for their tools.
#[derive(Clone)]
pub struct Describer {
    /// What starts them.
    pub launcher: Launcher,
    /// The project's root folder.
    pub root: PathBuf,
    /// Names the project.
    pub workspace_id: Option<String>,
}

/// A command line that asks a program for its tools. Equal ones have the same
/// answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SchemaQuestion {
    /// The program as people know it, for messages.
    program: String,
    words: Vec<String>,
    shell: bool,
}

impl Describer {
    /// The question that a configured command comes down to. A command that
    /// could not tell its program that it is being asked is refused, since the
    /// program would do its work instead.
    pub fn question(&self, command: &LocalCommand) -> Result<SchemaQuestion, DescribeError> {
        let trailing = Trailing::ContextAndTool;
        if !command.tells_context(trailing) {
            return Err(DescribeError::NoContext);
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

    /// Asks. A program that does not answer within `limit` is ended, with
    /// everything that it started.
    pub async fn ask(
        &self,
        question: &SchemaQuestion,
        limit: Duration,
    ) -> Result<SchemaAnswer, DescribeError> {
        let program = || question.program.clone();
        let limits = AskLimits {
            time: limit,
            bytes: MOST_BYTES,
        };
        let command = of_words(&question.words).cwd(&self.root);
        let output = ask(&self.launcher, command, limits)
            .await
            .map_err(|error| match error {
                AskError::Start(source) => DescribeError::Start {
                    program: program(),
                    source,
                },
                AskError::Failed(how) => DescribeError::Failed {
                    program: program(),
                    how,
                },
                AskError::TimedOut => DescribeError::TimedOut {
                    program: program(),
                    limit,
                },
                AskError::TooMuch => DescribeError::TooMuch {
                    program: program(),
                    limit: MOST_BYTES,
                },
            })?;
        SchemaAnswer::read(&question.program, &bytes_of(&output))
    }

    /// Everything that the answer is taken to depend on: the command line, and
    /// path, size and time of the program and of every file that the command
    /// names, since a program may be an interpreter. As long as this is the
    /// same, an answer may be remembered. `None` where it cannot be told.
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
    /// The program that is asked, as people know it.
    pub fn program(&self) -> &str {
        &self.program
    }
}

/// Path, size and time of a file, in which links are followed.
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
