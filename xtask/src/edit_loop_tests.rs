use std::fs;

use super::*;

#[test]
fn an_edited_file_is_put_back_with_its_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lib.rs");
    fs::write(&path, "fn one() {}\n").unwrap();
    let written = fs::metadata(&path).unwrap().modified().unwrap();
    let edited = EditedFile::edit(&path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("fn one() {}\nconst _: u128 = "), "{text}");
    edited.restore().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "fn one() {}\n");
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), written);
}

#[test]
fn every_edited_file_and_package_is_there() {
    for edited in &LOOPS {
        let file = workspace::root().join(edited.file);
        assert!(file.is_file(), "{}", edited.file);
        let folder = file.ancestors().nth(2).unwrap();
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let name = format!("name = \"{}\"", edited.package);
        assert!(manifest.contains(&name), "{manifest}");
    }
}

#[test]
fn an_unknown_crate_is_refused_with_those_that_are_known() {
    let refused = chosen(&["cl".to_owned()]).err().unwrap();
    assert_eq!(
        refused.to_string(),
        "`cl` is none of protocol, runtime, process, cli"
    );
}

#[test]
fn the_table_has_a_line_per_crate() {
    let seconds = Duration::from_secs;
    let lines = [
        "",
        "seconds from an edit to the first test result",
        "edit in    its tests  command's tests",
        "runtime          9.0             60.0",
        "",
    ];
    let table = table(&[("runtime", seconds(9), seconds(60))]);
    assert_eq!(table, lines.join("\n"));
}
