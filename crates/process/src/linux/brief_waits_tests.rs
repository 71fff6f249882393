use std::time::Duration;

use super::*;

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A look after so many milliseconds: the run count of the only thread, and the limit of its wait.
type Look = (u64, u8, u64);

fn check(looks: &[Look], expected: &[bool]) {
    let begun = Instant::now();
    let mut waits = BriefWaits::default();
    let look = |&(at, runs, limit): &Look| {
        let wait = BriefWait {
            thread: 1,
            runs: vec![runs],
            limit: millis(limit),
        };
        waits.come_again(None, &[wait], begun + millis(at))
    };
    assert_eq!(looks.iter().map(look).collect::<Vec<_>>(), expected);
}

#[test]
fn a_wait_that_returns_is_a_turn() {
    check(
        &[(0, 1, 50), (10, 1, 50), (60, 2, 50)],
        &[false, false, true],
    );
}

#[test]
fn two_waits_are_a_moment_however_long_the_machine_takes() {
    check(
        &[(0, 1, 20), (3000, 2, 80), (3010, 2, 80)],
        &[false, false, false],
    );
}

#[test]
fn a_chain_of_waits_is_a_turn_after_half_a_second() {
    check(
        &[(0, 1, 100), (100, 2, 110), (210, 3, 120), (510, 4, 130)],
        &[false, false, false, true],
    );
}
