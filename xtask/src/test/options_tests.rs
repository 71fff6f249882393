//! Words of the command line, and the tests that they select.

use super::*;

fn read(words: &str) -> anyhow::Result<TestOptions> {
    let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    TestOptions::read(&words)
}

/// The selected ones of three tests.
fn check(words: &str) -> Vec<&'static str> {
    let options = read(words).unwrap();
    let names = [
        "windlass-process it sweep::a",
        "windlass-process lib tests::b",
        "windlass-cli it pool::a",
    ];
    let test = |name: &str| Test {
        name: name.to_owned(),
        path: String::new(),
        binary: 0,
        group: None,
    };
    let mut names = names.to_vec();
    names.retain(|name| options.select(&test(name)));
    names
}

#[test]
fn a_filter_is_a_part_of_the_whole_name() {
    assert_eq!(check("").len(), 3);
    assert_eq!(check("sweep::").len(), 1);
    assert_eq!(check("windlass-cli tests::b").len(), 2);
    assert_eq!(check("::a").len(), 2);
}

#[test]
fn a_target_is_selected_by_its_name() {
    assert_eq!(check("--test it").len(), 2);
    assert_eq!(check("--lib"), ["windlass-process lib tests::b"]);
    assert_eq!(check("--doc").len(), 0);
}

#[test]
fn a_selection_leaves_out_the_packages_for_other_languages() {
    let includes = |words: &str| {
        let options = read(words).unwrap();
        (options.include_doctests(), options.include_packages())
    };
    assert_eq!(includes("--jobs 2 --strict"), (true, true));
    assert_eq!(includes("-p windlass-process"), (true, false));
    assert_eq!(includes("--doc"), (true, false));
    assert_eq!(includes("sweep"), (false, false));
}

#[test]
fn a_wrong_argument_is_refused_with_the_right_ones() {
    for words in ["--jobs", "--jobs 0", "--jobs many", "--no-fail-fast", "-p"] {
        let error = read(words).unwrap_err().to_string();
        assert!(error.contains("--package NAME"), "{error}");
    }
}
