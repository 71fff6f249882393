//! The record of every call, in `SQLite`.
//!
//! Start at [`Store::open`]. A session writes through [`Store::recorder`]. A
//! thread commits the changes in groups, so that waiting for them is cheap.
//! Readers use the runtime's `Archive`, which the store implements. Several
//! processes may use one store at the same time. The next process that opens
//! the store marks the unfinished work of dead ones.
//!
//! A commit survives the death of the process at any time. The newest commits
//! may not survive a loss of power.

mod archive;
mod backlog;
mod conversation;
mod mark;
mod migrate;
mod output;
mod prune;
mod recover;
mod reply;
mod rows;
mod rules;
mod store;
mod write;
mod writer;

pub use mark::RuntimeMark;
pub use prune::{Prune, Pruned};
pub use store::{SessionStart, Store, StoreError};
