use super::*;

#[test]
fn a_reference_is_replaced_and_refined_by_what_is_beside_it() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "array",
        "items": { "$ref": "#/$defs/Point", "description": "A corner" },
        "$defs": {
            "Point": {
                "type": "object",
                "description": "A point",
                "properties": { "x": { "$ref": "#/$defs/Number" } }
            },
            "Number": { "type": "number" }
        }
    });
    assert_eq!(
        inline(&schema),
        json!({
            "type": "array",
            "items": {
                "type": "object",
                "description": "A corner",
                "properties": { "x": { "type": "number" } }
            }
        })
    );
}

#[test]
fn a_schema_that_contains_itself_admits_anything_at_the_second_turn() {
    let schema = json!({
        "$ref": "#/$defs/Tree",
        "$defs": {
            "Tree": { "type": "object", "properties": { "left": { "$ref": "#/$defs/Tree" } } }
        }
    });
    assert_eq!(
        inline(&schema),
        json!({ "type": "object", "properties": { "left": {} } })
    );
    let root = json!({ "type": "object", "properties": { "next": { "$ref": "#" } } });
    let twice = &inline(&root)["properties"]["next"]["properties"]["next"];
    assert_eq!(twice, &json!({}));
}

#[test]
fn definitions_that_double_at_every_step_stay_bounded() {
    let mut definitions = Map::new();
    for step in 0..40 {
        let next = json!({ "$ref": format!("#/$defs/d{}", step + 1) });
        let pair = json!({ "type": "object", "properties": { "a": next, "b": next } });
        definitions.insert(format!("d{step}"), pair);
    }
    definitions.insert("d40".into(), json!({ "type": "string" }));
    let schema = json!({ "$ref": "#/$defs/d0", "$defs": definitions });
    assert!(inline(&schema).to_string().len() < 100_000);
}

#[test]
fn a_single_all_of_is_what_it_holds() {
    let schema = json!({
        "allOf": [{ "$ref": "#/definitions/Level", "description": "Any level" }],
        "description": "How loud",
        "definitions": { "Level": { "type": "integer" } }
    });
    assert_eq!(
        inline(&schema),
        json!({ "type": "integer", "description": "How loud" })
    );
    let clash = json!({ "type": "string", "minLength": 1, "allOf": [{ "minLength": 2 }] });
    assert_eq!(inline(&clash), clash);
}

#[test]
fn a_property_called_like_a_keyword_stays() {
    let schema = json!({
        "type": "object",
        "properties": { "$ref": { "type": "string" }, "id": { "type": "string" } }
    });
    assert_eq!(inline(&schema), schema);
}

#[test]
fn only_a_schema_inside_the_document_is_found() {
    let root = json!({ "$defs": { "a": {}, "b/c": true, "d": 1 } });
    assert!(resolve(&root, "#/$defs/a").is_some());
    assert!(resolve(&root, "#/$defs/b~1c").is_some());
    assert!(resolve(&root, "#").is_some());
    assert!(resolve(&root, "#/$defs/d").is_none());
    assert!(resolve(&root, "#/$defs/x").is_none());
    assert!(resolve(&root, "https://example.com/schema").is_none());
}
