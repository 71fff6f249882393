use std::time::Duration;

use super::*;

#[test]
fn what_is_used_up_comes_back_with_time() {
    let rate = Rate::per_second(2.0);
    let now = Instant::now();
    let taken = (0..10).filter(|_| rate.take_at(now)).count();
    assert_eq!(taken, 4);
    let later = now + Duration::from_millis(600);
    assert!(rate.take_at(later));
    assert!(!rate.take_at(later));
    let much_later = now + Duration::from_hours(1);
    let taken = (0..10).filter(|_| rate.take_at(much_later)).count();
    assert_eq!(taken, 4);
}
