//! The programs here are those that users read and get, word by word, so that
//! the tests of the command can run them.

use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn workspace() -> PathBuf {
    here().join("../..")
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// A block of the guide, by the name after its language.
fn block(name: &str) -> String {
    let guide = read(&workspace().join("docs/guide/writing-tools.md"));
    let mut lines = guide.lines();
    let opens = |line: &str| line.starts_with("```") && line.ends_with(&format!(" {name}"));
    assert!(lines.any(opens), "the guide has no block `{name}`");
    let block: Vec<&str> = lines.take_while(|line| *line != "```").collect();
    block.join("\n") + "\n"
}

/// What `windlass tools new` fills in.
fn template(name: &str) -> String {
    let text = read(&workspace().join("crates/cli/src/tools/new").join(name));
    text.replace("@NAME@", "hello_rust")
}

#[test]
fn the_programs_are_those_of_the_guide() {
    for file in ["src/main.rs", "src/bin/repo.rs"] {
        assert_eq!(
            read(&here().join(file)),
            block(&format!("rust/{file}")),
            "{file}"
        );
    }
}

#[test]
fn the_new_tool_is_the_one_that_the_command_writes() {
    let here = read(&here().join("src/bin/hello_rust.rs"));
    assert_eq!(here, template("main.rs.in"));
}

/// The third-party dependencies of a manifest.
fn dependencies(manifest: &str) -> Table {
    let manifest: Table = manifest.parse().unwrap();
    let mut dependencies = manifest["dependencies"].as_table().unwrap().clone();
    let sdk = dependencies.remove("windlass-sdk");
    assert!(sdk.is_some(), "{manifest}");
    dependencies
}

#[test]
fn the_manifests_of_users_name_the_dependencies_of_this_one() {
    let root: Table = read(&workspace().join("Cargo.toml")).parse().unwrap();
    let versions = root["workspace"]["dependencies"].as_table().unwrap();
    let ours = dependencies(&read(&here().join("Cargo.toml")));
    let guide = dependencies(&block("rust/Cargo.toml"));
    let new = template("Cargo.toml.in").replace("@SDK@", "\"1\"");
    assert_eq!(guide, dependencies(&new));
    assert!(guide.keys().eq(ours.keys()), "{guide} {ours}");
    for (name, dependency) in &guide {
        let version = |value: &Value| value.get("version").unwrap_or(value).clone();
        assert_eq!(version(dependency), version(&versions[name]), "{name}");
    }
    // The programs derive both traits.
    assert_eq!(guide["serde"]["features"], Value::from(vec!["derive"]));
}
