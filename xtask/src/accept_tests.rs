//! Records in a temporary folder, accepted.

use std::fs;

use super::*;

const RECORD: &str =
    r#"{"run_id":"1-2","line":1,"new":{"snapshot":"new"},"old":{"snapshot":"old"}}"#;

/// Two temporary folders: the records and the workspace.
struct Folders(tempfile::TempDir, tempfile::TempDir);

impl Folders {
    fn new(records: &[(&str, &str)], sources: &[(&str, &str)]) -> Self {
        let write = |files: &[(&str, &str)]| {
            let folder = tempfile::tempdir().unwrap();
            for (name, text) in files {
                let path = folder.path().join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            folder
        };
        Self(write(records), write(sources))
    }

    fn accept(&self) -> Outcome {
        accept(self.0.path(), self.1.path()).unwrap()
    }

    fn source(&self, name: &str) -> String {
        fs::read_to_string(self.1.path().join(name)).unwrap()
    }
}

#[test]
fn inline_snapshots_are_written_into_their_sources() {
    let folders = Folders::new(
        &[("crates/a/src/.a_tests.rs.pending-snap", RECORD)],
        &[("crates/a/src/a_tests.rs", "s!(a, @\"old\");")],
    );
    let outcome = folders.accept();
    assert_eq!(outcome.changed, ["crates/a/src/a_tests.rs:1"]);
    assert_eq!(outcome.refused, [""; 0]);
    assert_eq!(
        folders.source("crates/a/src/a_tests.rs"),
        "s!(a, @\"new\");"
    );
}

#[test]
fn a_refusal_names_the_place_and_the_other_files_are_accepted() {
    let folders = Folders::new(
        &[
            (".a.rs.pending-snap", RECORD),
            (".b.rs.pending-snap", RECORD),
        ],
        &[
            ("a.rs", "s!(a, @\"edited\");"),
            ("b.rs", "s!(a, @\"old\");"),
        ],
    );
    let outcome = folders.accept();
    assert_eq!(outcome.changed, ["b.rs:1"]);
    assert_eq!(
        outcome.refused,
        ["a.rs:1: the snapshot is not the one that the test was built with; run this again"]
    );
}

#[test]
fn file_snapshots_are_written_without_the_line_of_their_assertion() {
    let text =
        "---\nsource: a.rs\nassertion_line: 7\nexpression: x\n---\nassertion_line: stays\n---\n";
    let folders = Folders::new(
        &[("tests/it/snapshots/it__a.snap.new", text)],
        &[("tests/it/snapshots/it__a.snap", "old")],
    );
    let outcome = folders.accept();
    assert_eq!(outcome.changed, ["tests/it/snapshots/it__a.snap"]);
    assert_eq!(
        folders.source("tests/it/snapshots/it__a.snap"),
        "---\nsource: a.rs\nexpression: x\n---\nassertion_line: stays\n---\n"
    );
}

#[test]
fn snapshots_that_are_not_texts_are_refused() {
    let folders = Folders::new(&[("a/it__a.snap.new.png", "")], &[]);
    assert_eq!(
        folders.accept().refused,
        ["a/it__a.snap.new.png: not a text, and only texts are accepted"]
    );
}

#[test]
fn without_records_nothing_is_accepted() {
    let gone = tempfile::tempdir().unwrap().path().join("gone");
    let outcome = accept(&gone, workspace::root()).unwrap();
    assert_eq!(outcome.changed, [""; 0]);
    assert_eq!(outcome.refused, [""; 0]);
}
