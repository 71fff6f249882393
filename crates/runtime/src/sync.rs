//! The lock under the wake-ups. `tests/loom.rs` replaces it.

pub(crate) use parking_lot::Mutex;
