use super::*;

fn parameters() -> Parameters {
    Parameters::from_object_schema(&json!({
        "properties": {
            "target": {
                "type": "object",
                "properties": {
                    "host": {"type": "string"},
                    "port": {"type": "integer", "description": "theirs"},
                },
                "required": ["host", "port"],
            },
            "tags": {"type": "array", "items": {"type": "string", "description": "theirs"}},
        },
        "required": ["target"],
        "additionalProperties": false,
    }))
}

fn entries(entries: Value) -> IndexMap<String, Parameter> {
    serde_json::from_value(entries).unwrap()
}

#[test]
fn what_is_inside_a_parameter_is_changed_and_not_replaced() {
    let mut parameters = parameters();
    let changes = entries(json!({
        "target": {"properties": {"port": {"summary": "ours", "default": 22}}},
        "tags": {"items": {"enum": ["a", "b"]}, "maxItems": 3},
    }));
    override_parameters(&mut parameters, &changes);
    assert_eq!(
        parameters.to_object_schema(),
        json!({
            "type": "object",
            "properties": {
                "target": {
                    "type": "object",
                    "properties": {
                        "host": {"type": "string"},
                        "port": {"type": "integer", "description": "ours", "default": 22},
                    },
                    "required": ["host"],
                },
                "tags": {
                    "type": "array",
                    "items": {"type": "string", "description": "theirs", "enum": ["a", "b"]},
                    "maxItems": 3,
                },
            },
            "required": ["target"],
            "additionalProperties": false,
        })
    );
}

#[test]
fn entries_that_name_nothing_are_reported_at_any_depth() {
    let changes = entries(json!({
        "target": {"properties": {"prot": {"summary": "x"}, "host": {"summary": "x"}}},
        "tag": {"summary": "x"},
    }));
    assert_eq!(unknown(&parameters(), &changes), ["target.prot", "tag"]);
    let mut kept = parameters();
    override_parameters(&mut kept, &entries(json!({"tag": {"summary": "x"}})));
    assert_eq!(kept, parameters());
}
