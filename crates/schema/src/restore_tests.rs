use serde_json::json;
use windlass_protocol::Parameters;

use super::*;

/// The arguments come back as expected.
#[track_caller]
fn check(dialect: Dialect, schema: Value, written: Value, expected: &Value) {
    let shape = ToolShape {
        parameters: Parameters {
            properties: [("p".to_owned(), schema)].into(),
            ..Parameters::default()
        },
        ..ToolShape::default()
    };
    let arguments = Arguments::from_iter([("p".to_owned(), written)]);
    assert_eq!(&restore(&shape, dialect, arguments)["p"], expected);
}

#[test]
fn text_becomes_the_value_it_stands_for() {
    let strict = Dialect::OpenAiStrict;
    check(strict, json!({}), json!("[1, null]"), &json!([1, null]));
    check(strict, json!({}), json!("no JSON"), &json!("no JSON"));
    let object = || json!({ "type": "object" });
    check(strict, object(), json!("{\"a\":1}"), &json!({ "a": 1 }));
    check(strict, object(), json!("5"), &json!("5"));
    check(strict, json!({ "type": "string" }), json!("5"), &json!("5"));
}

#[test]
fn modern_gemini_writes_objects_as_they_are() {
    let object = || json!({ "type": "object" });
    check(Dialect::Gemini, object(), json!("{}"), &json!("{}"));
    check(Dialect::GeminiLegacy, object(), json!("{}"), &json!({}));
    check(Dialect::Gemini, json!({}), json!("{}"), &json!({}));
}

#[test]
fn a_null_inside_an_object_is_absent_unless_admitted_or_required() {
    let schema = || {
        json!({
            "type": "object",
            "properties": {
                "absent": { "type": "string" },
                "text": {},
                "nullable": { "type": ["string", "null"] },
                "required": { "type": "string" }
            },
            "required": ["required"]
        })
    };
    let written = || json!({ "absent": null, "text": null, "nullable": null, "required": null });
    check(
        Dialect::OpenAiStrict,
        schema(),
        written(),
        &json!({ "nullable": null, "required": null }),
    );
    check(Dialect::GeminiLegacy, schema(), written(), &written());
}

#[test]
fn the_alternative_is_reported_by_its_tag() {
    let alternative = |tag: &str, inner: Value| {
        json!({
            "type": "object",
            "properties": { "tag": { "const": tag }, "value": inner },
            "required": ["tag", "value"]
        })
    };
    let schema = || json!({ "oneOf": [alternative("a", json!({ "type": "string" })), alternative("b", json!({}))] });
    for (tag, expected) in [("a", json!("5")), ("b", json!(5))] {
        check(
            Dialect::OpenAiStrict,
            schema(),
            json!({ "tag": tag, "value": "5" }),
            &json!({ "tag": tag, "value": expected }),
        );
    }
}

#[test]
fn a_string_that_is_admitted_as_one_stays_one() {
    let schema = || json!({ "anyOf": [{ "type": "string" }, { "type": "object" }] });
    check(Dialect::OpenAiStrict, schema(), json!("{}"), &json!("{}"));
    let schema = || json!({ "anyOf": [{ "type": "integer" }, { "type": "object" }] });
    check(Dialect::OpenAiStrict, schema(), json!("{}"), &json!({}));
}

#[test]
fn other_dialects_change_nothing() {
    for dialect in [
        Dialect::JsonSchema,
        Dialect::Anthropic,
        Dialect::Mcp,
        Dialect::Ollama,
    ] {
        check(dialect, json!({}), json!("{}"), &json!("{}"));
    }
}
