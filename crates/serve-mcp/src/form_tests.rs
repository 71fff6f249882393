use super::*;

fn accepted(content: &Value) -> ElicitResult {
    let result = json!({"action": "accept", "content": content});
    serde_json::from_value(result).unwrap()
}

#[test]
fn a_null_field_was_not_filled_in() {
    for content in [json!({"answer": null}), json!({"other": null})] {
        assert_eq!(answer(&accepted(&content)), None);
    }
    let result = accepted(&json!({"answer": false}));
    assert_eq!(answer(&result), Some(&json!(false)));
    let result = accepted(&json!({"decision": "once", "message": null, "arguments": null}));
    let decision = decided(&result);
    assert_eq!((decision.message, decision.arguments), (None, None));
}
