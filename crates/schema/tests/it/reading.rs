//! What a dialect admits beyond the `oneOf` is read, or answered with an
//! error that names what is wrong.

use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_protocol::{Arguments, HandleAction, ParseError, Request, ToolShape, parse};
use windlass_schema::{Dialect, render, restore};

use crate::calls::{compile, encode, mixed};
use crate::config;

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_a_dialect_admits_is_read_or_named((sample, call) in mixed()) {
        let canonical = compile(&render(&sample.shape, Dialect::JsonSchema));
        for dialect in Dialect::ALL {
            let encoded = encode(&sample, dialect, &call);
            let schema = compile(&render(&sample.shape, dialect));
            if !schema.is_valid(&Value::Object(encoded.clone())) {
                continue;
            }
            let restored = restore(&sample.shape, dialect, encoded);
            match parse(&sample.shape, restored.clone()) {
                Ok(request) => {
                    let written = write(&request);
                    prop_assert!(canonical.is_valid(&written), "{} {}", dialect, written);
                }
                Err(error) => {
                    let culprit = culprit(&sample.shape, &error, &restored);
                    prop_assert!(culprit.is_some(), "{} {:?} {:?}", dialect, error, restored);
                    let named = format!("`{}`", culprit.unwrap_or_default());
                    prop_assert!(error.to_string().contains(&named), "{} {}", named, error);
                }
            }
        }
    }
}

/// The arguments of the request, written out again.
fn write(request: &Request) -> Value {
    match request {
        Request::OneShot { args } => Value::Object(args.clone()),
        Request::Handle(command) => serde_json::to_value(command).unwrap(),
    }
}

/// The text that a correct error about the arguments contains.
fn culprit(shape: &ToolShape, error: &ParseError, arguments: &Arguments) -> Option<String> {
    let absent = |name: &str| arguments.get(name).is_none_or(Value::is_null);
    let (name, true) = (match error {
        ParseError::MissingParameter { name, action } => {
            let spawns = matches!(action, None | Some(HandleAction::Spawn));
            let needed = shape.parameters.required.contains(name);
            (name.clone(), spawns && needed && absent(name))
        }
        ParseError::UnknownParameter { name, .. } => {
            let known = shape.parameters.properties.contains_key(name);
            (name.clone(), !known && arguments.contains_key(name))
        }
        ParseError::Misspelt { name, meant } => {
            (name.clone(), absent(meant) && arguments.contains_key(name))
        }
        ParseError::MissingInput { .. } => ("input".to_owned(), absent("input")),
        ParseError::NoActions => ("action".to_owned(), !absent("action")),
        ParseError::MissingId(_) => ("id".to_owned(), absent("id")),
        ParseError::InvalidId(id) => (id.0.clone(), arguments["id"] == json!(id.0)),
        _ => return None,
    }) else {
        return None;
    };
    Some(name)
}
