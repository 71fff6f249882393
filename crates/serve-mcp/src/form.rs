//! Questions and permissions as elicitation forms.

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::{Value, json};
use windlass_protocol::{
    AnswerType, Ask, PermissionAnswer, PermissionReply, PermissionRequest, RequestRendering,
};
use windlass_runtime::Answered;

/// The form for a tool's question: one field, or the whole form that the
/// question is part of.
pub(crate) fn of_question(ask: &Ask) -> ElicitRequestParams {
    if let Some(form) = whole(ask) {
        return form;
    }
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

/// The whole form that the question is part of, as its server wrote it.
fn whole(ask: &Ask) -> Option<ElicitRequestParams> {
    let form = ask.form.as_ref()?;
    let mut shown = ask.clone();
    shown.question.text.clone_from(&form.message);
    shown.question.default = None;
    Some(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: RequestRendering::of_question(&shown).to_text(),
        requested_schema: serde_json::from_value(form.schema.clone()).ok()?,
    })
}

/// The form for a permission request. It has a single field, because some
/// clients support no more. If the arguments may be edited, the field accepts
/// them too.
pub(crate) fn of_permission(request: &PermissionRequest) -> ElicitRequestParams {
    let rendering = RequestRendering::of_permission(request);
    let covers = format!("always also covers: {}", rendering.always.join(", "));
    let decision = if is_editable(request) {
        let arguments = request.metadata.get("arguments");
        let arguments = arguments.map(Value::to_string).unwrap_or_default();
        let description = format!(
            "once, always, reject, or other arguments to run it with, as JSON: {arguments}; {covers}"
        );
        json!({"type": "string", "description": description})
    } else {
        json!({"type": "string", "enum": ["once", "always", "reject"], "description": covers})
    };
    form(
        &rendering.to_text(),
        json!({"type": "object", "properties": {"decision": decision}, "required": ["decision"]}),
    )
}

fn is_editable(request: &PermissionRequest) -> bool {
    request.metadata.get("edit") == Some(&Value::Bool(true))
}

fn form(message: &str, schema: Value) -> ElicitRequestParams {
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message.to_owned(),
        requested_schema: serde_json::from_value(schema)
            .expect("these are properties of the kinds that forms have"),
    }
}

/// The outcome of a question's form.
pub(crate) fn answered(ask: &Ask, result: &ElicitResult) -> Answered {
    match result.action {
        ElicitationAction::Accept if ask.form.is_some() => match &result.content {
            Some(content) if content.is_object() => Answered::With(content.clone()),
            _ => Answered::Nobody,
        },
        ElicitationAction::Accept => {
            // A client that fills in more than was asked for may go by the id.
            let named = || field(result, &ask.question.id);
            let answer = answer(result).or_else(named);
            answer.map_or(Answered::Nobody, |answer| Answered::With(answer.clone()))
        }
        ElicitationAction::Decline => {
            let text = &ask.question.text;
            Answered::Declined(format!("the user declined to answer \"{text}\""))
        }
        _ => Answered::Nobody,
    }
}

/// The decision in a permission's form; `None` if there is none.
pub(crate) fn decided(result: &ElicitResult) -> Option<PermissionAnswer> {
    if result.action == ElicitationAction::Decline {
        return Some(PermissionReply::Reject.into());
    }
    if result.action != ElicitationAction::Accept {
        return None;
    }
    let decision = only_field(result, "decision")?;
    if decision.is_object() {
        return edited(decision.clone());
    }
    let reply = match decision.as_str()?.trim() {
        "once" => PermissionReply::Once,
        "always" => PermissionReply::Always,
        "reject" => PermissionReply::Reject,
        other => return edited(serde_json::from_str(other).ok()?),
    };
    Some(reply.into())
}

/// Permission for these arguments instead.
fn edited(arguments: Value) -> Option<PermissionAnswer> {
    let arguments = serde_json::from_value(arguments).ok()?;
    Some(PermissionAnswer {
        arguments: Some(arguments),
        ..PermissionReply::Once.into()
    })
}

/// The answer to a question.
fn answer(result: &ElicitResult) -> Option<&Value> {
    only_field(result, "answer")
}

/// The form's field. A client that gives its only field another name is
/// accepted.
fn only_field<'a>(result: &'a ElicitResult, name: &str) -> Option<&'a Value> {
    let only = || match result.content.as_ref()?.as_object()? {
        fields if fields.len() == 1 => fields.values().next().filter(|value| !value.is_null()),
        _ => None,
    };
    field(result, name).or_else(only)
}

/// A completed field of the form; some clients send `null` for the others.
fn field<'a>(result: &'a ElicitResult, name: &str) -> Option<&'a Value> {
    let value = result.content.as_ref()?.get(name);
    value.filter(|value| !value.is_null())
}

#[cfg(test)]
#[path = "form_tests.rs"]
mod tests;
