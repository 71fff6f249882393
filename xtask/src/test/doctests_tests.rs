//! Counts lines of `cargo test --doc`.

use super::*;

fn check(output: &str) -> String {
    let mut counts = DoctestCounts::default();
    output.lines().for_each(|line| counts.read(line));
    format!("{} passed, {} failed", counts.passed, counts.failed)
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
        "43 passed, 2 failed"
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
        "6 passed, 1 failed"
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
        "2 passed, 0 failed"
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
             9 passed, 9 failed"
        ),
        "0 passed, 0 failed"
    );
}
