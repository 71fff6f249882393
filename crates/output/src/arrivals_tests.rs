use std::time::{Duration, Instant};

use super::{Arrivals, MOST};

#[test]
fn a_byte_arrived_when_the_output_first_reached_beyond_it() {
    let start = Instant::now();
    let mut arrivals = Arrivals::default();
    arrivals.note(10, start);
    arrivals.note(20, start + Duration::from_millis(5));
    arrivals.note(30, start + Duration::from_millis(100));
    assert_eq!(arrivals.at(1), Duration::ZERO);
    assert_eq!(arrivals.at(20), Duration::ZERO);
    assert_eq!(arrivals.at(21), Duration::from_millis(100));
    assert_eq!(arrivals.at(99), Duration::from_millis(100));
    assert_eq!(arrivals.since(25).at(30), Duration::from_millis(100));
}

#[test]
fn marks_are_bounded_and_stay_in_order() {
    let start = Instant::now();
    let mut arrivals = Arrivals::default();
    for step in 1..=20_000_u32 {
        arrivals.note(u64::from(step), start + Duration::from_millis(30) * step);
    }
    assert!(arrivals.marks.len() <= MOST);
    assert!(arrivals.marks.is_sorted());
    assert!(arrivals.at(10_000) >= Duration::from_millis(30) * 9_999);
}
