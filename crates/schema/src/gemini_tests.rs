use super::*;

#[test]
fn modern_lists_a_constant() {
    assert_eq!(
        modern(&json!({ "const": "a", "description": "It" })),
        json!({ "type": "string", "enum": ["a"], "description": "It" })
    );
    let nested = json!({ "type": "object", "properties": { "const": { "const": 1 } } });
    assert_eq!(
        modern(&nested),
        json!({
            "type": "object",
            "properties": { "const": { "type": "integer", "enum": [1] } }
        })
    );
}

#[test]
fn modern_keeps_free_objects_and_tells_the_untyped_as_text() {
    let free = json!({ "type": "object", "additionalProperties": true });
    assert_eq!(modern(&free), free);
    assert_eq!(
        modern(&json!({ "type": "array", "items": {} })),
        json!({
            "type": "array",
            "items": { "type": "string", "description": "As JSON text." }
        })
    );
}

#[test]
fn legacy_has_one_type_and_says_nullable() {
    assert_eq!(
        legacy(&json!({ "type": ["string", "null"], "enum": ["a", null] })),
        json!({ "type": "string", "nullable": true, "enum": ["a"] })
    );
    assert_eq!(
        legacy(&json!({
            "anyOf": [{ "type": "integer" }, { "type": "null" }],
            "description": "Lines"
        })),
        json!({ "type": "integer", "description": "Lines", "nullable": true })
    );
    assert_eq!(
        legacy(&json!({ "type": ["string", "integer"], "description": "Port" })),
        json!({ "anyOf": [{ "type": "string", "description": "Port" }, { "type": "integer" }] })
    );
}

#[test]
fn legacy_lists_only_strings() {
    assert_eq!(
        legacy(&json!({ "enum": ["a", "b"] })),
        json!({ "type": "string", "enum": ["a", "b"] })
    );
    assert_eq!(
        legacy(&json!({ "type": "integer", "enum": [1, 2], "description": "Level" })),
        json!({ "type": "integer", "description": "Level. One of 1, 2." })
    );
    assert_eq!(
        legacy(&json!({ "enum": ["", "b"] })),
        json!({ "type": "string", "description": "One of \"\", \"b\"." })
    );
}

#[test]
fn legacy_drops_what_it_does_not_know() {
    let schema = json!({
        "type": "object",
        "title": "Options",
        "properties": {
            "when": { "type": "string", "format": "date-time", "default": "now" },
            "where": { "type": "string", "format": "uri" }
        },
        "required": ["when", "nowhere"],
        "additionalProperties": false
    });
    assert_eq!(
        legacy(&schema),
        json!({
            "type": "object",
            "properties": {
                "when": { "type": "string", "format": "date-time" },
                "where": { "type": "string" }
            },
            "required": ["when"]
        })
    );
}
