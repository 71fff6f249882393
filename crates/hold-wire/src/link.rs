//! The frames of a link: one runtime, one host, and all programs of that runtime there.
//!
//! The near side sends [`NearFrame`]s and the far side [`FarFrame`]s, each length-prefixed ([`frame`](crate::frame)).
//! The first frame of each side is its hello, which begins with [`LINK_MAGIC`]. The near side numbers the programs.
//! Offsets count the bytes that a program has written since its start. Every event has the output offset at which it
//! happened: the near side handles it once it has received the output up to there.
//!
//! The orders to a program are numbered from 1. The far side executes each order once. When a program is resumed, it
//! reports the last order that it executed, and the near side resends the later ones.

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

/// The beginning of the first frame of each side, after the frame's kind.
pub const LINK_MAGIC: &[u8; 8] = b"windlass";

/// The version of the frames of a link.
pub const LINK_VERSION: u8 = 2;

/// Identifies the near session. Only links of the same session reach its programs.
pub type LinkSession = [u8; 16];

/// The longest piece of output or input in one frame.
pub const LONGEST_PIECE: usize = 32 * 1024;

/// The near side never allows a program to be further ahead of the received output than this. So the far side knows
/// from a credit which output was received.
pub const LONGEST_WINDOW: u64 = 1024 * 1024;
