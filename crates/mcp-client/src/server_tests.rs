use super::*;

#[test]
fn pauses_double_up_to_a_limit() {
    let seconds = |failures| pause(failures).as_secs_f64();
    assert_eq!([1, 2, 3].map(seconds), [0.25, 0.5, 1.0]);
    assert_eq!([8, 100, u32::MAX].map(seconds), [30.0, 30.0, 30.0]);
}
