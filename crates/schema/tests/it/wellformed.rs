//! Every schema is JSON Schema, and keeps to what its dialect may say.

use proptest::prelude::*;
use serde_json::Value;
use windlass_schema::{Dialect, check, render};

use crate::config;
use crate::shapes::samples;

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_schema_is_one(sample in samples()) {
        prop_assert_eq!(check(&sample.shape), Ok(()));
        for dialect in Dialect::ALL {
            let schema = render(&sample.shape, dialect);
            prop_assert!(jsonschema::meta::is_valid(&schema), "{} {}", dialect, schema);
            prop_assert_eq!(&schema["type"], "object");
        }
    }

    #[test]
    fn only_the_canonical_form_has_alternatives_at_its_root(sample in samples()) {
        for dialect in Dialect::ALL {
            let canonical = matches!(dialect, Dialect::JsonSchema | Dialect::LlamaCpp);
            let schema = render(&sample.shape, dialect);
            let has_actions = !sample.shape.actions.is_empty();
            prop_assert_eq!(schema.get("oneOf").is_some(), canonical && has_actions);
            prop_assert!(schema.get("anyOf").is_none() && schema.get("allOf").is_none());
        }
    }

    #[test]
    fn no_reference_is_left(sample in samples()) {
        for dialect in Dialect::ALL {
            each(&render(&sample.shape, dialect), &mut |schema| {
                for keyword in ["$ref", "$defs", "$schema"] {
                    assert!(schema.get(keyword).is_none(), "{dialect} {schema}");
                }
            });
        }
    }

    #[test]
    fn strict_schemas_leave_nothing_open(sample in samples()) {
        const KNOWN: [&str; 10] = [
            "type", "description", "enum", "anyOf", "properties", "required", "items",
            "additionalProperties", "minimum", "maximum",
        ];
        each(&render(&sample.shape, Dialect::OpenAiStrict), &mut |schema| {
            only(schema, &KNOWN);
            assert!(schema.get("type").is_some() || schema.get("anyOf").is_some(), "{schema}");
            if schema["type"] == "object" {
                let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
                assert_eq!(schema["required"], serde_json::json!(names));
                assert_eq!(schema["additionalProperties"], false);
            }
        });
    }

    #[test]
    fn legacy_gemini_schemas_keep_to_its_list(sample in samples()) {
        const KNOWN: [&str; 10] = [
            "type", "description", "nullable", "enum", "anyOf", "properties", "required", "items",
            "minimum", "maximum",
        ];
        each(&render(&sample.shape, Dialect::GeminiLegacy), &mut |schema| {
            only(schema, &KNOWN);
            assert!(schema["type"].is_string() || schema.as_object().unwrap().len() == 1, "{schema}");
            for option in schema["enum"].as_array().into_iter().flatten() {
                assert!(option.is_string() && schema["type"] == "string", "{schema}");
            }
        });
    }

    #[test]
    fn gemini_schemas_have_types_and_no_const(sample in samples()) {
        each(&render(&sample.shape, Dialect::Gemini), &mut |schema| {
            assert!(schema.get("const").is_none(), "{schema}");
            let told = ["type", "anyOf", "oneOf"].iter().any(|&keyword| schema.get(keyword).is_some());
            assert!(told, "{schema}");
        });
    }

    #[test]
    fn llama_cpp_receives_every_type(sample in samples()) {
        const TELLING: [&str; 6] = ["type", "const", "enum", "anyOf", "oneOf", "properties"];
        each(&render(&sample.shape, Dialect::LlamaCpp), &mut |schema| {
            assert!(TELLING.iter().any(|&keyword| schema.get(keyword).is_some()), "{schema}");
        });
    }

    #[test]
    fn ollama_is_not_sent_what_it_drops(sample in samples()) {
        each(&render(&sample.shape, Dialect::Ollama), &mut |schema| {
            for keyword in ["const", "default", "additionalProperties"] {
                assert!(schema.get(keyword).is_none(), "{schema}");
            }
        });
    }
}

/// Visits the schema and those in it that describe values.
fn each(schema: &Value, visit: &mut dyn FnMut(&Value)) {
    visit(schema);
    for property in schema["properties"]
        .as_object()
        .into_iter()
        .flat_map(|map| map.values())
    {
        each(property, visit);
    }
    for keyword in ["anyOf", "oneOf"] {
        for alternative in schema[keyword].as_array().into_iter().flatten() {
            each(alternative, visit);
        }
    }
    if let Some(items) = schema.get("items") {
        each(items, visit);
    }
}

fn only(schema: &Value, known: &[&str]) {
    for keyword in schema.as_object().unwrap().keys() {
        assert!(known.contains(&keyword.as_str()), "`{keyword}` in {schema}");
    }
}
