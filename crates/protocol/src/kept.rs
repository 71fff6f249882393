//! Handles that outlive their runtime: their state files and their status.
//!
//! Start at [`KeptHandle`], the state file, and [`HeldHandleInfo`], the view
//! for people. The file only locates the holder; the holder is authoritative.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{HandleId, JobDescription, KeptProgramKey, Millis, SessionId};

/// A kept handle, as its state file describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptHandle {
    /// The machine that it runs on, and the holder's version.
    #[serde(flatten)]
    pub stamp: KeptStamp,
    /// The key to its holder.
    pub key: KeptProgramKey,
    /// The session that it belongs to.
    pub session: SessionId,
    /// The name of the session, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_name: Option<String>,
    /// The root folder of the project.
    pub project: PathBuf,
    /// The session's front end: `mcp`, `drive`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front_end: Option<String>,
    /// The client's name, as given by the client.
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
    /// Its start was permitted by a rule, which was matched against the text of
    /// the call only.
    #[serde(default)]
    pub by_rule: bool,
    /// The time for which it is held without a runtime, in seconds.
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
    /// The time after the person's last input at which it expires, in
    /// milliseconds.
    pub lease_ms: u64,
    /// The size of the tool's output when it was locked.
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
    /// The number of processes that were ended.
    pub ended: u32,
    /// The processes that could not be ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub survivors: Vec<u32>,
    /// The exit status of the program, if it had exited before.
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
    /// It was aborted, and the runtime died before it could report that.
    Aborted,
    /// A person ended it while it was held.
    Asked,
    /// Its holder uses a version that is no longer supported.
    Outdated,
    /// It exceeded a limit while it was held.
    Limit,
}

/// The exit status of a kept program.
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
    /// The machine was rebooted.
    Rebooted,
    /// Its state file cannot be read. Its tree is ended.
    Unreadable,
}

impl std::fmt::Display for LossReason {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::HolderDied => "its shim was killed, and everything it ran was ended",
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
        /// The remaining time of its lease, in seconds.
        left_secs: f64,
    },
    /// A runtime that lives has it.
    Owned {
        /// The runtime's process.
        owner: u32,
    },
    /// It exited while no runtime had it; its exit status has not been read
    /// yet.
    Stopped {
        /// The exit status.
        exit: KeptExit,
        /// The remaining time of its lease, in seconds.
        left_secs: f64,
    },
    /// It was ended; this has not been reported yet.
    Ended {
        /// The receipt.
        receipt: KeptReceipt,
    },
    /// It is gone; this has not been reported yet.
    Lost {
        /// The reason.
        why: LossReason,
    },
    /// Its holder does not respond now, or is ending it.
    Silent,
    /// Its holder belongs to a newer Windlass, and only that one can adopt it.
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
    /// The session's front end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front_end: Option<String>,
    /// The client of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// It has a terminal.
    pub terminal: bool,
    /// When it was spawned.
    pub spawned: Millis,
    /// The time for which it is held without a runtime, in seconds.
    pub lease_secs: u64,
    /// Its standing.
    #[serde(flatten)]
    pub standing: HeldStanding,
}

impl HeldHandleInfo {
    /// A kept handle with this status.
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
