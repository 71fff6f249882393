//! Example test directories.

/// Writes the files below `tests/it` and returns the faults, with paths
/// relative to it.
fn check(files: &[(&str, &str)]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let tests = folder.path().join("tests/it");
    for (name, text) in files {
        let path = tests.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let prefix = format!("{}/", tests.display());
    super::check(folder.path())
        .unwrap()
        .into_iter()
        .map(|fault| fault.replace(&prefix, ""))
        .collect()
}

#[test]
fn a_crate_without_integration_tests_has_none_to_forget() {
    assert_eq!(check(&[]), [""; 0]);
}

#[test]
fn named_files_are_not_forgotten() {
    assert_eq!(
        check(&[
            ("main.rs", "mod spawn;\nmod wait;"),
            ("spawn.rs", ""),
            ("wait.rs", "mod any;"),
            ("wait/any.rs", ""),
            ("recordings/vim.txt", ""),
        ]),
        [""; 0]
    );
}

#[test]
fn a_file_that_nobody_names_is_forgotten() {
    assert_eq!(
        check(&[("main.rs", "mod spawn;"), ("spawn.rs", ""), ("wait.rs", "")]),
        ["`wait.rs` is forgotten; add `mod wait;` to `main.rs`"]
    );
}

#[test]
fn a_name_in_a_comment_is_not_a_mention() {
    assert_eq!(
        check(&[("main.rs", "// mod wait;"), ("wait.rs", "")]),
        ["`wait.rs` is forgotten; add `mod wait;` to `main.rs`"]
    );
}

#[test]
fn folders_are_looked_into() {
    assert_eq!(
        check(&[
            ("main.rs", "mod wait;"),
            ("wait/mod.rs", ""),
            ("wait/all.rs", ""),
            ("turn/mod.rs", ""),
        ]),
        [
            "`turn/mod.rs` is forgotten; add `mod turn;` to `main.rs`",
            "`wait/all.rs` is forgotten; add `mod all;` to `wait/mod.rs`",
        ]
    );
}
