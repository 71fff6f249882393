use super::*;

#[test]
fn a_script_is_read_from_json() {
    let script = Script::read(
        r#"{"turns": [
            {"say": [{"text": "a"}, {"call": {"tool": "t", "arguments": {"x": 1}}}, {"hold": "h"}]},
            {"fault": {"status": 429, "retry_after": 2}},
            {"fault": {"cut": 7}, "say": [{"reasoning": "r"}]},
            {"fault": "duplicate", "when": "w", "repeat": true, "structured": true}
        ], "chunk": 7}"#,
    )
    .unwrap();
    let expected = Script::new([
        Turn::new([
            Say::Text("a".into()),
            Say::call("t", json!({"x": 1})),
            Say::Hold("h".into()),
        ]),
        Turn::fault(Fault::rate_limit(2)),
        Turn::new([Say::Reasoning("r".into())]).with(Fault::Cut(7)),
        Turn::fault(Fault::Duplicate)
            .when("w")
            .repeated()
            .structured(),
    ])
    .in_chunks(7);
    assert_eq!(script, expected);
}

#[test]
fn an_unknown_key_is_named() {
    let error = Script::read(r#"{"turns": [{"sya": []}]}"#).unwrap_err();
    assert!(error.to_string().contains("`sya`"), "{error}");
}
