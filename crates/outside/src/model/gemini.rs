//! Google Gemini.

use serde_json::{Value, json};

use super::script::{Fault, Say, Turn};
use super::segment::{Segment, Segments, object, words};

pub(super) fn stream(turn: &Turn, number: usize) -> Vec<Segment> {
    let noise = "data: {\"unheardOf\":{\"of\":1}}\n\n";
    let mut events = Segments::new(turn.fault.as_ref(), noise);
    for (place, said) in turn.say.iter().enumerate() {
        match said {
            Say::Hold(name) => events.hold(name),
            Say::Pause(millis) => events.pause(*millis),
            Say::Text(text) => {
                for word in words(text) {
                    events.data(chunk(number, &[json!({"text": word})]));
                }
            }
            Say::Reasoning(text) => {
                for word in words(text) {
                    let part = json!({"text": word, "thought": true});
                    events.data(chunk(number, &[part]));
                }
            }
            Say::Call { .. } => events.data(chunk(number, &[part(said, number, place)])),
        }
    }
    if turn.fault == Some(Fault::Overloaded) {
        events.data(
            json!({"error": {"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}}),
        );
        return events.finish();
    }
    let mut last = chunk(number, &[json!({"text": ""})]);
    last["candidates"][0]["finishReason"] = json!(finish(turn));
    last["usageMetadata"] = usage(turn);
    events.data(last);
    events.finish()
}

fn chunk(number: usize, parts: &[Value]) -> Value {
    json!({
        "candidates": [{"content": {"parts": parts, "role": "model"}, "index": 0}],
        "modelVersion": "scripted", "responseId": format!("resp-{number}"),
    })
}

fn part(said: &Say, number: usize, place: usize) -> Value {
    match said {
        Say::Text(text) => json!({"text": text}),
        Say::Reasoning(text) => json!({"text": text, "thought": true}),
        Say::Call {
            tool,
            arguments,
            id,
        } => {
            let mut call = json!({"name": tool, "args": object(arguments)});
            // Gemini itself gives none.
            if let Some(id) = id {
                call["id"] = json!(id);
            }
            json!({"functionCall": call, "thoughtSignature": format!("thought-{number}-{place}")})
        }
        Say::Hold(_) | Say::Pause(_) => Value::Null,
    }
}

pub(super) fn whole(turn: &Turn, number: usize) -> Value {
    let parts: Vec<Value> = turn
        .say
        .iter()
        .enumerate()
        .map(|(place, said)| part(said, number, place))
        .filter(|part| !part.is_null())
        .collect();
    let mut whole = chunk(number, &parts);
    whole["candidates"][0]["finishReason"] = json!(finish(turn));
    whole["usageMetadata"] = usage(turn);
    whole
}

/// Gemini stops for calls as it stops for anything.
fn finish(turn: &Turn) -> &'static str {
    match turn.finish.as_deref() {
        Some("length") => "MAX_TOKENS",
        Some("refusal") => "SAFETY",
        _ => "STOP",
    }
}

fn usage(turn: &Turn) -> Value {
    let spent = turn.spent();
    json!({
        "promptTokenCount": spent.input, "candidatesTokenCount": spent.output,
        "totalTokenCount": spent.input + spent.output,
    })
}
