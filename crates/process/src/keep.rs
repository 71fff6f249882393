//! Programs that outlive the process that started them.
//!
//! [`Command::keep`](crate::Command::keep) asks for it, [`Process::leave`](crate::Process::leave) lets go of such a
//! program, and [`Launcher::adopt`](crate::Launcher::adopt) takes it over in another process. Only on Linux, where trees
//! are held together; elsewhere a program ends as if it had not been asked for.

use std::path::PathBuf;
use std::time::Duration;

pub use windlass_hold_wire::{HeldEnd, HoldReceipt};
use windlass_output::{Output, OutputOptions};

use crate::Exit;
use crate::terminal::Tap;

/// How a program is kept when the process that started it dies.
#[derive(Debug, Clone)]
pub struct KeepOptions {
    /// How long it is held without an owner before its tree is ended.
    pub lease: Duration,
    /// The folder of the holder's socket, and of its receipt. It must be the user's alone.
    pub folder: PathBuf,
    /// The name of those files, without their extensions `sock` and `receipt`.
    pub name: String,
    /// The options of the output that the program writes to: its holder goes on with the log.
    pub output: OutputOptions,
    /// A file that leads others to the program. If it is not there when the process that has the program dies, or is
    /// removed later, nobody could find the program: its tree is ended then.
    pub registration: Option<PathBuf>,
}

/// Leads to the holder of a kept program. Whoever has it may adopt the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldKey {
    /// The folder of [`KeepOptions`].
    pub folder: PathBuf,
    /// The name of [`KeepOptions`].
    pub name: String,
    /// A number that nobody can guess. For a program on another machine, the session of the link in which it was started.
    pub nonce: [u8; 16],
    /// The program's place, if it runs on another machine.
    pub remote: Option<RemotePlace>,
}

/// The place of a program that runs on another machine.
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
    /// The program's process.
    pub program: u32,
    /// The process that holds it.
    pub holder: u32,
    /// How the program exited, if it has.
    pub exit: Option<Exit>,
    /// The process that has it, if one does.
    pub owner: Option<u32>,
    /// How much is left of its lease; all of it as long as somebody has it.
    pub left: Duration,
    /// How many bytes it has written, as far as its holder has read them: 0 while somebody has it.
    pub written: u64,
    /// Its tree is being ended.
    pub ending: bool,
}

/// How long a holder may take to answer, unless its asker has more patience.
const ANSWER_LIMIT: Duration = Duration::from_secs(2);

#[cfg(target_os = "linux")]
impl HeldKey {
    /// Asks the holder how its program stands.
    pub async fn look_up(&self) -> Result<HeldProgram, TakeOverError> {
        crate::linux::look_up(self, ANSWER_LIMIT).await
    }

    /// Asks the holder for at most this many bytes of output, and 64 KiB, from an offset on. Gives the offset of the first
    /// byte, which is later where older output is not kept, and the bytes. Only for a program that is held.
    pub async fn output(&self, from: u64, most: u32) -> Result<(u64, Vec<u8>), TakeOverError> {
        crate::linux::held_output(self, from, most, ANSWER_LIMIT).await
    }

    /// Has the holder end its program and the whole tree, and returns when they are gone. Only for a program that is held.
    pub async fn end(&self, grace: Duration) -> Result<HoldReceipt, TakeOverError> {
        crate::linux::end_held(self, grace).await
    }
}

#[cfg(not(target_os = "linux"))]
impl HeldKey {
    /// Nothing is held on this system.
    pub async fn look_up(&self) -> Result<HeldProgram, TakeOverError> {
        Err(self.nobody())
    }

    /// Nothing is held on this system.
    pub async fn output(&self, _from: u64, _most: u32) -> Result<(u64, Vec<u8>), TakeOverError> {
        Err(self.nobody())
    }

    /// Nothing is held on this system.
    pub async fn end(&self, _grace: Duration) -> Result<HoldReceipt, TakeOverError> {
        Err(self.nobody())
    }

    fn nobody(&self) -> TakeOverError {
        TakeOverError::Gone {
            name: self.name.clone(),
            source: std::io::ErrorKind::Unsupported.into(),
        }
    }
}

/// Sees the output of a program that was adopted, and how far it had been read.
pub type Rebuild = Box<dyn FnOnce(&Output, u64) + Send>;

/// The options of the process that adopts a program.
pub struct AdoptOptions {
    /// The options of the program's output when it was started.
    pub output: OutputOptions,
    /// How long its holder may take to answer. Default: 2 seconds.
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

    /// Sees everything that a program on a terminal writes from now on, see
    /// [`Command::terminal_with`](crate::Command::terminal_with).
    pub fn tap(mut self, tap: impl FnMut(&[u8]) -> Vec<u8> + Send + 'static) -> Self {
        self.tap = Some(Tap::new(tap));
        self
    }

    /// Calls this with the output as it was when its last owner died, and the offset up to which it had been read,
    /// before anything new is added.
    pub fn rebuild(mut self, rebuild: impl FnOnce(&Output, u64) + Send + 'static) -> Self {
        self.rebuild = Some(Box::new(rebuild));
        self
    }
}

/// A kept program that could not be adopted.
#[derive(Debug, thiserror::Error)]
pub enum TakeOverError {
    /// Nobody holds it: it has ended, or its holder was killed, and its tree with it.
    #[error("nobody holds the program `{name}` any more")]
    Gone {
        /// The name of its key.
        name: String,
        /// The system's word.
        #[source]
        source: std::io::Error,
    },
    /// Another process has it.
    #[error("the program `{name}` belongs to process {owner}")]
    Busy {
        /// The name of its key.
        name: String,
        /// The process.
        owner: u32,
    },
    /// Its holder does not accept this key, or speaks another version of the protocol.
    #[error("the holder of the program `{name}` (version {version}) does not give it away")]
    Refused {
        /// The name of its key.
        name: String,
        /// The version of the protocol that the holder speaks.
        version: u8,
    },
    /// Its holder does not answer.
    #[error("the holder of the program `{name}` does not answer")]
    Silent {
        /// The name of its key.
        name: String,
    },
    /// The system does not allow it.
    #[error("the program `{name}` cannot be adopted")]
    System {
        /// The name of its key.
        name: String,
        /// The system's word.
        #[source]
        source: std::io::Error,
    },
}
