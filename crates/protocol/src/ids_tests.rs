//! Which strings are ids, and what is said of those that are not.

use super::*;

fn check(id: &str) -> String {
    match HandleId::new(id) {
        Ok(id) => id.to_string(),
        Err(error) => error.to_string(),
    }
}

fn refused(id: &str) -> String {
    format!("`{id}` cannot be a handle ID; use 1 to 64 of A-Z a-z 0-9 _ . -")
}

#[test]
fn names_that_an_assistant_would_choose_are_handle_ids() {
    let longest = "a".repeat(64);
    for id in [
        "staging",
        "check",
        "build_release",
        "h_1",
        "A-1.x",
        "7",
        ".",
        &longest,
    ] {
        assert_eq!(check(id), id);
    }
}

#[test]
fn other_characters_and_lengths_are_refused() {
    for id in ["", "a b", "a/b", "é", "a\n", "a:b"] {
        assert_eq!(check(id), refused(id));
    }
}

#[test]
fn what_is_too_long_is_reported_shortened() {
    assert_eq!(
        check(&"a".repeat(65)),
        refused(&format!("{}…", "a".repeat(40)))
    );
    assert_eq!(
        check(&"ö".repeat(65)),
        refused(&format!("{}…", "ö".repeat(40)))
    );
}

#[test]
fn a_handle_id_is_checked_when_it_is_read() {
    assert_eq!(
        serde_json::from_str::<HandleId>(r#""check""#)
            .unwrap()
            .as_str(),
        "check"
    );
    assert!(serde_json::from_str::<HandleId>(r#""a b""#).is_err());
    assert!(serde_json::from_str::<HandleId>("1").is_err());
}

#[test]
fn handles_are_found_by_plain_text() {
    let ids = std::collections::HashSet::from([HandleId::new("check").unwrap()]);
    assert!(ids.contains("check"));
    assert!(!ids.contains("test"));
}

#[test]
fn a_prefix_says_what_an_id_names() {
    assert_eq!(PermissionId::new("per01J").unwrap().as_str(), "per01J");
    assert_eq!(SessionId::new("ses01J").unwrap().as_str(), "ses01J");
    assert_eq!(MessageId::new("msg_1").unwrap().as_str(), "msg_1");
    assert_eq!(PartId::new("prt_1").unwrap().as_str(), "prt_1");
    assert_eq!(PermissionId::from_suffix("1").as_str(), "per_1");
    assert_eq!(SessionId::from_suffix("1").to_string(), "ses_1");
}

#[test]
fn another_prefix_is_refused() {
    assert_eq!(
        PermissionId::new("ses01J").unwrap_err().to_string(),
        "`ses01J` is not an ID of this kind; it must begin with `per`"
    );
    assert!(SessionId::new("").is_err());
    assert!(SessionId::new("xses").is_err());
    assert!(serde_json::from_str::<SessionId>(r#""per01J""#).is_err());
    assert!(serde_json::from_str::<PermissionId>(r#""perX""#).is_ok());
    assert!(serde_json::from_str::<MessageId>(r#""message""#).is_err());
    assert!(serde_json::from_str::<PartId>(r#""part""#).is_err());
}
