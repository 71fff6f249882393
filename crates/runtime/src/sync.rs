//! The lock that wake-ups are built on. `tests/loom.rs` puts its own in this
//! place.

pub(crate) use parking_lot::Mutex;
