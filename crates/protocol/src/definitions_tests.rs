//! References that lead out of a parameter, and where they lead afterwards.

use super::*;

fn check(root: &Value, parameter: &str, expected: &Value) {
    let part = own_document(root, &root["properties"][parameter]);
    assert_eq!(part, *expected);
}

#[test]
fn a_parameter_gets_the_definitions_it_uses_and_no_others() {
    check(
        &json!({
            "properties": {"to": {"$ref": "#/$defs/Person", "description": "Whom."}},
            "$defs": {
                "Person": {"type": "object", "properties": {"home": {"$ref": "#/$defs/Place"}}},
                "Place": {"type": "string"},
                "Unused": {"type": "null"},
            },
        }),
        "to",
        &json!({
            "$ref": "#/$defs/Person",
            "description": "Whom.",
            "$defs": {
                "Person": {"type": "object", "properties": {"home": {"$ref": "#/$defs/Place"}}},
                "Place": {"type": "string"},
            },
        }),
    );
}

#[test]
fn a_definition_may_contain_itself() {
    let node = json!({"type": "object", "properties": {"next": {"$ref": "#/definitions/Node"}}});
    check(
        &json!({
            "properties": {"list": {"$ref": "#/definitions/Node"}},
            "definitions": {"Node": node},
        }),
        "list",
        &json!({"$ref": "#/definitions/Node", "definitions": {"Node": node}}),
    );
}

#[test]
fn a_reference_to_another_parameter_is_followed() {
    check(
        &json!({"properties": {
            "from": {"type": "object", "properties": {"zip": {"type": "string"}}},
            "to": {"$ref": "#/properties/from"},
        }}),
        "to",
        &json!({
            "$ref": "#/$defs/properties.from",
            "$defs": {"properties.from": {"type": "object", "properties": {"zip": {"type": "string"}}}},
        }),
    );
}

#[test]
fn what_leads_nowhere_stays_unchanged() {
    for reference in ["#/$defs/Gone", "https://example.org/schema", "other.json"] {
        let part = json!({"$ref": reference});
        check(&json!({"properties": {"p": part}}), "p", &part);
    }
}

#[test]
fn a_parameter_without_references_is_left_alone() {
    let part = json!({"type": "array", "items": {"type": "string"}});
    check(
        &json!({"properties": {"p": part}, "$defs": {"X": {}}}),
        "p",
        &part,
    );
}
