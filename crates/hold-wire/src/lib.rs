//! The frames between a runtime and the holder of a program that runs elsewhere: in another process, or on another
//! machine.
//!
//! Start at [`HolderRequest`] and [`HolderReply`]: whoever knows the nonce of a program asks for its status, its output
//! from an offset or its end, or adopts it. Whoever has adopted it gives [`HolderOrder`]s and hears [`HolderReport`]s.
//! On a connection that has no message boundaries, such as a pipe, [`frame`] and [`FrameBuffer`] part them.
//!
//! [`NearFrame`] and [`FarFrame`] carry all programs of a runtime on one host over one pipe.
//!
//! The two ends may be executables of different versions. So every request and reply carries a version, numbers are
//! little-endian, and a message is only ever made longer: a reader ignores bytes beyond those that it knows. Nothing here
//! does I/O.

mod bytes;
mod frames;
mod link;
mod orders;
mod receipt;
mod replies;
mod requests;

pub use frames::{FrameBuffer, FrameTooLong, LONGEST_FRAME, frame};
pub use link::{
    AppliedRules, FarFrame, FarHello, FramedOutput, LINK_MAGIC, LINK_VERSION, LONGEST_PIECE,
    LinkCapture, LinkExit, LinkLimits, LinkNetwork, LinkPrompt, LinkReader, LinkSandbox,
    LinkSession, NearFrame, NearHello, OutputFrame, ProgramOrigin, ProgramStart, ProgramStatus,
    SandboxRules, StartFailure,
};
pub use orders::{HolderOrder, HolderReport, NumberedOrder, OrderOutcome};
pub use receipt::{HeldEnd, HoldReceipt, SURVIVOR_LIMIT};
pub use replies::{HolderReply, Streams};
pub use requests::{HolderRequest, Wants};

/// The version of these messages.
pub const VERSION: u8 = 1;

/// The oldest version that is understood. A holder that speaks an older one is ended.
pub const OLDEST: u8 = 1;

/// Proves that whoever asks has read the file that leads to the holder.
pub type Nonce = [u8; 16];

/// The version to ask a holder in that has refused with its own version; `None` if there is no common one.
pub fn common_version(holder: u8) -> Option<u8> {
    let version = holder.min(VERSION);
    (version >= OLDEST).then_some(version)
}
