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

#[test]
fn a_field_of_a_form_is_shown_as_the_whole_form() {
    let schema = json!({
        "type": "object",
        "properties": {"age": {"type": "integer", "default": 3}, "name": {"type": "string"}},
        "required": ["name"],
    });
    let mut ask = Ask {
        ask: "q_1".to_owned(),
        call: None,
        handle: None,
        tool: "fill".to_owned(),
        question: windlass_testing::text_question("age", "Who? (age)"),
        content: None,
        form: None,
        rendering: None,
    };
    ask.form = Some(Box::new(windlass_protocol::QuestionForm {
        message: "Who?".to_owned(),
        schema: schema.clone(),
    }));
    let shown = serde_json::to_value(of_question(&ask)).unwrap();
    assert_eq!(shown["message"], "fill asks: Who?");
    for key in ["properties", "required"] {
        assert_eq!(shown["requestedSchema"][key], schema[key]);
    }
    let all = json!({"age": 4, "name": "Ann"});
    assert_eq!(answered(&ask, &accepted(&all)), Answered::With(all));
}
