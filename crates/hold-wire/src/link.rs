//! The frames of a link: one runtime, one host, and all programs of that runtime there.
//!
//! The near side sends [`NearFrame`]s and the far side [`FarFrame`]s, each behind its length ([`frame`](crate::frame)). The
//! first frame of each side is its hello, which begins with [`LINK_MAGIC`]. Programs have numbers that the near side
//! gives. Offsets count the bytes that a program has written, from its start. Every event names the offset at which it
//! happened: the near side acts on it once it has the output up to there.
//!
//! Orders of one program are numbered from 1. The far side carries out each once and says how far it has come when a
//! program is resumed, so that the near side can send again what may have been lost.

mod far;
mod hello;
mod near;
mod outcome;
mod output;
mod sandbox;
mod status;

pub use far::FarFrame;
pub use hello::FarHello;
pub use near::{LinkCapture, NearFrame, NearHello, ProgramOrigin, ProgramStart};
pub use outcome::{LinkExit, StartFailure};
pub use output::{FramedOutput, OutputFrame};
pub use sandbox::{AppliedRules, LinkLimits, LinkNetwork, LinkSandbox, SandboxRules};
pub use status::{LinkPrompt, LinkReader, ProgramStatus};

/// The beginning of the first frame of each side, after its kind.
pub const LINK_MAGIC: &[u8; 8] = b"windlass";

/// The version of the frames of a link.
pub const LINK_VERSION: u8 = 2;

/// Names the near session, whose programs only its own links reach.
pub type LinkSession = [u8; 16];

/// The longest piece of output or input in one frame.
pub const LONGEST_PIECE: usize = 32 * 1024;
