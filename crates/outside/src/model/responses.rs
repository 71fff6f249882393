//! `OpenAI` Responses.

use serde_json::{Value, json};

use super::script::{Fault, Say, Turn};
use super::segment::{Segment, Segments, crumbs, object, words};

/// Events, each with its number.
struct Numbered {
    events: Segments,
    next: u64,
}

impl Numbered {
    fn send(&mut self, name: &str, mut data: Value) {
        data["type"] = json!(name);
        data["sequence_number"] = json!(self.next);
        self.next += 1;
        self.events.named(name, data);
    }
}

pub(super) fn stream(turn: &Turn, number: usize) -> Vec<Segment> {
    let noise = "event: response.unheard_of\ndata: {\"type\":\"response.unheard_of\"}\n\n";
    let mut events = Numbered {
        events: Segments::new(turn.fault.as_ref(), noise),
        next: 0,
    };
    let begun = response(number, "in_progress", &[]);
    events.send("response.created", json!({"response": begun}));
    events.send("response.in_progress", json!({"response": begun}));
    let mut index = 0;
    for (place, said) in turn.say.iter().enumerate() {
        match said {
            Say::Hold(name) => events.events.hold(name),
            Say::Pause(millis) => events.events.pause(*millis),
            said => {
                item(&mut events, said, index, number, place);
                index += 1;
            }
        }
    }
    if turn.fault == Some(Fault::Overloaded) {
        let mut failed = response(number, "failed", &[]);
        failed["error"] = json!({"code": "server_error", "message": "Overloaded"});
        events.send("response.failed", json!({"response": failed}));
        return events.events.finish();
    }
    let name = match turn.finish.as_deref() {
        Some("length") => "response.incomplete",
        _ => "response.completed",
    };
    events.send(name, json!({"response": whole(turn, number)}));
    events.events.finish()
}

fn item(events: &mut Numbered, said: &Say, index: usize, number: usize, place: usize) {
    let done = done_item(said, number, place);
    let id = done["id"].clone();
    let mut added = done.clone();
    added["status"] = json!("in_progress");
    match said {
        Say::Text(_) => added["content"] = json!([]),
        Say::Reasoning(_) => {
            added["summary"] = json!([]);
            added["encrypted_content"] = json!("");
        }
        Say::Call { .. } => added["arguments"] = json!(""),
        Say::Hold(_) | Say::Pause(_) => return,
    }
    events.send(
        "response.output_item.added",
        json!({"output_index": index, "item": added}),
    );
    match said {
        Say::Text(text) => {
            let at = json!({"item_id": id, "output_index": index, "content_index": 0});
            let part = json!({"type": "output_text", "text": "", "annotations": []});
            events.send("response.content_part.added", with(&at, "part", part));
            for word in words(text) {
                events.send(
                    "response.output_text.delta",
                    with(&at, "delta", json!(word)),
                );
            }
            events.send("response.output_text.done", with(&at, "text", json!(text)));
            let part = json!({"type": "output_text", "text": text, "annotations": []});
            events.send("response.content_part.done", with(&at, "part", part));
        }
        Say::Reasoning(text) => {
            let at = json!({"item_id": id, "output_index": index, "summary_index": 0});
            for word in words(text) {
                events.send(
                    "response.reasoning_summary_text.delta",
                    with(&at, "delta", json!(word)),
                );
            }
        }
        Say::Call { arguments, .. } => {
            let at = json!({"item_id": id, "output_index": index});
            for crumb in crumbs(&object(arguments)) {
                events.send(
                    "response.function_call_arguments.delta",
                    with(&at, "delta", json!(crumb)),
                );
            }
            let text = json!(object(arguments).to_string());
            events.send(
                "response.function_call_arguments.done",
                with(&at, "arguments", text),
            );
        }
        Say::Hold(_) | Say::Pause(_) => {}
    }
    events.send(
        "response.output_item.done",
        json!({"output_index": index, "item": done}),
    );
}

fn with(base: &Value, key: &str, value: Value) -> Value {
    let mut base = base.clone();
    base[key] = value;
    base
}

fn done_item(said: &Say, number: usize, place: usize) -> Value {
    match said {
        Say::Text(text) => json!({
            "id": format!("msg_{number}_{place}"), "type": "message", "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }),
        Say::Reasoning(text) => json!({
            "id": format!("rs_{number}_{place}"), "type": "reasoning",
            "summary": [{"type": "summary_text", "text": text}],
            "encrypted_content": format!("sealed-{}", text.len()),
        }),
        Say::Call {
            tool,
            arguments,
            id,
        } => {
            let mut item = json!({
                "id": format!("fc_{number}_{place}"), "type": "function_call",
                "status": "completed", "name": tool,
                "call_id": id.clone().unwrap_or_else(|| format!("call_{number}_{place}")),
                "arguments": object(arguments).to_string(),
            });
            // Tools that were offered within a namespace are called in two words.
            if let Some((namespace, name)) = tool.split_once('/') {
                item["namespace"] = json!(namespace);
                item["name"] = json!(name);
            }
            item
        }
        Say::Hold(_) | Say::Pause(_) => Value::Null,
    }
}

fn response(number: usize, status: &str, output: &[Value]) -> Value {
    json!({
        "id": format!("resp_{number}"), "object": "response", "created_at": 0,
        "status": status, "model": "scripted", "output": output, "error": null,
        "incomplete_details": null, "usage": null,
    })
}

pub(super) fn whole(turn: &Turn, number: usize) -> Value {
    let output: Vec<Value> = turn
        .say
        .iter()
        .enumerate()
        .map(|(place, said)| done_item(said, number, place))
        .filter(|item| !item.is_null())
        .collect();
    let cut = turn.finish.as_deref() == Some("length");
    let status = if cut { "incomplete" } else { "completed" };
    let mut whole = response(number, status, &output);
    if cut {
        whole["incomplete_details"] = json!({"reason": "max_output_tokens"});
    }
    let spent = turn.spent();
    whole["usage"] = json!({
        "input_tokens": spent.input, "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": spent.output, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": spent.input + spent.output,
    });
    whole
}
