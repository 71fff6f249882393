use super::*;

#[test]
fn an_untyped_value_is_not_taken_for_an_object() {
    let schema = json!({
        "type": "object",
        "properties": { "any": {}, "told": { "description": "Anything" }, "text": { "type": "string" } }
    });
    let kinds = json!(["string", "number", "boolean", "object", "array", "null"]);
    assert_eq!(
        spelled_out(schema),
        json!({
            "type": "object",
            "properties": {
                "any": { "type": kinds },
                "told": { "type": kinds, "description": "Anything" },
                "text": { "type": "string" }
            }
        })
    );
}

#[test]
fn only_anchored_patterns_are_kept() {
    let kept = json!({ "type": "string", "pattern": "^[a-z]+$" });
    assert_eq!(spelled_out(kept.clone()), kept);
    for pattern in ["[a-z]+", "^[a-z]+", "^(?!x)[a-z]+$"] {
        let schema = json!({ "type": "string", "pattern": pattern });
        assert_eq!(spelled_out(schema), json!({ "type": "string" }));
    }
}
