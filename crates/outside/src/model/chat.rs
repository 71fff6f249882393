//! `OpenAI` Chat Completions.

use serde_json::{Value, json};

use super::script::{Fault, Say, Turn};
use super::segment::{Segment, Segments, crumbs, object, words};

pub(super) fn stream(turn: &Turn, number: usize) -> Vec<Segment> {
    let noise = ": PROCESSING\n\ndata: {\"object\":\"unheard.of\"}\n\n";
    let mut events = Segments::new(turn.fault.as_ref(), noise);
    events.data(chunk(
        number,
        &json!({"role": "assistant", "content": ""}),
        None,
    ));
    let mut index = 0;
    for (place, said) in turn.say.iter().enumerate() {
        match said {
            Say::Hold(name) => events.hold(name),
            Say::Pause(millis) => events.pause(*millis),
            Say::Text(text) => {
                for word in words(text) {
                    events.data(chunk(number, &json!({"content": word}), None));
                }
            }
            Say::Reasoning(text) => {
                for word in words(text) {
                    events.data(chunk(number, &json!({"reasoning_content": word}), None));
                }
            }
            Say::Call { arguments, .. } => {
                let mut first = call(said, number, place);
                first["index"] = json!(index);
                first["function"]["arguments"] = json!("");
                events.data(chunk(number, &json!({"tool_calls": [first]}), None));
                for crumb in crumbs(&object(arguments)) {
                    let more = json!({"index": index, "function": {"arguments": crumb}});
                    events.data(chunk(number, &json!({"tool_calls": [more]}), None));
                }
                index += 1;
            }
        }
    }
    if turn.fault == Some(Fault::Overloaded) {
        events.data(json!({"error": {"message": "Overloaded", "code": 503}}));
        return events.finish();
    }
    events.data(chunk(number, &json!({}), Some(finish(turn))));
    let mut last = chunk(number, &json!({}), None);
    last["choices"] = json!([]);
    last["usage"] = usage(turn);
    events.data(last);
    events.raw("data: [DONE]\n\n".to_owned());
    events.finish()
}

fn chunk(number: usize, delta: &Value, finish: Option<&str>) -> Value {
    json!({
        "id": format!("chatcmpl-{number}"), "object": "chat.completion.chunk", "created": 0,
        "model": "scripted",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    })
}

fn call(said: &Say, number: usize, place: usize) -> Value {
    let Say::Call {
        tool,
        arguments,
        id,
    } = said
    else {
        return Value::Null;
    };
    json!({
        "id": id.clone().unwrap_or_else(|| format!("call_{number}_{place}")),
        "type": "function",
        "function": {"name": tool, "arguments": object(arguments).to_string()},
    })
}

pub(super) fn whole(turn: &Turn, number: usize) -> Value {
    let mut text = String::new();
    let mut reasoning = String::new();
    let mut calls = Vec::new();
    for (place, said) in turn.say.iter().enumerate() {
        match said {
            Say::Text(said) => text.push_str(said),
            Say::Reasoning(said) => reasoning.push_str(said),
            Say::Call { .. } => calls.push(call(said, number, place)),
            Say::Hold(_) | Say::Pause(_) => {}
        }
    }
    let mut message = json!({"role": "assistant", "content": text});
    if !reasoning.is_empty() {
        message["reasoning_content"] = json!(reasoning);
    }
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    json!({
        "id": format!("chatcmpl-{number}"), "object": "chat.completion", "created": 0,
        "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": finish(turn)}],
        "usage": usage(turn),
    })
}

fn finish(turn: &Turn) -> &'static str {
    match turn.finish.as_deref() {
        Some("length") => "length",
        Some("refusal") => "content_filter",
        _ if turn.has_calls() => "tool_calls",
        _ => "stop",
    }
}

fn usage(turn: &Turn) -> Value {
    let spent = turn.spent();
    json!({
        "prompt_tokens": spent.input, "completion_tokens": spent.output,
        "total_tokens": spent.input + spent.output,
    })
}
