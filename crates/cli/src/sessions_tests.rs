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
fn a_file_is_shown_by_its_path_where_it_has_one() {
    let line = |url: &str| {
        let file = json!({
            "type": "file", "id": "prt_1", "sessionID": "ses_1", "messageID": "msg_1",
            "mime": "image/png", "url": url,
        });
        file_line(&serde_json::from_value(file).unwrap())
    };
    let shown = [
        line("file:///tmp/1.png"),
        line("file:///tmp/a%20b"),
        line("https://x/y"),
    ];
    let places: Vec<&str> = shown
        .iter()
        .map(|line| line.trim_start().strip_prefix("image/png  ").unwrap())
        .collect();
    assert_eq!(places, ["/tmp/1.png", "file:///tmp/a%20b", "https://x/y"]);
}
