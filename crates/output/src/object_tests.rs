use super::*;

/// Whether it is still held, and the object if it is one.
fn held(text: &str) -> (bool, Option<String>) {
    let mut whole = HeldObject::default();
    let mut bytewise = HeldObject::default();
    let is_held = whole.push(text.as_bytes());
    let bytes_held = text.bytes().all(|byte| bytewise.push(&[byte]));
    assert_eq!(is_held, bytes_held);
    assert_eq!(
        whole.object().is_some() && is_held,
        bytewise.object().is_some() && is_held
    );
    (is_held, whole.object().map(str::to_owned))
}

#[test]
fn an_object_is_known_by_its_braces() {
    for text in [
        "{}",
        " \n{\"a\": 1}\n",
        "{\"a\":{\"b\":[{},[]]}}",
        "{\"a\":\"}\"}",
        "{\"a\":\"\\\"}\"}",
        "{\"a\":\"\\\\\"}",
    ] {
        assert_eq!(held(text), (true, Some(text.to_owned())), "{text}");
    }
}

#[test]
fn an_unfinished_object_is_held() {
    for text in ["", " ", "{", "{\"a", "{\"a\":\"}", "{\"a\":\"\\", "{[}"] {
        assert_eq!(held(text), (true, None), "{text}");
    }
}

#[test]
fn anything_else_is_not_held() {
    for text in ["x", " x", "[", "\"{}\"", "{} x", "{}{}", "{}\n{}"] {
        assert!(!held(text).0, "{text}");
    }
}

#[test]
fn more_than_the_limit_is_not_held() {
    let mut object = HeldObject::default();
    assert!(object.push(b"{\""));
    assert!(object.push(&vec![b'x'; OBJECT_LIMIT - 2]));
    assert!(!object.push(b"x"));
    assert_eq!(object.into_bytes().len(), OBJECT_LIMIT);
}

#[test]
fn invalid_text_is_no_object() {
    let mut object = HeldObject::default();
    assert!(object.push(b"{\"\xff\":1}"));
    assert_eq!(object.object(), None);
}
