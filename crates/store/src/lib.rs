//! The record of every call, in `SQLite`.
//!
//! Start at [`Store::open`]. A session writes through [`Store::recorder`]:
//! what it tells goes to a thread that commits in groups, so that waiting for
//! it costs little. Everyone else reads through the runtime's `Archive`, which
//! the store implements. Several processes may use one store at once; what a
//! dead one left unfinished is marked so by the next that opens it.
//!
//! A commit survives the death of the process at any moment. It does not
//! promise to survive the loss of power within the last moments.

mod archive;
mod backlog;
mod conversation;
mod mark;
mod migrate;
mod output;
mod prune;
mod recorder;
mod recover;
mod reply;
mod rows;
mod rules;
mod store;
mod write;
mod writer;

pub use prune::{Prune, Pruned};
pub use store::{SessionStart, Store, StoreError};
