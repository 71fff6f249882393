//! Calls of a generated tool, and schemas compiled to check them.

use jsonschema::Validator;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};
use windlass_protocol::{Arguments, HandleAction, Request, ToolCommand};
use windlass_schema::{Dialect, render};

use crate::shapes::{Sample, anything, field_values, samples};

/// A tool and a call that its `oneOf` schema admits, made of nothing but what
/// the branch of its action lists.
pub(crate) fn fitting() -> impl Strategy<Value = (Sample, Arguments)> {
    samples().prop_flat_map(|sample| {
        let mut ways: Vec<_> = sample
            .shape
            .actions
            .iter()
            .map(|action| of_action(&sample, action))
            .collect();
        if ways.is_empty() || sample.shape.one_shot {
            ways.push(field_values(&sample.fields).boxed());
        }
        let ways = proptest::strategy::Union::new(ways);
        (Just(sample), ways)
    })
}

/// A tool and a call that mixes what belongs to different actions.
pub(crate) fn mixed() -> impl Strategy<Value = (Sample, Arguments)> {
    samples().prop_flat_map(|sample| {
        let of_actions: Vec<_> = HandleAction::ALL
            .map(|action| of_action(&sample, action))
            .into_iter()
            .collect();
        let ids = select(vec!["build", "not an id", ""]);
        let keep = vec(any::<bool>(), 16);
        (Just(sample), of_actions, ids, keep).prop_map(|(sample, calls, id, keep)| {
            let mut call: Arguments = calls.into_iter().rev().flatten().collect();
            if call.contains_key("id") {
                call.insert("id".into(), json!(id));
            }
            let mut keep = keep.into_iter().chain(std::iter::repeat(true));
            call.retain(|_, _| keep.next().unwrap_or(true));
            (sample, call)
        })
    })
}

fn of_action(sample: &Sample, action: HandleAction) -> BoxedStrategy<Arguments> {
    let typing = sample.shape.typing;
    let head = move |rest: Map<String, Value>| {
        let mut call = Map::new();
        call.insert("action".into(), json!(action.as_str()));
        call.insert("id".into(), json!("build"));
        call.extend(rest);
        call
    };
    let object = |value: Value| value.as_object().cloned().unwrap_or_default();
    match action {
        HandleAction::Spawn => field_values(&sample.fields).prop_map(head).boxed(),
        HandleAction::Fetch if typing => select(vec![json!({}), json!({ "view": "screen" })])
            .prop_map(move |rest| head(object(rest)))
            .boxed(),
        HandleAction::Apply => {
            let input = anything().prop_filter("null is no input", |input| !input.is_null());
            let more = if typing {
                vec![
                    json!({}),
                    json!({ "keys": ["esc"] }),
                    json!({ "enter": false, "keys": [] }),
                ]
            } else {
                vec![json!({})]
            };
            let with_input = (input, select(more)).prop_map(move |(input, more)| {
                let mut call = head(object(more));
                call.insert("input".into(), input);
                call
            });
            let keys = Just(head(object(json!({ "keys": ["ctrl-c"] }))));
            if typing {
                prop_oneof![with_input, keys].boxed()
            } else {
                with_input.boxed()
            }
        }
        HandleAction::Fetch | HandleAction::Abort => Just(head(Map::new())).boxed(),
    }
}

/// The call as a model would write it under the dialect's schema.
pub(crate) fn encode(sample: &Sample, dialect: Dialect, call: &Arguments) -> Arguments {
    let mut encoded = call.clone();
    for field in &sample.fields {
        if let Some(value) = encoded.get_mut(&field.name) {
            *value = field.kind.encode(dialect, value);
        }
    }
    let wants_text = !matches!(dialect, Dialect::JsonSchema | Dialect::LlamaCpp);
    if let Some(input) = encoded.get_mut("input")
        && wants_text
    {
        *input = text_of(input);
    }
    if dialect == Dialect::OpenAiStrict {
        for name in render(&sample.shape, dialect)["properties"]
            .as_object()
            .into_iter()
            .flat_map(|properties| properties.keys())
        {
            encoded.entry(name).or_insert(Value::Null);
        }
    }
    encoded
}

/// Two requests are the same when they do the same: an input that is no
/// string is sent as JSON text, or read by the type of the open question.
pub(crate) fn normal(mut request: Request) -> Request {
    if let Request::Handle(ToolCommand::Apply { typing, .. }) = &mut request
        && let Some(input) = &mut typing.input
    {
        *input = text_of(input);
    }
    request
}

fn text_of(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(text),
        other => json!(other.to_string()),
    }
}

/// The schema, ready to check calls.
pub(crate) fn compile(schema: &Value) -> Validator {
    jsonschema::validator_for(&with_nullable(schema.clone())).unwrap()
}

/// `nullable`, which is not JSON Schema, in the words that are.
fn with_nullable(mut schema: Value) -> Value {
    match &mut schema {
        Value::Object(map) => {
            for value in map.values_mut() {
                *value = with_nullable(value.take());
            }
            if map.get("nullable") == Some(&json!(true)) {
                map.shift_remove("nullable");
                return json!({ "anyOf": [schema, { "type": "null" }] });
            }
        }
        Value::Array(items) => {
            for item in items {
                *item = with_nullable(item.take());
            }
        }
        _ => {}
    }
    schema
}
