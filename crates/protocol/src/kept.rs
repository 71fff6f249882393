//! Handles that outlive their runtime: the file that leads to one, and its standing.
//!
//! Start at [`KeptHandle`], which is the state file, and [`HeldHandleInfo`], which people see. The file only leads to the
//! holder; the holder's word is the truth.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{HandleId, JobDescription, KeptProgramKey, Millis, SessionId};

/// A kept handle, as its state file describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptHandle {
    /// Where and since when it runs.
    #[serde(flatten)]
    pub stamp: KeptStamp,
    /// The way to its holder.
    pub key: KeptProgramKey,
    /// The session that it belongs to.
    pub session: SessionId,
    /// The name of the session, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_name: Option<String>,
    /// The root folder of the project.
    pub project: PathBuf,
    /// How the outside reached the session: `mcp`, `drive`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front_end: Option<String>,
    /// The name of the client of the session, as the client gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The handle.
    pub handle: HandleId,
    /// Its number within its session.
    pub number: u64,
    /// The call that spawned it.
    pub call: String,
    /// Its tool.
    pub tool: String,
    /// The command that it runs, or its arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its start was permitted by a rule, which knows no more than the call's text.
    #[serde(default)]
    pub by_rule: bool,
    /// How long it is held without a runtime, in seconds.
    pub lease_secs: u64,
    /// When it was spawned.
    pub spawned: Millis,
    /// The lock of the person who has taken it over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<KeptLock>,
    /// The running tool, for the executor that adopts it.
    pub job: JobDescription,
}

/// The machine of a kept handle, and the version of its holder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptStamp {
    /// The version of the messages that the holder speaks.
    pub version: u8,
    /// The boot of the machine.
    pub boot: String,
    /// The name of the machine.
    #[serde(default)]
    pub machine: String,
}

impl KeptHandle {
    /// The name of its files, without an extension.
    pub fn name(&self) -> &str {
        &self.key.name
    }
}

/// The lock of a person who has taken a handle over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptLock {
    /// The name of the lock.
    pub id: String,
    /// How long it lasts after the person has typed, in milliseconds.
    pub lease_ms: u64,
    /// How much the tool had written when it was locked.
    pub written: u64,
    /// The rows and columns of its terminal when it was locked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<(u16, u16)>,
}

/// The receipt of a program that its holder has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeptReceipt {
    /// The reason.
    pub reason: KeptReceiptReason,
    /// How many processes were ended.
    pub ended: u32,
    /// The processes that could not be ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub survivors: Vec<u32>,
    /// How the program itself had exited, if it had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<KeptExit>,
    /// When.
    pub at: Millis,
    /// The limit that it exceeded, by its name in the configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
}

/// The reason for which a kept program was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeptReceiptReason {
    /// Its lease was over.
    Lease,
    /// It was aborted, and the runtime died before it could say so.
    Aborted,
    /// A person ended it while it was held.
    Asked,
    /// Its holder spoke a version that nobody understands any more.
    Outdated,
    /// It exceeded a limit while it was held.
    Limit,
}

/// How a kept program exited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeptExit {
    /// With this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

impl std::fmt::Display for KeptExit {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Code(code) => write!(formatter, "exit code {code}"),
            Self::Signal(signal) => write!(formatter, "signal {signal}"),
        }
    }
}

/// The reason for which a kept handle is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LossReason {
    /// Its holder was killed, and its tree was ended with it.
    HolderDied,
    /// The machine was started anew.
    Rebooted,
    /// Its state file cannot be read. Its tree is ended.
    Unreadable,
}

impl std::fmt::Display for LossReason {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::HolderDied => {
                "the process that held it was killed, and everything it ran was ended"
            }
            Self::Rebooted => "the machine was restarted",
            Self::Unreadable => "its state file cannot be read, so it was ended",
        })
    }
}

/// The standing of a kept handle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "standing", rename_all = "snake_case")]
pub enum HeldStanding {
    /// It runs without a runtime.
    Held {
        /// How much is left of its lease, in seconds.
        left_secs: f64,
    },
    /// A runtime that lives has it.
    Owned {
        /// The runtime's process.
        owner: u32,
    },
    /// It has exited while no runtime had it, and its status waits to be fetched.
    Stopped {
        /// How it exited.
        exit: KeptExit,
        /// How much is left of its lease, in seconds.
        left_secs: f64,
    },
    /// It was ended, and nobody has been told yet.
    Ended {
        /// The receipt.
        receipt: KeptReceipt,
    },
    /// It is gone, and nobody has been told yet.
    Lost {
        /// The reason.
        why: LossReason,
    },
    /// Its holder does not answer for now, or is ending it.
    Silent,
    /// Its holder belongs to a newer Windlass, which alone can adopt it.
    Newer {
        /// The version of the messages that the holder speaks.
        version: u8,
    },
}

/// A kept handle as a person sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeldHandleInfo {
    /// Names it among everything that is kept.
    pub name: String,
    /// The handle.
    pub handle: HandleId,
    /// Its tool.
    pub tool: String,
    /// The command that it runs, or its arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The session that it belonged to last.
    pub session: SessionId,
    /// The name of that session, if it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_name: Option<String>,
    /// The root folder of the project.
    pub root: PathBuf,
    /// How the outside reached the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front_end: Option<String>,
    /// The client of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// It has a terminal.
    pub terminal: bool,
    /// When it was spawned.
    pub spawned: Millis,
    /// How long it is held without a runtime, in seconds.
    pub lease_secs: u64,
    /// Its standing.
    #[serde(flatten)]
    pub standing: HeldStanding,
}

impl HeldHandleInfo {
    /// A kept handle that stands like this.
    pub fn new(kept: &KeptHandle, standing: HeldStanding) -> Self {
        Self {
            name: kept.name().to_owned(),
            handle: kept.handle.clone(),
            tool: kept.tool.clone(),
            command: kept.title.clone(),
            session: kept.session.clone(),
            session_name: kept.session_name.clone(),
            root: kept.project.clone(),
            front_end: kept.front_end.clone(),
            client: kept.client.clone(),
            terminal: kept.key.terminal.is_some(),
            spawned: kept.spawned,
            lease_secs: kept.lease_secs,
            standing,
        }
    }
}
