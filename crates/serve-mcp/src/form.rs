//! Questions and permissions as forms that a client shows its user.

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::{Map, Value, json};
use windlass_protocol::{
    AnswerType, Ask, PermissionAnswer, PermissionReply, PermissionRequest, RequestRendering,
};
use windlass_runtime::Answered;

/// A question of a tool, as a form with one field.
pub(crate) fn of_question(ask: &Ask) -> ElicitRequestParams {
    let question = &ask.question;
    let mut field = match &question.answer_type {
        AnswerType::Boolean => json!({"type": "boolean"}),
        AnswerType::Text => json!({"type": "string"}),
        AnswerType::Select { options } => json!({"type": "string", "enum": options}),
    };
    if let Some(default) = &question.default {
        field["default"] = default.clone();
    }
    form(
        &RequestRendering::of_question(ask).to_text(),
        json!({"type": "object", "properties": {"answer": field}, "required": ["answer"]}),
    )
}

/// A request for permission, as a form.
pub(crate) fn of_permission(request: &PermissionRequest) -> ElicitRequestParams {
    let rendering = RequestRendering::of_permission(request);
    let mut properties = Map::new();
    properties.insert(
        "decision".to_owned(),
        json!({
            "type": "string",
            "enum": ["once", "always", "reject"],
            "description": format!("always also covers: {}", rendering.always.join(", ")),
        }),
    );
    properties.insert(
        "message".to_owned(),
        json!({"type": "string", "description": "A word to the assistant, should you reject it"}),
    );
    let arguments = request.metadata.get("arguments");
    if request.metadata.get("edit") == Some(&Value::Bool(true)) {
        properties.insert(
            "arguments".to_owned(),
            json!({
                "type": "string",
                "description": "Run it with these instead, as JSON",
                "default": arguments.map(Value::to_string),
            }),
        );
    }
    form(
        &rendering.to_text(),
        json!({"type": "object", "properties": properties, "required": ["decision"]}),
    )
}

fn form(message: &str, schema: Value) -> ElicitRequestParams {
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message.to_owned(),
        requested_schema: serde_json::from_value(schema)
            .expect("these are properties of the kinds that forms have"),
    }
}

/// What came of a question's form.
pub(crate) fn answered(ask: &Ask, result: &ElicitResult) -> Answered {
    let text = &ask.question.text;
    match result.action {
        ElicitationAction::Accept => {
            answer(result).map_or(Answered::Nobody, |answer| Answered::With(answer.clone()))
        }
        ElicitationAction::Decline => {
            Answered::Declined(format!("the user declined to answer \"{text}\""))
        }
        ElicitationAction::Cancel => {
            Answered::Declined(format!("the user dismissed the question \"{text}\""))
        }
        // A word that this version of the protocol does not have.
        _ => Answered::Nobody,
    }
}

/// What came of a permission's form. Whatever is no clear yes is a no.
pub(crate) fn decided(result: &ElicitResult) -> PermissionAnswer {
    let decision = match result.action {
        ElicitationAction::Accept => field(result, "decision").and_then(Value::as_str),
        _ => None,
    };
    let reply = match decision {
        Some("once") => PermissionReply::Once,
        Some("always") => PermissionReply::Always,
        _ => PermissionReply::Reject,
    };
    let message = field(result, "message").and_then(Value::as_str);
    let arguments = field(result, "arguments").and_then(Value::as_str);
    PermissionAnswer {
        reply,
        message: message.filter(|text| !text.is_empty()).map(str::to_owned),
        arguments: arguments.and_then(|text| serde_json::from_str(text).ok()),
    }
}

/// The answer; a client that names its only field otherwise is understood.
fn answer(result: &ElicitResult) -> Option<&Value> {
    let only = || match result.content.as_ref()?.as_object()? {
        fields if fields.len() == 1 => fields.values().next().filter(|value| !value.is_null()),
        _ => None,
    };
    field(result, "answer").or_else(only)
}

/// A field of the form that was filled in; some clients send `null` for the
/// others.
fn field<'a>(result: &'a ElicitResult, name: &str) -> Option<&'a Value> {
    let value = result.content.as_ref()?.get(name);
    value.filter(|value| !value.is_null())
}

#[cfg(test)]
#[path = "form_tests.rs"]
mod tests;
