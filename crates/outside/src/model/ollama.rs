//! Ollama.

use serde_json::{Value, json};

use super::script::{Fault, Say, Turn};
use super::segment::{Segment, Segments, object, words};

pub(super) fn stream(turn: &Turn, _number: usize) -> Vec<Segment> {
    let noise = "{\"unheard_of\":true}\n";
    let mut events = Segments::new(turn.fault.as_ref(), noise);
    let line = |events: &mut Segments, message: Value| {
        events.raw(format!("{}\n", chunk(&message)));
    };
    for said in &turn.say {
        match said {
            Say::Hold(name) => events.hold(name),
            Say::Pause(millis) => events.pause(*millis),
            Say::Text(text) => {
                for word in words(text) {
                    line(&mut events, json!({"role": "assistant", "content": word}));
                }
            }
            Say::Reasoning(text) => {
                for word in words(text) {
                    let message = json!({"role": "assistant", "content": "", "thinking": word});
                    line(&mut events, message);
                }
            }
            Say::Call { .. } => {
                let message =
                    json!({"role": "assistant", "content": "", "tool_calls": [call(said)]});
                line(&mut events, message);
            }
        }
    }
    if turn.fault == Some(Fault::Overloaded) {
        events.raw("{\"error\":\"Overloaded\"}\n".to_owned());
        return events.finish();
    }
    let last = done(turn, &json!({"role": "assistant", "content": ""}));
    events.raw(format!("{last}\n"));
    events.finish()
}

fn chunk(message: &Value) -> Value {
    json!({
        "model": "scripted", "created_at": "2026-01-01T00:00:00Z", "message": message,
        "done": false,
    })
}

fn done(turn: &Turn, message: &Value) -> Value {
    let spent = turn.spent();
    let mut last = chunk(message);
    last["done"] = json!(true);
    last["done_reason"] = match turn.finish.as_deref() {
        Some("length") => json!("length"),
        _ => json!("stop"),
    };
    last["prompt_eval_count"] = json!(spent.input);
    last["eval_count"] = json!(spent.output);
    last
}

fn call(said: &Say) -> Value {
    match said {
        Say::Call {
            tool, arguments, ..
        } => json!({"function": {"name": tool, "arguments": object(arguments)}}),
        _ => Value::Null,
    }
}

pub(super) fn whole(turn: &Turn, _number: usize) -> Value {
    let mut text = String::new();
    let mut thinking = String::new();
    let mut calls = Vec::new();
    for said in &turn.say {
        match said {
            Say::Text(said) => text.push_str(said),
            Say::Reasoning(said) => thinking.push_str(said),
            Say::Call { .. } => calls.push(call(said)),
            Say::Hold(_) | Say::Pause(_) => {}
        }
    }
    let mut message = json!({"role": "assistant", "content": text});
    if !thinking.is_empty() {
        message["thinking"] = json!(thinking);
    }
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    done(turn, &message)
}
