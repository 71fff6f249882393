//! The binary and our libraries together: a test's own process links to it, as
//! a runtime links to a host or a worker.
//!
//! Tests that only drive the binary are in `tests/command`, which is not
//! compiled again after an edit of a library. Its library starts the binary
//! here too; its modules have the names here that they have there.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    reason = "the binary itself is nobody's program"
)]

#[cfg(feature = "nats")]
use windlass_command_tests::pool_support;
use windlass_command_tests::{processes, programs, ssh_server, support};

mod hosts_contract;
mod hosts_input;
mod hosts_links;
#[cfg(feature = "nats")]
mod pool_contract;
#[cfg(feature = "nats")]
mod pool_leases;
mod provider_keys;

/// A file without a `mod` line would never run.
#[test]
fn every_file_is_a_module_of_this_binary() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let sources = include_str!("main.rs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.trim_end_matches(".rs");
        assert!(
            module == "main" || sources.contains(&format!("mod {module};")),
            "`{name}` is not part of main.rs"
        );
    }
}
