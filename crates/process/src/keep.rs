//! Programs that outlive the process that started them.
//!
//! [`Command::keep`](crate::Command::keep) requests it,
//! [`Process::leave`](crate::Process::leave) releases such a program, and
//! [`Launcher::adopt`](crate::Launcher::adopt) takes it over in another
//! process. Only on Linux, with held trees; elsewhere the request has no
//! effect.

use std::path::PathBuf;
use std::time::Duration;

pub use windlass_hold_wire::{HeldEnd, HoldReceipt};
use windlass_output::{Output, OutputOptions};

use crate::Exit;
use crate::terminal::Tap;

/// Settings of a kept program.
#[derive(Debug, Clone)]
pub struct KeepOptions {
    /// The time for which it is held without an owner before its tree is ended.
    pub lease: Duration,
    /// The directory of the holder's socket and receipt. Only the user may have access.
    pub folder: PathBuf,
    /// The name of those files, without their extensions `sock` and `receipt`.
    pub name: String,
    /// The options of the program's output. Its holder continues the log.
    pub output: OutputOptions,
    /// A file by which others find the program. If it is missing when the owner
    /// dies, or is removed later, the tree is ended, because nobody could find
    /// it.
    pub registration: Option<PathBuf>,
}

/// The address of a kept program's holder. Its possession grants adoption.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldKey {
    /// The directory of [`KeepOptions`].
    pub folder: PathBuf,
    /// The name of [`KeepOptions`].
    pub name: String,
    /// A random number. For a program on another machine, the session of the
    /// link in which it was started.
    pub nonce: [u8; 16],
    /// Its location, if it runs on another machine.
    pub remote: Option<RemotePlace>,
}

/// The location of a program on another machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemotePlace {
    /// The host's name.
    pub host: String,
    /// The program's number in its session there.
    pub program: u64,
}

/// A kept program, as its holder describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldProgram {
    /// The program's process id.
    pub program: u32,
    /// The holder's process id.
    pub holder: u32,
    /// The program's exit, if it has exited.
    pub exit: Option<Exit>,
    /// The owning process, if any.
    pub owner: Option<u32>,
    /// The rest of its lease; all of it while it has an owner.
    pub left: Duration,
    /// The number of bytes that the holder has read: 0 while it has an owner.
    pub written: u64,
    /// Whether its tree is being ended.
    pub ending: bool,
}

/// The index of the note of this crate: whether the last write has left a line unfinished.
#[cfg(target_os = "linux")]
pub(crate) const WITHIN_LINE: usize = 3;

/// Three numbers that the owner of a kept program records for its next owner. They are 0 at first, and survive the death of
/// the owner. Does not keep the program alive.
#[derive(Clone)]
pub struct OwnerNotes {
    #[cfg(target_os = "linux")]
    pub(crate) retained: std::sync::Arc<crate::linux::Retained>,
    #[cfg(not(target_os = "linux"))]
    pub(crate) never: std::convert::Infallible,
}

#[cfg(target_os = "linux")]
impl OwnerNotes {
    /// The number at an index below 3.
    pub fn get(&self, index: usize) -> u64 {
        self.retained.note(index)
    }

    /// Records a number at an index below 3.
    pub fn set(&self, index: usize, note: u64) {
        self.retained.set_note(index, note);
    }
}

#[cfg(not(target_os = "linux"))]
impl OwnerNotes {
    /// Never called: nothing is kept on this system.
    pub fn get(&self, _index: usize) -> u64 {
        match self.never {}
    }

    /// Never called: nothing is kept on this system.
    pub fn set(&self, _index: usize, _note: u64) {
        match self.never {}
    }
}

/// The default time limit for a holder's answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(2);

#[cfg(target_os = "linux")]
impl HeldKey {
    /// Asks the holder for the state of its program.
    pub async fn look_up(&self) -> Result<HeldProgram, TakeOverError> {
        crate::linux::look_up(self, ANSWER_LIMIT).await
    }

    /// Asks the holder for output from an offset on, at most `most` bytes and
    /// 64 KiB. Returns the offset of the first byte, which is higher if older
    /// output was dropped, and the bytes. Only for a held program.
    pub async fn output(&self, from: u64, most: u32) -> Result<(u64, Vec<u8>), TakeOverError> {
        crate::linux::held_output(self, from, most, ANSWER_LIMIT).await
    }

    /// Makes the holder end its program and the whole tree; returns when they
    /// are gone. Only for a held program.
    pub async fn end(&self, grace: Duration) -> Result<HoldReceipt, TakeOverError> {
        crate::linux::end_held(self, grace).await
    }
}

#[cfg(not(target_os = "linux"))]
impl HeldKey {
    /// Always fails: nothing is held on this system.
    pub async fn look_up(&self) -> Result<HeldProgram, TakeOverError> {
        Err(self.nobody())
    }

    /// Always fails: nothing is held on this system.
    pub async fn output(&self, _from: u64, _most: u32) -> Result<(u64, Vec<u8>), TakeOverError> {
        Err(self.nobody())
    }

    /// Always fails: nothing is held on this system.
    pub async fn end(&self, _grace: Duration) -> Result<HoldReceipt, TakeOverError> {
        Err(self.nobody())
    }

    pub(crate) fn nobody(&self) -> TakeOverError {
        TakeOverError::Gone {
            name: self.name.clone(),
            source: std::io::ErrorKind::Unsupported.into(),
        }
    }
}

/// Receives the output of an adopted program, and the offset up to which it had
/// been read.
pub type Rebuild = Box<dyn FnOnce(&Output, u64) + Send>;

/// Options for adopting a program.
pub struct AdoptOptions {
    /// The options of the program's output when it was started.
    pub output: OutputOptions,
    /// The time limit for the holder's answer. Default: 2 seconds.
    pub patience: Duration,
    pub(crate) rebuild: Option<Rebuild>,
    pub(crate) tap: Option<Tap>,
}

impl AdoptOptions {
    /// Options for a program with this output.
    pub fn new(output: OutputOptions) -> Self {
        Self {
            output,
            patience: ANSWER_LIMIT,
            rebuild: None,
            tap: None,
        }
    }

    /// Calls `tap` with all later output of a program on a terminal, see
    /// [`Command::terminal_with`](crate::Command::terminal_with).
    pub fn tap(mut self, tap: impl FnMut(&[u8]) -> Vec<u8> + Send + 'static) -> Self {
        self.tap = Some(Tap::new(tap));
        self
    }

    /// Calls `rebuild` with the output at the death of its last owner and the offset up to which it had been read,
    /// before new output is added.
    pub fn rebuild(mut self, rebuild: impl FnOnce(&Output, u64) + Send + 'static) -> Self {
        self.rebuild = Some(Box::new(rebuild));
        self
    }
}

/// The reason why a kept program could not be adopted.
#[derive(Debug, thiserror::Error)]
pub enum TakeOverError {
    /// There is no holder: the program has ended, or its holder was killed
    /// together with its tree.
    #[error("the program `{name}` has no holder any more")]
    Gone {
        /// The name of its key.
        name: String,
        #[source]
        source: std::io::Error,
    },
    /// It has another owner.
    #[error("the program `{name}` belongs to process {owner}")]
    Busy {
        /// The name of its key.
        name: String,
        /// The owner's process id.
        owner: u32,
    },
    /// Its holder rejects this key, or speaks another version of the protocol.
    #[error("the holder of the program `{name}` (version {version}) refused to hand it over")]
    Refused {
        /// The name of its key.
        name: String,
        /// The protocol version of the holder.
        version: u8,
    },
    /// Its holder does not answer.
    #[error("the holder of the program `{name}` does not answer")]
    Silent {
        /// The name of its key.
        name: String,
    },
    /// A system error.
    #[error("the program `{name}` cannot be adopted")]
    System {
        /// The name of its key.
        name: String,
        #[source]
        source: std::io::Error,
    },
}
