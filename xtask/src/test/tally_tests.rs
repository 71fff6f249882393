//! Counts lines of `cargo test`.

use super::*;

fn check(output: &str) -> String {
    let mut tally = Tally::default();
    output.lines().for_each(|line| tally.read(line));
    tally.to_string()
}

#[test]
fn results_are_summed_over_all_binaries() {
    assert_eq!(
        check(
            "running 3 tests\n\
             test a ... ok\n\
             test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
             \n\
             running 42 tests\n\
             test result: FAILED. 40 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.21s\n\
             running 1 test\n\
             test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.40s\n\
             running 0 tests\n\
             test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
        ),
        "43 passed, 2 failed, 4 skipped"
    );
}

#[test]
fn a_binary_that_a_failed_test_ran_does_not_count() {
    assert_eq!(
        check(
            "running 5 tests\n\
             test outer ... FAILED\n\
             \n\
             failures:\n\
             \n\
             ---- outer stdout ----\n\
             \n\
             running 1 test\n\
             test inner ... FAILED\n\
             \n\
             failures:\n\
             \n\
             failures:\n\
             \x20   inner\n\
             \n\
             test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 52 filtered out; finished in 23.48s\n\
             \n\
             failures:\n\
             \x20   outer\n\
             \n\
             test result: FAILED. 4 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 25.02s\n\
             running 2 tests\n\
             test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
        ),
        "6 passed, 1 failed, 0 skipped"
    );
}

#[test]
fn a_binary_that_died_does_not_hide_the_next() {
    assert_eq!(
        check(
            "running 5 tests\n\
             test a ... ok\n\
             running 2 tests\n\
             test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
        ),
        "2 passed, 0 failed, 0 skipped"
    );
}

#[test]
fn what_merely_looks_like_a_result_counts_for_nothing() {
    assert_eq!(
        check(
            "test result: ok. 9 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n\
             running 9 tests\n\
             a test result: ok. 9 passed; 0 failed;\n\
             test result: \n\
             9 passed, 9 failed, 9 skipped"
        ),
        "0 passed, 0 failed, 0 skipped"
    );
}

#[test]
fn a_test_that_says_so_is_counted_as_skipped_and_not_as_passed() {
    let mut tally = Tally::default();
    tally.read("running 5 tests");
    tally.read("test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
    tally.skip_one();
    assert_eq!(tally.to_string(), "4 passed, 0 failed, 1 skipped");
}

#[test]
fn nothing_ran_until_something_did() {
    let mut tally = Tally::default();
    tally.read("running 3 tests");
    tally.read("test result: ok. 0 passed; 0 failed; 3 ignored; 0 measured; 0 filtered out");
    assert!(!tally.ran());
    tally.read("running 1 test");
    tally.read("test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out");
    assert!(tally.ran());
}
