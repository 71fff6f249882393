use super::*;

#[test]
fn pauses_double_up_to_a_limit() {
    let millis = |failures| pause(failures).as_millis();
    assert_eq!([1, 2, 3].map(millis), [250, 500, 1000]);
    assert_eq!([8, 100, u32::MAX].map(millis), [30_000; 3]);
}
