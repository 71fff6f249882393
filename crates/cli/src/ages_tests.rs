use super::*;

#[test]
fn a_time_is_a_number_and_a_unit() {
    assert_eq!(read_age("30d").unwrap(), Duration::from_hours(720));
    assert_eq!(read_age("90s").unwrap(), Duration::from_secs(90));
    for wrong in [
        "",
        "d",
        "30",
        "-1d",
        "1.5h",
        "30 d",
        "99999999999999999999d",
    ] {
        assert!(read_age(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_length_is_short_to_read() {
    let length = |millis| length(Duration::from_millis(millis));
    let shown = [0, 3, 999, 1500, 59_900, 61_000, 7_260_000].map(length);
    assert_eq!(
        shown,
        ["0s", "3ms", "999ms", "1.5s", "59s", "1m01s", "2h01m"]
    );
}
