//! Tests of kept handles and their state files, with real holders.

mod store;

windlass_process::init_before_main!();
