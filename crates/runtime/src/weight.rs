//! The approximate memory usage of an event, for bounding the journal. It must
//! never be far too low.

use serde_json::Value;
use windlass_protocol::{
    Arguments, Ending, PartState, PermissionRequest, RawArguments, ToolEvent, ToolPart,
};

use crate::journal::SessionEvent;

/// The base weight of an event.
const BASE: usize = 256;

pub(crate) fn weight(event: &SessionEvent) -> usize {
    BASE + match event {
        SessionEvent::Part(part) => of_part(part),
        SessionEvent::Tool { event, .. } => of_tool_event(event),
        SessionEvent::PermissionAsked(request)
        | SessionEvent::PermissionDecided { request, .. } => of_request(request),
        SessionEvent::PermissionReplied { decision, .. } => {
            decision.arguments.as_ref().map_or(0, of_object)
        }
        SessionEvent::QuestionAsked(ask) => {
            let question = &ask.question;
            let beside = [&question.pre_amble, &ask.content].into_iter().flatten();
            question.text.len() + beside.map(String::len).sum::<usize>()
        }
        SessionEvent::Noticed(notice) => notice.text.len(),
        SessionEvent::Delivered { notices } => notices.len() * size_of::<u64>(),
        SessionEvent::Called { .. }
        | SessionEvent::Replied { .. }
        | SessionEvent::QuestionClosed { .. }
        | SessionEvent::Locked { .. }
        | SessionEvent::Unlocked { .. }
        | SessionEvent::TurnEnded
        | SessionEvent::Closed => 0,
    }
}

fn of_part(part: &ToolPart) -> usize {
    match &part.state {
        PartState::Pending(state) => {
            let raw = match &state.raw {
                RawArguments::Text(text) => text.len(),
                RawArguments::Json(_) => 0,
            };
            raw + of_object(&state.input)
        }
        PartState::Running(state) => {
            of_object(&state.input) + state.metadata.as_ref().map_or(0, of_object)
        }
        PartState::Completed(state) => state.output.len() + of_object(&state.input),
        PartState::Error(state) => state.error.len() + of_object(&state.input),
    }
}

fn of_tool_event(event: &ToolEvent) -> usize {
    match event {
        ToolEvent::Ended(Ending {
            result, structured, ..
        }) => {
            let text = match result {
                Ok(result) => result.as_ref().map_or(0, String::len),
                Err(error) => {
                    error.message.len() + error.trace.iter().map(String::len).sum::<usize>()
                }
            };
            text + structured.as_deref().map_or(0, of_value)
        }
        ToolEvent::Asked {
            question,
            content,
            form,
        } => {
            let form = form.as_ref();
            question.text.len()
                + content.as_ref().map_or(0, String::len)
                + form.map_or(0, |form| form.message.len() + of_value(&form.schema))
        }
        ToolEvent::Aborting { reason } => reason.len(),
        ToolEvent::Started | ToolEvent::Answered | ToolEvent::Wrote { .. } => 0,
    }
}

fn of_request(request: &PermissionRequest) -> usize {
    let patterns = request.patterns.iter().chain(&request.always);
    patterns.map(String::len).sum::<usize>() + of_object(&request.metadata)
}

fn of_object(object: &Arguments) -> usize {
    object
        .iter()
        .map(|(key, value)| key.len() + of_value(value))
        .sum()
}

fn of_value(value: &Value) -> usize {
    size_of::<Value>()
        + match value {
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(of_value).sum(),
            Value::Object(object) => of_object(object),
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
}
