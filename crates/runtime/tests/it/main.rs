//! The runtime as its callers see it, with scripted tools in charge of
//! nothing.
//!
//! Each file is one subject; `support.rs` is the stage they play on.

mod awaiting;
mod awaiting_until;
mod cancelling;
mod contract;
mod digest;
mod handing_over;
mod handles;
mod keeping;
mod late_permits;
mod notices;
mod offering;
mod one_shot;
mod onlooking;
mod permission_rules;
mod permissions;
mod questions;
mod recording;
mod refusals;
mod registry_model;
mod secrets;
mod support;
mod taking_up;
mod transcripts;
mod turn_end;
mod typed_commands;
mod unreached;

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
