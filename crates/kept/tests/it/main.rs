//! Kept handles by their state files, with real holders.

mod store;

windlass_process::init_before_main!();
