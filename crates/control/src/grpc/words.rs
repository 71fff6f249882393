//! Converts between the protocol and the messages of `proto/tool.proto`.
//!
//! Everything here is pure. A `Struct` has doubles for all numbers: integral
//! ones become integers again, as tools expect.

use std::sync::Arc;

use prost_types::value::Kind;
use prost_types::{ListValue, Struct, Value as AnyValue};
use serde_json::{Map, Number, Value};
use windlass_protocol::{
    AnswerType, Arguments, Ask, BatchReply, CallReply, FilePart, MessageId, Millis, Notice,
    PartState, PartTimeWithEnd, PermissionReply, PermissionRequest, SessionId, ToolPart,
};

use super::proto;

/// How deep a value may be. Readers of messages stop at a hundred levels, of
/// which a value's level takes up to three.
const DEPTH: usize = 24;
/// Past this a double no longer names a whole number.
const WHOLE: f64 = 9_007_199_254_740_992.0;

pub(super) fn part(part: ToolPart) -> proto::ToolPart {
    proto::ToolPart {
        id: part.id.into(),
        session_id: part.session_id.into(),
        message_id: part.message_id.into(),
        r#type: "tool".to_owned(),
        call_id: part.call_id,
        tool: part.tool,
        metadata: part.metadata.map(object),
        state: Some(state(part.state)),
    }
}

fn state(state: PartState) -> proto::tool_part::State {
    use proto::tool_part::State;
    match state {
        PartState::Pending(pending) => State::Pending(proto::ToolStatePending {
            status: "pending".to_owned(),
            input: Some(object(Arc::unwrap_or_clone(pending.input))),
            raw: pending.raw.to_string(),
        }),
        PartState::Running(running) => State::Running(proto::ToolStateRunning {
            status: "running".to_owned(),
            input: Some(object(Arc::unwrap_or_clone(running.input))),
            title: running.title,
            metadata: running.metadata.map(object),
            time: Some(proto::ToolTime {
                start: millis(running.time.start),
            }),
        }),
        PartState::Completed(completed) => State::Completed(proto::ToolStateCompleted {
            status: "completed".to_owned(),
            input: Some(object(Arc::unwrap_or_clone(completed.input))),
            output: completed.output,
            title: completed.title,
            metadata: Some(object(completed.metadata)),
            time: Some(time(completed.time)),
            attachments: completed
                .attachments
                .into_iter()
                .flatten()
                .map(file)
                .collect(),
        }),
        PartState::Error(failed) => State::Error(proto::ToolStateError {
            status: "error".to_owned(),
            input: Some(object(Arc::unwrap_or_clone(failed.input))),
            error: failed.error,
            metadata: failed.metadata.map(object),
            time: Some(time(failed.time)),
        }),
    }
}

fn file(file: FilePart) -> proto::FilePart {
    proto::FilePart {
        id: file.id.into(),
        session_id: file.session_id.into(),
        message_id: file.message_id.into(),
        r#type: "file".to_owned(),
        mime: file.mime,
        filename: file.filename,
        url: file.url,
        source: match file.source {
            Some(Value::Object(source)) => Some(object(source)),
            _ => None,
        },
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "the next three hundred thousand years fit"
)]
fn millis(at: Millis) -> f64 {
    at.0 as f64
}

fn time(time: PartTimeWithEnd) -> proto::ToolTimeWithEnd {
    proto::ToolTimeWithEnd {
        start: millis(time.start),
        end: millis(time.end),
        compacted: time.compacted.map(millis),
    }
}

pub(super) fn request(request: PermissionRequest) -> proto::PermissionRequest {
    proto::PermissionRequest {
        id: request.id.into(),
        session_id: request.session_id.into(),
        permission: request.permission,
        patterns: request.patterns,
        metadata: Some(object(request.metadata)),
        always: request.always,
        tool: request.tool.map(|tool| proto::PermissionToolContext {
            message_id: tool.message_id.into(),
            call_id: tool.call_id,
        }),
    }
}

pub(super) fn question(session: &SessionId, ask: Ask) -> proto::Question {
    let (answer_type, options) = match ask.question.answer_type {
        AnswerType::Boolean => (proto::AnswerType::Boolean, Vec::new()),
        AnswerType::Select { options } => (proto::AnswerType::Select, options),
        AnswerType::Text => (proto::AnswerType::Text, Vec::new()),
    };
    let form = ask.form.map(|form| {
        let mut fields = Arguments::new();
        fields.insert("message".to_owned(), Value::String(form.message));
        fields.insert("schema".to_owned(), form.schema);
        object(fields)
    });
    proto::Question {
        id: ask.ask,
        session_id: session.to_string(),
        call_id: ask.call,
        handle: ask.handle.map(Into::into),
        tool: ask.tool,
        name: ask.question.id,
        text: ask.question.text,
        pre_amble: ask.question.pre_amble,
        content: ask.content,
        answer_type: answer_type.into(),
        options,
        default: ask.question.default.map(|default| value(default, 0)),
        secret: ask.question.secret,
        form,
    }
}

/// A request that was withdrawn has no reply.
pub(super) fn reply(reply: Option<PermissionReply>) -> proto::PermissionReply {
    match reply {
        None => proto::PermissionReply::Unspecified,
        Some(PermissionReply::Once) => proto::PermissionReply::Once,
        Some(PermissionReply::Always) => proto::PermissionReply::Always,
        Some(PermissionReply::Reject) => proto::PermissionReply::Reject,
    }
}

pub(super) fn read_reply(reply: proto::PermissionReply) -> Option<PermissionReply> {
    match reply {
        proto::PermissionReply::Unspecified => None,
        proto::PermissionReply::Once => Some(PermissionReply::Once),
        proto::PermissionReply::Always => Some(PermissionReply::Always),
        proto::PermissionReply::Reject => Some(PermissionReply::Reject),
    }
}

pub(super) fn batch_reply(message: MessageId, reply: BatchReply) -> proto::BatchReply {
    proto::BatchReply {
        message_id: message.into(),
        replies: reply.replies.into_iter().map(call_reply).collect(),
        notices: reply.notices.into_iter().map(notice).collect(),
    }
}

fn call_reply(reply: CallReply) -> proto::CallReply {
    // What a reply holds is made of JSON.
    let content = serde_json::to_value(&reply.content).unwrap_or_default();
    proto::CallReply {
        call_id: reply.id,
        content: Some(value(content, 0)),
        is_error: reply.is_error,
    }
}

fn notice(notice: Notice) -> proto::Notice {
    let word = |word: serde_json::Result<Value>| match word {
        Ok(Value::String(word)) => word,
        _ => String::new(),
    };
    proto::Notice {
        level: word(serde_json::to_value(notice.level)),
        kind: word(serde_json::to_value(notice.kind)),
        handle: notice.handle.map(Into::into),
        tool: notice.tool,
        text: notice.text,
    }
}

pub(super) fn object(object: Arguments) -> Struct {
    nested(object, 0)
}

fn nested(object: Map<String, Value>, depth: usize) -> Struct {
    let fields = object.into_iter();
    Struct {
        fields: fields
            .map(|(name, inner)| (name, value(inner, depth + 1)))
            .collect(),
    }
}

/// Converts a value. Values that are nested too deeply become their JSON text.
fn value(json: Value, depth: usize) -> AnyValue {
    let kind = match json {
        Value::Null => Kind::NullValue(0),
        Value::Bool(bool) => Kind::BoolValue(bool),
        Value::Number(number) => Kind::NumberValue(number.as_f64().unwrap_or_default()),
        Value::String(text) => Kind::StringValue(text),
        deep if depth >= DEPTH => Kind::StringValue(deep.to_string()),
        Value::Array(values) => {
            let values = values.into_iter();
            let values = values.map(|inner| value(inner, depth + 1)).collect();
            Kind::ListValue(ListValue { values })
        }
        Value::Object(object) => Kind::StructValue(nested(object, depth)),
    };
    AnyValue { kind: Some(kind) }
}

/// A number that JSON has no word for.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("`{0}` is no JSON number; give a finite one")]
pub(super) struct NotJson(f64);

pub(super) fn read_object(object: Struct) -> Result<Arguments, NotJson> {
    let fields = object.fields.into_iter();
    fields
        .map(|(name, inner)| Ok((name, read_value(inner)?)))
        .collect()
}

pub(super) fn read_value(given: AnyValue) -> Result<Value, NotJson> {
    Ok(match given.kind {
        None | Some(Kind::NullValue(_)) => Value::Null,
        Some(Kind::BoolValue(bool)) => Value::Bool(bool),
        Some(Kind::NumberValue(number)) => Value::Number(read_number(number)?),
        Some(Kind::StringValue(text)) => Value::String(text),
        Some(Kind::ListValue(list)) => {
            let values = list.values.into_iter().map(read_value);
            Value::Array(values.collect::<Result<_, _>>()?)
        }
        Some(Kind::StructValue(object)) => Value::Object(read_object(object)?),
    })
}

fn read_number(number: f64) -> Result<Number, NotJson> {
    if number.fract() == 0.0 && number.abs() <= WHOLE {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the range was just checked"
        )]
        return Ok(Number::from(number as i64));
    }
    Number::from_f64(number).ok_or(NotJson(number))
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
