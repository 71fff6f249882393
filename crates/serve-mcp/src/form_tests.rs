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
    assert_eq!(decided(&result), Some(PermissionReply::Once.into()));
}

#[test]
fn a_form_without_a_decision_decides_nothing() {
    for content in [
        json!({}),
        json!({"decision": "perhaps"}),
        json!({"decision": null}),
    ] {
        assert_eq!(decided(&accepted(&content)), None);
    }
    let cancelled = serde_json::from_value(json!({"action": "cancel"})).unwrap();
    assert_eq!(decided(&cancelled), None);
}

#[test]
fn other_arguments_are_a_decision() {
    let result = accepted(&json!({"decision": "{\"command\": \"ls\"}"}));
    let decision = decided(&result).unwrap();
    assert_eq!(decision.reply, PermissionReply::Once);
    assert_eq!(json!(decision.arguments), json!({"command": "ls"}));
}
