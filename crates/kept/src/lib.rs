//! Handles that outlive their runtime: their state files and their status.
//!
//! Start at [`KeptStore::survey`], which reads every state file and queries every holder. [`KeptStore::reserve`] and
//! [`KeptStore::register`] are for the runtime that keeps a handle. The files only locate holders; only the holder
//! knows whether its program runs. This crate does not adopt programs: executors do.
//!
//! ```text
//!  kept/NAME.new      a place that is taken, or a state file that is being written
//!  kept/NAME.json     the state file (a `KeptHandle`): without it nobody finds the program, and its holder ends it
//!  kept/NAME.sock     the holder's socket
//!  kept/NAME.draft    the receipt to be
//!  kept/NAME.receipt  the holder's last word
//! ```

mod boot;
mod outdated;
mod receipt;
mod remote;
mod slot;
mod standing;
mod store;

pub use slot::{KeptSlot, NotKept};
pub use standing::{SurveyedHandle, UnreadableKept};
pub use store::{EndHeldError, KeptStore, KeptSurvey};
