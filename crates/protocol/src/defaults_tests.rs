use indexmap::IndexMap;
use serde_json::json;

use super::*;
use crate::Parameter;

fn filled(entries: Value, arguments: Value) -> Value {
    let entries: IndexMap<String, Parameter> = serde_json::from_value(entries).unwrap();
    let mut arguments: Arguments = serde_json::from_value(arguments).unwrap();
    fill_defaults(&Parameters::from_entries(&entries), &mut arguments);
    json!(arguments)
}

#[test]
fn a_default_stands_for_an_argument_that_was_not_given() {
    let entries = json!({"a": {"type": "string", "default": "x"}, "b": {"type": "string"}});
    assert_eq!(filled(entries.clone(), json!({})), json!({"a": "x"}));
    assert_eq!(filled(entries, json!({"a": ""})), json!({"a": ""}));
}

#[test]
fn defaults_inside_of_given_values_are_added() {
    let inner = json!({"type": "object", "properties": {"a": {"type": "integer", "default": 1}}});
    let entries = json!({"one": inner, "many": {"type": "array", "items": inner}});
    assert_eq!(filled(entries.clone(), json!({})), json!({}));
    assert_eq!(
        filled(entries, json!({"one": {}, "many": [{}, {"a": 2}]})),
        json!({"one": {"a": 1}, "many": [{"a": 1}, {"a": 2}]})
    );
}

#[test]
fn null_is_a_default_only_where_it_is_allowed() {
    let entries = json!({
        "no": {"type": "string", "default": null},
        "yes": {"type": ["string", "null"], "default": null},
    });
    assert_eq!(filled(entries, json!({})), json!({"yes": null}));
}

#[test]
fn a_server_adds_its_own_defaults() {
    let schema = json!({"properties": {"a": {"type": "string", "default": "x"}}});
    let mut arguments = Arguments::new();
    fill_defaults(&Parameters::from_object_schema(&schema), &mut arguments);
    assert!(arguments.is_empty());
}
