use super::*;

#[test]
fn what_a_narrow_dialect_cannot_say_is_free() {
    for schema in [
        json!({}),
        json!(true),
        json!({ "description": "Anything" }),
        json!({ "type": "object" }),
        json!({ "type": "object", "properties": {}, "additionalProperties": { "type": "string" } }),
        json!({ "type": "array" }),
        json!({ "type": "array", "items": [{ "type": "string" }] }),
        json!({ "allOf": [{ "type": "string" }, { "minLength": 1 }] }),
        json!({ "enum": [{ "a": 1 }] }),
    ] {
        assert_eq!(form(&schema), SchemaForm::Free, "{schema}");
    }
}

#[test]
fn a_type_is_found_in_the_values() {
    assert_eq!(kinds(&json!({ "const": 1 })), ["integer"]);
    assert_eq!(
        kinds(&json!({ "enum": ["a", null, "b"] })),
        ["null", "string"]
    );
    assert_eq!(kinds(&json!({ "properties": {} })), ["object"]);
    assert_eq!(kinds(&json!({ "items": {} })), ["array"]);
}

#[test]
fn several_types_are_alternatives_unless_all_are_scalars() {
    assert_eq!(
        form(&json!({ "type": ["string", "null"] })),
        SchemaForm::Scalar
    );
    let list =
        json!({ "type": ["array", "null"], "items": { "type": "string" }, "description": "Some" });
    let SchemaForm::AnyOf(alternatives) = form(&list) else {
        panic!("{:?}", form(&list));
    };
    assert_eq!(
        alternatives,
        [
            json!({ "type": "array", "items": { "type": "string" } }),
            json!({ "type": "null", "items": { "type": "string" } })
        ]
    );
}

#[test]
fn conditions_on_a_typed_object_do_not_make_it_several() {
    let schema = json!({
        "type": "object",
        "properties": { "a": {}, "b": {} },
        "anyOf": [{ "required": ["a"] }, { "required": ["b"] }]
    });
    assert_eq!(form(&schema), SchemaForm::Object);
    let rewritten = rewrite_untyped(schema.clone(), |_| json!({ "type": "string" }));
    assert_eq!(rewritten["anyOf"], schema["anyOf"]);
    assert_eq!(rewritten["properties"]["a"], json!({ "type": "string" }));
}

#[test]
fn null_is_found_wherever_it_is_admitted() {
    for schema in [
        json!({}),
        json!({ "type": "null" }),
        json!({ "type": ["string", "null"] }),
        json!({ "enum": ["a", null] }),
        json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] }),
    ] {
        assert!(admits_null(&schema), "{schema}");
    }
    for schema in [
        json!({ "type": "string" }),
        json!({ "enum": ["a"] }),
        json!({ "type": ["string", "null"], "enum": ["a"] }),
        json!({ "anyOf": [{ "type": "string" }] }),
    ] {
        assert!(!admits_null(&schema), "{schema}");
    }
}
