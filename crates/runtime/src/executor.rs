//! How a tool runs: the traits that executors implement.
//!
//! The runtime calls an [`Executor`] to start a tool and gets a [`Job`] to
//! talk to; the job reports what happens through its [`Reporter`]. Commands
//! go down by calls, events come up by reports, and neither knows the
//! registry.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use regex::Regex;
use serde_json::Value;
use windlass_protocol::{
    Arguments, HandleId, Question, ScreenUpdate, SessionId, ToolError, Typing, View,
};

use crate::ToolDefinition;
use crate::event::ToolEvent;
use crate::handle::Handle;

/// Starts a tool.
#[async_trait]
pub trait Executor: Send + Sync + 'static {
    /// Starts the tool and answers as soon as it runs.
    ///
    /// Reports made before this returns are kept until it has. An error means
    /// that nothing runs and nothing is left.
    async fn start(&self, start: Start, reporter: Reporter) -> Result<Arc<dyn Job>, ToolError>;

    /// What a person is asked to permit. By default the tool's name and no
    /// more.
    fn subject(&self, tool: &ToolDefinition, args: &Arguments) -> Subject {
        let _ = args;
        Subject {
            permission: tool.name.clone(),
            patterns: vec![tool.name.clone()],
            always: vec![tool.name.clone()],
            exact: false,
        }
    }

    /// The arguments as a person would like to read them before they permit
    /// the call, if the tool can say; else they are shown as they are. Nothing
    /// is done yet, and may not be. Answers within a few seconds.
    async fn format_arguments(&self, start: Start) -> Option<String> {
        let _ = start;
        None
    }

    /// A time limit that these arguments set for a one-shot.
    fn timeout(&self, args: &Arguments) -> Option<Duration> {
        let _ = args;
        None
    }
}

/// What is to be started.
#[derive(Debug, Clone)]
pub struct Start {
    /// The session that asks.
    pub session: SessionId,
    /// The project's root folder.
    pub root: PathBuf,
    /// Where a log may be made, should output outgrow memory.
    pub log: Option<PathBuf>,
    /// The handle's id; a one-shot has none.
    pub handle: Option<HandleId>,
    /// The tool.
    pub tool: Arc<ToolDefinition>,
    /// What the assistant gave.
    pub args: Arguments,
}

/// What a person is asked to permit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// The kind of thing.
    pub permission: String,
    /// What would be done, one pattern each.
    pub patterns: Vec<String>,
    /// What an "always" would remember.
    pub always: Vec<String>,
    /// The patterns hide more than they show, so that only a rule of exactly
    /// the same text covers them.
    pub exact: bool,
}

/// A tool that was started.
///
/// A job outlives its tool: what it wrote stays readable until the job is
/// dropped. Dropping a job whose tool still runs ends the tool.
#[async_trait]
pub trait Job: Send + Sync + 'static {
    /// Reads output, at most `limit` bytes of it. Every view moves the
    /// assistant's cursor to the end.
    fn read(&self, view: View, limit: usize) -> Reading;

    /// The end of the output, without moving the cursor.
    fn preview(&self, limit: usize) -> String;

    /// The last line of the output that is not blank.
    fn last_line(&self) -> Option<String> {
        let text = self.preview(LAST_LINE);
        let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
        Some(line.trim_end().chars().take(LAST_LINE / 2).collect())
    }

    /// How many bytes [`Job::log`] speaks of.
    fn written(&self) -> u64 {
        self.preview(LOG_WITHOUT_ONE).len() as u64
    }

    /// The bytes of a range of the output, as the tool wrote them. What is no
    /// longer kept is left out. Where a tool writes no bytes, the end of its
    /// text.
    fn log(&self, range: Range<u64>) -> Vec<u8> {
        let text = self.preview(LOG_WITHOUT_ONE).into_bytes();
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(text.len());
        text[place(range.start)..place(range.end).max(place(range.start))].to_vec()
    }

    /// It has a terminal, and so a screen.
    fn has_screen(&self) -> bool {
        self.screen(Some(u64::MAX)).is_some()
    }

    /// What its terminal shows: the rows that changed since that generation,
    /// or all of them. `None` without a terminal.
    fn screen(&self, since: Option<u64>) -> Option<ScreenUpdate> {
        let _ = since;
        None
    }

    /// The lines that have left its terminal's screen, as far as they are kept.
    /// `None` without a terminal.
    fn scrollback(&self) -> Option<String> {
        None
    }

    /// Resolves when the screen is of another generation than this one.
    fn screen_changed(&self, generation: u64) -> BoxFuture<'static, ()> {
        let _ = generation;
        Box::pin(std::future::pending())
    }

    /// Changes the size of its terminal.
    fn resize(&self, rows: u16, cols: u16) -> Result<(), String> {
        let _ = (rows, cols);
        Err("it has no terminal that could be resized".to_owned())
    }

    /// What is typed now would not be seen: its terminal takes lines without
    /// echo, as for a secret.
    fn hides_typing(&self) -> bool {
        false
    }

    /// Takes what a person types. Unlike what is applied, it may be a secret
    /// and is told to nobody but the tool.
    fn type_in(&self, keyboard: Keyboard) -> Result<(), String> {
        let _ = keyboard;
        Err("it has no keyboard; answer its questions instead".to_owned())
    }

    /// When the tool last wrote, or was started.
    fn last_output(&self) -> Instant;

    /// Resolves to the first line that matches, or to `None` when the tool
    /// has ended without one.
    fn find(&self, pattern: Regex, since: Since) -> BoxFuture<'static, Option<String>>;

    /// Resolves when the tool is blocked at a prompt for input. By default
    /// that is never known.
    fn at_prompt(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }

    /// Sends input to the running tool. The error says what would work.
    async fn apply(&self, typing: Typing) -> Result<(), String>;

    /// Delivers the answer to the open question. The caller reports
    /// [`ToolEvent::Answered`] first.
    async fn answer(&self, question: &Question, answer: Value) -> Result<(), String>;

    /// Resolves when the tool has had its say, after `limit` at the latest.
    async fn settle(&self, limit: Duration);

    /// Ends the tool and everything it started, and answers when they are
    /// gone. By then [`ToolEvent::Ended`] has been reported. Ending what has
    /// ended is fine and ends what it left running.
    async fn abort(&self, grace: Duration) -> Receipt;
}

/// What a person types.
#[derive(Clone, PartialEq)]
pub enum Keyboard {
    /// Text and keys by name.
    Typing(Typing),
    /// Bytes as a keyboard sends them.
    Bytes(Vec<u8>),
}

impl Keyboard {
    /// It ends a line.
    pub fn submits(&self) -> bool {
        let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
        match self {
            Self::Bytes(bytes) => bytes.iter().any(is_end),
            Self::Typing(typing) => {
                let is_enter = |key: &String| matches!(key.as_str(), "enter" | "return");
                let text = typing.input.as_ref().and_then(Value::as_str);
                (typing.enter && typing.input.is_some())
                    || text.is_some_and(|text| text.bytes().any(|byte| is_end(&byte)))
                    || typing.keys.iter().any(is_enter)
            }
        }
    }
}

/// How much of the output is looked at for its last line.
const LAST_LINE: usize = 400;
/// How much of a text stands for a log where there is none.
const LOG_WITHOUT_ONE: usize = 256 << 10;

/// What a read of a job's output gives.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reading {
    /// The text.
    pub text: String,
    /// How much was left out.
    pub omitted_bytes: u64,
    /// Where all of it is, when something was left out.
    pub log: Option<PathBuf>,
    /// The tool is blocked at a prompt.
    pub awaiting_input: bool,
    /// Where its cursor is, as row and column from 1 on, while it has a whole
    /// screen to itself.
    pub cursor: Option<(u16, u16)>,
}

/// From where [`Job::find`] looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// The start, or the last input.
    LastInput,
    /// Now.
    Now,
}

/// What a stop ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Receipt {
    /// How many processes were ended.
    pub ended: usize,
    /// Those that could not be ended, as text.
    pub survivors: Vec<String>,
}

/// Reports what happens to one tool. Cloning is cheap; reporting on a handle
/// that is gone does nothing.
#[derive(Clone)]
pub struct Reporter(pub(crate) Weak<Handle>);

impl Reporter {
    /// Reports an event.
    pub fn report(&self, event: ToolEvent) {
        if let Some(handle) = self.0.upgrade() {
            handle.take_in(event);
        }
    }

    /// The runtime still wants to know.
    pub fn is_wanted(&self) -> bool {
        self.0.strong_count() > 0
    }
}
