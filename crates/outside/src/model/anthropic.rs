//! Anthropic Messages.

use serde_json::{Value, json};

use super::script::{Fault, Say, Turn};
use super::segment::{Segment, Segments, crumbs, object, words};

pub(super) fn stream(turn: &Turn, number: usize) -> Vec<Segment> {
    let noise = "event: unheard_of\ndata: {\"type\":\"unheard_of\"}\n\n: a comment\n\n";
    let mut events = Segments::new(turn.fault.as_ref(), noise);
    let spent = turn.spent();
    events.named(
        "message_start",
        json!({"type": "message_start", "message": {
            "id": format!("msg_{number}"), "type": "message", "role": "assistant",
            "model": "scripted", "content": [], "stop_reason": null, "stop_sequence": null,
            "usage": {"input_tokens": spent.input, "output_tokens": 1},
        }}),
    );
    events.named("ping", json!({"type": "ping"}));
    let mut index = 0;
    for (place, say) in turn.say.iter().enumerate() {
        match say {
            Say::Hold(name) => events.hold(name),
            Say::Pause(millis) => events.pause(*millis),
            said => {
                block(&mut events, said, index, &call_id(number, place));
                index += 1;
            }
        }
    }
    if turn.fault == Some(Fault::Overloaded) {
        events.named(
            "error",
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
        );
        return events.finish();
    }
    events.named(
        "message_delta",
        json!({"type": "message_delta",
            "delta": {"stop_reason": stop_reason(turn), "stop_sequence": null},
            "usage": {"output_tokens": spent.output}}),
    );
    events.named("message_stop", json!({"type": "message_stop"}));
    events.finish()
}

fn block(events: &mut Segments, said: &Say, index: usize, call: &str) {
    let start = match said {
        Say::Text(_) => json!({"type": "text", "text": ""}),
        Say::Reasoning(_) => json!({"type": "thinking", "thinking": "", "signature": ""}),
        Say::Call { tool, id, .. } => json!({
            "type": "tool_use", "id": id.as_deref().unwrap_or(call), "name": tool, "input": {},
        }),
        Say::Hold(_) | Say::Pause(_) => return,
    };
    events.named(
        "content_block_start",
        json!({"type": "content_block_start", "index": index, "content_block": start}),
    );
    let mut delta = |delta: Value| {
        events.named(
            "content_block_delta",
            json!({"type": "content_block_delta", "index": index, "delta": delta}),
        );
    };
    match said {
        Say::Text(text) => {
            for word in words(text) {
                delta(json!({"type": "text_delta", "text": word}));
            }
        }
        Say::Reasoning(text) => {
            for word in words(text) {
                delta(json!({"type": "thinking_delta", "thinking": word}));
            }
            delta(json!({"type": "signature_delta", "signature": signature(text)}));
        }
        Say::Call { arguments, .. } => {
            delta(json!({"type": "input_json_delta", "partial_json": ""}));
            for crumb in crumbs(&object(arguments)) {
                delta(json!({"type": "input_json_delta", "partial_json": crumb}));
            }
        }
        Say::Hold(_) | Say::Pause(_) => {}
    }
    events.named(
        "content_block_stop",
        json!({"type": "content_block_stop", "index": index}),
    );
}

pub(super) fn whole(turn: &Turn, number: usize) -> Value {
    let content: Vec<Value> = turn
        .say
        .iter()
        .enumerate()
        .filter_map(|(place, said)| match said {
            Say::Text(text) => Some(json!({"type": "text", "text": text})),
            Say::Reasoning(text) => {
                Some(json!({"type": "thinking", "thinking": text, "signature": signature(text)}))
            }
            Say::Call {
                tool,
                arguments,
                id,
            } => Some(json!({
                "type": "tool_use", "id": id.clone().unwrap_or_else(|| call_id(number, place)),
                "name": tool, "input": object(arguments),
            })),
            Say::Hold(_) | Say::Pause(_) => None,
        })
        .collect();
    let spent = turn.spent();
    json!({
        "id": format!("msg_{number}"), "type": "message", "role": "assistant",
        "model": "scripted", "content": content,
        "stop_reason": stop_reason(turn), "stop_sequence": null,
        "usage": {"input_tokens": spent.input, "output_tokens": spent.output},
    })
}

fn stop_reason(turn: &Turn) -> &'static str {
    match turn.finish.as_deref() {
        Some("length") => "max_tokens",
        Some("refusal") => "refusal",
        _ if turn.has_calls() => "tool_use",
        _ => "end_turn",
    }
}

fn signature(text: &str) -> String {
    format!("signed-{}", text.len())
}

fn call_id(number: usize, place: usize) -> String {
    format!("toolu_{number}_{place}")
}
