use super::*;

#[test]
fn scalars_keep_what_strict_mode_knows() {
    let schema = json!({
        "type": "string",
        "description": "A name",
        "default": "x",
        "minLength": 1,
        "format": "email",
        "pattern": "^a"
    });
    assert_eq!(
        strict(&schema),
        json!({ "type": "string", "description": "A name", "format": "email", "pattern": "^a" })
    );
    let refused = json!({ "type": "string", "format": "uri", "pattern": "^(?!a)" });
    assert_eq!(strict(&refused), json!({ "type": "string" }));
}

#[test]
fn nested_objects_are_closed_and_their_optional_properties_nullable() {
    let schema = json!({
        "type": "object",
        "properties": {
            "depth": { "type": "integer" },
            "kind": { "enum": ["a", "b"] },
            "tags": { "type": "array", "items": { "type": "string" }, "description": "Some" }
        },
        "required": ["depth"]
    });
    assert_eq!(
        strict(&schema),
        json!({
            "type": "object",
            "properties": {
                "depth": { "type": "integer" },
                "kind": { "type": ["string", "null"], "enum": ["a", "b", null] },
                "tags": {
                    "anyOf": [
                        { "type": "array", "items": { "type": "string" } },
                        { "type": "null" }
                    ],
                    "description": "Some"
                }
            },
            "required": ["depth", "kind", "tags"],
            "additionalProperties": false
        })
    );
}

#[test]
fn alternatives_become_any_of() {
    let schema = json!({ "oneOf": [{ "const": 1 }, { "type": "boolean" }], "description": "Both" });
    let any = strict(&schema);
    assert_eq!(
        any,
        json!({
            "anyOf": [{ "type": "integer", "enum": [1] }, { "type": "boolean" }],
            "description": "Both"
        })
    );
    let twice = nullable(nullable(any));
    assert_eq!(twice["anyOf"].as_array().unwrap().len(), 3);
}

#[test]
fn what_has_no_type_travels_as_text() {
    let text = |description: &str| json!({ "type": "string", "description": description });
    assert_eq!(strict(&json!({})), text("As JSON text."));
    assert_eq!(
        strict(&json!({ "type": "object", "description": "Variables" })),
        text("Variables. As JSON text.")
    );
}
