//! Orders to a running tool, and its description.
//!
//! Everything here can be serialized: an executor may run its tools in another
//! process or on another machine. [`Start`] starts a tool, [`OrderId`] makes an
//! order idempotent, and [`JobDescription`] lets an executor adopt a running
//! tool.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Arguments, HandleId, SessionId, ToolDefinition, ToolError, Typing};

/// A path on the machine of the runtime. It is meaningless elsewhere, so its
/// wire form is marked: `{"local": "/tmp/x"}`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LocalPath {
    /// The path.
    pub local: PathBuf,
}

impl Deref for LocalPath {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.local
    }
}

impl AsRef<Path> for LocalPath {
    fn as_ref(&self) -> &Path {
        &self.local
    }
}

impl From<PathBuf> for LocalPath {
    fn from(local: PathBuf) -> Self {
        Self { local }
    }
}

impl From<LocalPath> for PathBuf {
    fn from(path: LocalPath) -> Self {
        path.local
    }
}

/// A request to start a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// The session of the call.
    pub session: SessionId,
    /// The project's root folder.
    pub root: LocalPath,
    /// The file for a log, used when output outgrows memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<LocalPath>,
    /// The handle's id; a one-shot has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<HandleId>,
    /// Set if the tool should outlive its runtime. An executor may not support
    /// that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<KeepRequest>,
    /// A person has allowed it to run outside its sandbox.
    #[serde(default, skip_serializing_if = "is_false")]
    pub outside: bool,
    /// Wider sandbox rules that a person has allowed, such as `write /srv/out`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub widenings: Vec<String>,
    /// The tool.
    pub tool: Arc<ToolDefinition>,
    /// The call's arguments.
    pub args: Arguments,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_false(value: &bool) -> bool {
    !value
}

/// A request to keep a tool beyond its runtime.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeepRequest {
    /// The time for which it is held without a runtime, in seconds.
    pub lease_secs: u64,
    /// The folder with the holder's files.
    pub folder: LocalPath,
    /// The name of those files, without an extension.
    pub name: String,
    /// The file by which others find the tool. A tool without it is not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration: Option<LocalPath>,
}

/// The key to a kept program: the holder's files, and a nonce that proves
/// access to them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptProgramKey {
    /// The folder of the request.
    pub folder: LocalPath,
    /// The name of the request.
    pub name: String,
    /// A random number that cannot be guessed, in hexadecimal.
    pub nonce: String,
    /// The holder's process id, and its start time in clock ticks since boot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<(u32, u64)>,
    /// The rows and columns of its terminal, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal: Option<(u16, u16)>,
    /// The program's location, if it runs on another machine. The nonce is then
    /// the session of the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<KeptRemotePlace>,
}

/// The location of a kept program on another machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptRemotePlace {
    /// The host's name.
    pub host: String,
    /// The program's number in its session there.
    pub program: u64,
}

/// A running tool, described so that its executor can adopt it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobDescription {
    /// The request that started it.
    pub start: Start,
    /// The executor's own key to the running tool.
    pub key: Value,
    /// The offset up to which reports were processed. Later reports follow the
    /// adoption.
    pub at: u64,
}

/// The id of an order to a job. A job carries out an order once, however often
/// it arrives, and returns the same result each time.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OrderId(pub Arc<str>);

/// Input for a running tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keyboard {
    /// Text and keys by name.
    Typing(Typing),
    /// Bytes as a keyboard sends them.
    Bytes(Vec<u8>),
}

impl Keyboard {
    /// Whether it ends a line.
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

/// The result of stopping a tool.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Receipt {
    /// The number of processes that were ended.
    pub ended: usize,
    /// Those that could not be ended, as text.
    pub survivors: Vec<String>,
}

/// Input that a running tool did not accept. Nothing was typed. Each message
/// says what would work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum InputError {
    /// The tool takes none.
    #[error("this tool takes no input")]
    TakesNone,
    /// A call of an MCP server takes none.
    #[error("a call of an MCP server takes no input while it runs; await it, or abort it")]
    McpCall,
    /// An agent takes text and nothing else.
    #[error("an agent takes a message as `input`")]
    AgentWantsMessage,
    /// The tool has not read its earlier input yet.
    #[error("it has not read your last messages yet; await it first")]
    QueueFull,
    /// The tool has no terminal.
    #[error("it has no terminal to resize")]
    NoTerminal,
    /// The tool is not typed into.
    #[error("it has no keyboard; answer its questions instead")]
    NoKeyboard,
    /// The terminal has been closed.
    #[error("its terminal is gone")]
    TerminalGone,
    /// The terminal could not be resized.
    #[error("its terminal cannot be resized: {cause}")]
    Resize {
        /// The system's message.
        cause: String,
    },
    /// No such key.
    #[error(
        "there is no key `{key}`; similar keys are {}; ctrl-, alt- and shift- can precede a key \
         or a single character",
        .near.join(", ")
    )]
    UnknownKey {
        /// The key as it was asked for.
        key: String,
        /// The nearest keys that there are.
        near: Vec<String>,
    },
    /// A program that reads states has no such key.
    #[error("`{key}` cannot be sent to a tool that reads JSON lines; ctrl-c, ctrl-d and eof can")]
    NotAmongStates {
        /// The key as it was asked for.
        key: String,
    },
    /// A pipe carries no such key.
    #[error(
        "`{key}` cannot be sent through a pipe; ctrl-c, ctrl-d, eof, enter, tab, space, esc and single characters can"
    )]
    NotThroughPipe {
        /// The key as it was asked for.
        key: String,
    },
    /// The program was started without an input.
    #[error("the program was started without stdin; start it with an input")]
    NoStdin,
    /// The input was closed, by us or by the program.
    #[error("the program's input is closed; start it again to write to it")]
    StdinClosed,
    /// The program has exited.
    #[error("the program has exited; start it again to write to it")]
    Exited,
    /// The program does not read.
    #[error(
        "the program does not read its input ({queued} bytes are queued); wait until it reads, or \
         end it"
    )]
    StdinFull {
        /// The number of unread bytes.
        queued: usize,
    },
    /// The program started to ask for a secret, and this input was not meant as
    /// one.
    #[error(
        "the program has just asked for a secret, so this was not typed; its question is open now"
    )]
    SecretAsked,
    /// The question was answered or withdrawn before.
    #[error("the question is no longer open")]
    NotOpen,
    /// The tool asks nothing.
    #[error("this tool has no questions")]
    AsksNothing,
    /// The program could not be run again with the answer.
    #[error(transparent)]
    Rerun(#[from] ToolError),
    /// The test refused it.
    #[error("{reason}")]
    Refused {
        /// The reason, and input that would work.
        reason: String,
    },
}

#[cfg(test)]
#[path = "job_tests.rs"]
mod tests;
