//! The frames between a runtime and the holder of a program in another process or on another machine.
//!
//! Start at [`HolderRequest`] and [`HolderReply`]. A client that knows the nonce of a program can query its status,
//! read its output from an offset, end it or adopt it. After adopting it, the client sends [`HolderOrder`]s and
//! receives [`HolderReport`]s. On a connection without message boundaries, such as a pipe, [`frame`] and
//! [`FrameBuffer`] separate the messages.
//!
//! [`NearFrame`] and [`FarFrame`] carry all programs of a runtime on one host over one pipe.
//!
//! The two ends may run different versions of the executable. Every request and reply therefore carries a version,
//! numbers are little-endian, and later versions only append to a message: a reader ignores bytes that it does not
//! know. Nothing here does I/O.

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
    LONGEST_WINDOW, LinkCapture, LinkExit, LinkLimits, LinkNetwork, LinkPrompt, LinkReader,
    LinkSandbox, LinkSession, NearFrame, NearHello, OutputFrame, ProgramOrigin, ProgramStart,
    ProgramStatus, SandboxRules, StartFailure,
};
pub use orders::{HolderOrder, HolderReport, NumberedOrder, OrderOutcome};
pub use receipt::{HeldEnd, HoldReceipt, SURVIVOR_LIMIT};
pub use replies::{HeldInput, HolderReply, Streams};
pub use requests::{HolderRequest, Wants};

/// The version of these messages.
pub const VERSION: u8 = 1;

/// The oldest supported version. A holder that speaks an older one is ended.
pub const OLDEST: u8 = 1;

/// Proves that the client has read the state file of the holder.
pub type Nonce = [u8; 16];

/// The version to use with a holder that refused and sent its own version; `None` if there is no common one.
pub fn common_version(holder: u8) -> Option<u8> {
    let version = holder.min(VERSION);
    (version >= OLDEST).then_some(version)
}
