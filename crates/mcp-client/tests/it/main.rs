//! Tools of real MCP servers under a runtime.
//!
//! Each file is one subject. `support.rs` sets the stage; the server that
//! plays on it is `fixture/server.py`.
#![cfg(target_os = "linux")]

mod calls;
mod contract;
mod deaths;
mod http;
mod questions;
mod support;
mod tasks;

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
