use serde_json::json;

use super::*;

#[test]
fn what_ollama_drops_is_left_out_and_names_are_kept() {
    let schema = json!({
        "type": "object",
        "properties": {
            "default": { "type": "string", "default": "x" },
            "const": { "const": "y" }
        },
        "additionalProperties": false
    });
    assert_eq!(
        plain(schema),
        json!({
            "type": "object",
            "properties": { "default": { "type": "string" }, "const": { "enum": ["y"] } }
        })
    );
}
