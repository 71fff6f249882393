//! How a tool runs: the traits that executors implement.
//!
//! The runtime calls an [`Executor`] to start a tool and gets a [`Job`] to
//! talk to; the job reports what happens through its [`Reporter`]. Commands
//! go down by calls, events come up by reports, and neither knows the
//! registry.

use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use regex::Regex;
use serde_json::Value;
use windlass_protocol::{Arguments, HandleId, Question, SessionId, ToolError, Typing, View};

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
