//! `cargo` on a small project.

use std::fs;

use serde_json::json;
use tempfile::{TempDir, tempdir};

use crate::support::start;

/// A package with this as its library.
fn project(library: &str) -> TempDir {
    let folder = tempdir().unwrap();
    let manifest =
        "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";
    fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    fs::write(folder.path().join("src/lib.rs"), library).unwrap();
    folder
}

#[test]
fn compiler_errors_are_a_short_list() {
    let folder = project("pub fn f() -> u32 {\n    \"text\"\n}\nfn unused() {}\n");
    let (contents, result) = start(folder.path(), "cargo", &json!({"command": "check"})).finish();
    let error = "error[E0308] src/lib.rs:2:5: mismatched types: expected `u32`, found `&str`";
    assert!(
        contents.iter().any(|content| content == error),
        "{contents:?}"
    );
    let message = result["Err"]["message"].as_str().unwrap();
    assert_eq!(message, format!("1 error, 0 warnings\n{error}"));
}

#[test]
fn a_good_check_lists_its_warnings() {
    let folder = project("fn unused() {}\n");
    let (_, result) = start(folder.path(), "cargo", &json!({"command": "check"})).finish();
    assert_eq!(
        result["Ok"],
        json!(
            "0 errors, 1 warning\n\
             warning[dead_code] src/lib.rs:1:4: function `unused` is never used"
        )
    );
}

#[test]
fn tests_are_counted_and_failures_reported() {
    let folder = project(
        "#[test]\nfn holds() {}\n#[test]\nfn breaks() { assert_eq!(1, 2, \"so it goes\"); }\n",
    );
    let (contents, result) = start(folder.path(), "cargo", &json!({"command": "test"})).finish();
    assert!(
        contents.contains(&"test failed: breaks".to_owned()),
        "{contents:?}"
    );
    let message = result["Err"]["message"].as_str().unwrap();
    let first = message.lines().next().unwrap();
    assert_eq!(first, "0 errors, 0 warnings, 1 passed, 1 failed, 0 ignored");
    assert!(message.contains("so it goes"), "{message}");
}

#[test]
fn where_there_is_no_project_cargo_says_so() {
    let folder = tempdir().unwrap();
    let (_, result) = start(folder.path(), "cargo", &json!({"command": "build"})).finish();
    let message = result["Err"]["message"].as_str().unwrap();
    assert!(message.contains("Cargo.toml"), "{message}");
}

#[test]
fn an_abort_ends_a_build() {
    let folder = project("");
    // It waits for as long as the folder is there.
    let script = "fn main() {\n    while std::path::Path::new(\"build.rs\").exists() {\n        \
                  std::thread::sleep(std::time::Duration::from_millis(10));\n    }\n}\n";
    fs::write(folder.path().join("build.rs"), script).unwrap();
    let mut cargo = start(folder.path(), "cargo", &json!({"command": "build"}));
    cargo.abort();
    let (_, result) = cargo.finish();
    assert_eq!(result["Err"]["message"], json!("aborted"));
}
