use std::sync::Arc;

use super::*;
use crate::place::SourceText;

fn value(toml: &str) -> Node {
    let text = SourceText {
        name: "test".to_owned(),
        file: None,
        body: toml.to_owned(),
    };
    Node::parse_value(&Arc::new(text), 0).unwrap()
}

#[test]
fn sizes_are_bytes_or_have_a_unit() {
    for (toml, bytes) in [
        ("32768", 32768),
        ("\"32KiB\"", 32 << 10),
        ("\"32 kib\"", 32 << 10),
        ("\"2M\"", 2 << 20),
        ("\"1GiB\"", 1 << 30),
        ("\"10MB\"", 10_000_000),
        ("\"7\"", 7),
        ("\"7B\"", 7),
    ] {
        assert_eq!(size(&value(toml)), Ok(bytes), "{toml}");
    }
    for toml in [
        "0",
        "-1",
        "1.5",
        "\"\"",
        "\"KiB\"",
        "\"1 parsec\"",
        "\"-1KiB\"",
        "\"99999999999GiB\"",
    ] {
        assert!(size(&value(toml)).is_err(), "{toml}");
    }
}

#[test]
fn seconds_may_be_fractions_and_end_at_a_year() {
    assert_eq!(seconds(&value("2")), Ok(Duration::from_secs(2)));
    assert_eq!(seconds(&value("0.25")), Ok(Duration::from_millis(250)));
    assert_eq!(seconds(&value("0")), Ok(Duration::ZERO));
    for toml in ["-1", "nan", "inf", "1e300", "31536001", "\"2\"", "true"] {
        assert!(seconds(&value(toml)).is_err(), "{toml}");
    }
    assert!(some_seconds(&value("0")).is_err());
    assert!(some_seconds(&value("0.0")).is_err());
}

#[test]
fn a_terminal_has_as_many_rows_and_columns_as_a_screen() {
    assert_eq!(rows(&value("1")), Ok(1));
    assert_eq!(rows(&value("512")), Ok(512));
    assert_eq!(columns(&value("1024")), Ok(1024));
    assert!(rows(&value("513")).is_err());
    assert!(columns(&value("1")).is_err());
    for toml in ["0", "1025", "-80", "80.0", "70000"] {
        assert!(rows(&value(toml)).is_err(), "{toml}");
        assert!(columns(&value(toml)).is_err(), "{toml}");
    }
}

#[test]
fn a_heartbeat_is_neither_frantic_nor_rare() {
    assert_eq!(heartbeat(&value("0.5")), Ok(Duration::from_millis(500)));
    assert_eq!(heartbeat(&value("3600")), Ok(Duration::from_hours(1)));
    for toml in ["0", "0.01", "3601", "\"15\""] {
        assert_eq!(
            heartbeat(&value(toml)),
            Err(ExpectedValue::Heartbeat),
            "{toml}"
        );
    }
}

#[test]
fn no_lease_is_longer_than_a_day() {
    assert_eq!(lease(&value("0")), Ok(Duration::ZERO));
    assert_eq!(lease(&value("86400")), Ok(Duration::from_hours(24)));
    for toml in ["86401", "-1", "\"1h\""] {
        assert_eq!(lease(&value(toml)), Err(ExpectedValue::Lease), "{toml}");
    }
}
