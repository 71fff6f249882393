use serde_json::json;

use super::*;

#[test]
fn a_key_that_is_like_a_known_one_is_reported() {
    let entry = json!({
        "name": "a",
        "sumary": "A.",
        "parameters": {
            "x": {"type": "string", "sumary": "X.", "requird": true, "minLenght": 1},
            "y": {"type": "array", "items": {"type": "object", "properties": {"z": {"typ": "string"}}}},
        },
    });
    let told = |key: &str, place: &str, meant: &str| {
        format!(
            "its description has the key `{key}`{place}, which has no effect; did you mean `{meant}`?"
        )
    };
    assert_eq!(
        mistakes(&entry),
        [
            told("sumary", "", "summary"),
            told("sumary", " in `parameters.x`", "summary"),
            told("requird", " in `parameters.x`", "required"),
            told("minLenght", " in `parameters.x`", "minLength"),
            told("typ", " in `parameters.y.items.properties.z`", "type"),
        ]
    );
}

#[test]
fn a_word_that_others_use_for_a_key_is_reported() {
    let entry = json!({"name": "a", "inputSchema": {"type": "object"}});
    assert_eq!(
        mistakes(&entry),
        [
            "its description has the key `inputSchema`, which has no effect; did you mean `parameters`?"
        ]
    );
    let entry = json!({
        "name": "a",
        "schema": "beside the key itself it means something else",
        "parameters": {"x": {"type": "string", "choices": ["a"], "optional": true}},
    });
    assert_eq!(
        mistakes(&entry),
        [
            "its description has the key `choices` in `parameters.x`, which has no effect; did you mean `enum`?",
            "its description has the key `optional` in `parameters.x`, which has no effect; did you mean `required`?",
        ]
    );
}

#[test]
fn keys_of_others_are_left_alone() {
    let entry = json!({
        "name": "a",
        "summary": "A.",
        "version": "1",
        "icon": "x",
        "parameters": {
            "sumary": {"type": "string", "format": "uri", "pattern": "x", "x-type": 1, "title": "t"},
        },
    });
    assert_eq!(mistakes(&entry), [""; 0]);
}

#[test]
fn a_json_schema_is_distinguished_from_parameters_of_such_names() {
    assert!(is_object_schema(
        &json!({"parameters": {"type": "object", "properties": {}}})
    ));
    assert!(is_object_schema(
        &json!({"parameters": {"properties": {}, "required": []}})
    ));
    assert!(!is_object_schema(
        &json!({"parameters": {"type": {"type": "string"}}})
    ));
    assert!(!is_object_schema(&json!({"name": "a"})));
}
