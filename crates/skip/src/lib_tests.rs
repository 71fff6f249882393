use super::*;

#[test]
fn a_test_is_named_by_its_thread() {
    let name = test_name("it::vectors::check::here", Some("vectors::a_flood"));
    assert_eq!(name, "vectors::a_flood");
}

#[test]
fn a_test_without_a_thread_of_its_own_is_named_by_what_is_in_it() {
    let named = "it::deaths::none_is_left::here";
    for here in [named, "it::deaths::none_is_left::{{closure}}::here"] {
        for thread in [Some("main"), None] {
            assert_eq!(test_name(here, thread), "deaths::none_is_left");
        }
    }
}

#[test]
fn a_program_that_is_there_is_used() {
    crate::needs!("sh");
    assert!(has_program("here", "sh"));
}

#[test]
#[should_panic(expected = "`no-such-program` is not installed")]
fn a_missing_program_that_nobody_listed_fails_the_test() {
    has_program("here", "no-such-program");
}

/// The log and the stderr of an ignored test of this program.
#[expect(
    clippy::disallowed_methods,
    reason = "the test runs itself with a log of its own"
)]
fn run(test: &str) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let output = std::process::Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env("WINDLASS_SKIP_LOG", &log)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let told = String::from_utf8(output.stderr).unwrap();
    (std::fs::read_to_string(log).unwrap(), told)
}

#[test]
fn a_skip_ends_the_test_and_is_logged_with_its_reason() {
    let (log, told) = run("tests::leaves");
    assert_eq!(log, "tests::leaves: there is no sea\n");
    assert_eq!(told, "skipped: tests::leaves: there is no sea\n");
}

#[ignore = "run by the test above"]
#[test]
fn leaves() {
    let missing = "sea";
    if !missing.is_empty() {
        crate::skip!("there is no {missing}");
    }
    panic!("it goes on");
}

#[test]
fn the_skips_of_another_process_are_logged() {
    let (log, _) = run("tests::relays");
    assert_eq!(log, "it::other: there is no sea\n");
}

#[ignore = "run by the test above"]
#[test]
fn relays() {
    relay("running 1 test\nskipped: it::other: there is no sea\n");
}
