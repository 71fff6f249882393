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
