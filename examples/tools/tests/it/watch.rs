//! `watch` tells what changes.

use std::fs;
use std::io::Write;

use serde_json::json;
use tempfile::tempdir;

use crate::support::start;

#[test]
fn changes_are_reported_until_there_were_enough() {
    let folder = tempdir().unwrap();
    fs::create_dir(folder.path().join("target")).unwrap();
    fs::write(folder.path().join("old.txt"), "1").unwrap();
    let mut watch = start(folder.path(), "watch", &json!({"until": 3}));
    assert_eq!(watch.content(), "watching .");
    fs::write(folder.path().join("target/ignored"), "1").unwrap();
    // Each is one change and not two, however busy the machine is.
    let elsewhere = tempdir().unwrap();
    fs::write(elsewhere.path().join("new.txt"), "1").unwrap();
    let new = folder.path().join("new.txt");
    fs::rename(elsewhere.path().join("new.txt"), new).unwrap();
    assert_eq!(watch.content(), "created new.txt");
    let mut old = fs::OpenOptions::new();
    let mut old = old
        .append(true)
        .open(folder.path().join("old.txt"))
        .unwrap();
    old.write_all(b"2").unwrap();
    assert_eq!(watch.content(), "changed old.txt");
    fs::remove_file(folder.path().join("new.txt")).unwrap();
    let (contents, result) = watch.finish();
    assert_eq!(contents, ["removed new.txt"]);
    assert_eq!(result["Ok"], json!("stopped after 3 changes"));
}

#[test]
fn an_abort_ends_it() {
    let folder = tempdir().unwrap();
    let mut watch = start(folder.path(), "watch", &json!({}));
    assert_eq!(watch.content(), "watching .");
    watch.abort();
    let (_, result) = watch.finish();
    assert_eq!(result["Err"]["message"], json!("aborted"));
}

#[test]
fn what_is_not_there_cannot_be_watched() {
    let folder = tempdir().unwrap();
    let arguments = json!({"paths": ["missing"]});
    let (_, result) = start(folder.path(), "watch", &arguments).finish();
    assert_eq!(result["Err"]["message"], json!("cannot watch `missing`"));
    assert_eq!(result["Err"]["transient"], json!(false));
}
