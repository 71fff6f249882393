#![expect(
    clippy::needless_pass_by_value,
    reason = "values are written in place, and read better without a borrow"
)]

use super::*;

fn form(properties: Value, required: Value) -> Vec<Field> {
    let request = json!({
        "mode": "form",
        "message": "Tell us",
        "requestedSchema": {"type": "object", "properties": properties, "required": required},
    });
    match ElicitationForm::of(serde_json::from_value(request).unwrap()) {
        Some(ElicitationForm::Fields(fields)) => fields.fields,
        other => panic!("{other:?}"),
    }
}

fn field(schema: Value, required: bool) -> Field {
    let required = if required { json!(["f"]) } else { json!([]) };
    form(json!({ "f": schema }), required).remove(0)
}

#[test]
fn each_kind_of_field_has_its_answer() {
    let titled = json!({"type": "string", "oneOf": [{"const": "a", "title": "A!"}]});
    let several = json!({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}});
    for (schema, answer, value) in [
        (json!({"type": "boolean"}), json!(true), json!(true)),
        (json!({"type": "string"}), json!("x"), json!("x")),
        (json!({"type": "number"}), json!(" 1.5 "), json!(1.5)),
        (json!({"type": "integer"}), json!("-3"), json!(-3)),
        (
            json!({"type": "string", "enum": ["a"]}),
            json!("a"),
            json!("a"),
        ),
        (titled, json!("A!"), json!("a")),
        (several, json!("b, a"), json!(["b", "a"])),
    ] {
        let field = field(schema.clone(), true);
        let answer = field.question.check(answer).unwrap();
        assert_eq!(field.value(&answer), Ok(Some(value)), "{schema}");
    }
}

#[test]
fn what_does_not_do_says_why() {
    let several = json!({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}});
    for (schema, answer, why) in [
        (
            json!({"type": "integer"}),
            "1.5",
            "\"1.5\" is not a whole number",
        ),
        (json!({"type": "number"}), "inf", "\"inf\" is not a number"),
        (several, "a, c", "\"c\" is not one of: a, b"),
    ] {
        let misfit = field(schema, true).value(&json!(answer)).unwrap_err();
        assert_eq!(misfit.to_string(), why);
    }
}

#[test]
fn an_optional_field_can_be_left_out() {
    let optional = field(json!({"type": "integer"}), false);
    assert_eq!(optional.question.default, Some(json!("")));
    assert_eq!(optional.value(&json!("")), Ok(None));
    let with_default = field(json!({"type": "integer", "default": 4}), false);
    assert_eq!(with_default.question.default, Some(json!("4")));
    assert!(
        field(json!({"type": "integer"}), true)
            .value(&json!(""))
            .is_err()
    );
}

#[test]
fn a_default_is_shown_as_the_options_are() {
    let titled = json!({
        "type": "string",
        "oneOf": [{"const": "a", "title": "A!"}, {"const": "b", "title": "B!"}],
        "default": "b",
    });
    let field = field(titled, true);
    assert_eq!(field.question.default, Some(json!("B!")));
    let options = ["A!", "B!"].map(str::to_owned).to_vec();
    assert_eq!(field.question.answer_type, AnswerType::Select { options });
}

#[test]
fn a_question_says_what_the_form_and_the_field_say() {
    let text = |schema: Value| field(schema, true).question.text;
    assert_eq!(text(json!({"type": "string"})), "Tell us");
    assert_eq!(
        text(json!({"type": "string", "title": "Name", "description": "yours"})),
        "Tell us (Name: yours)"
    );
    let two = form(
        json!({"a": {"type": "string"}, "b": {"type": "string"}}),
        json!([]),
    );
    let texts: Vec<_> = two.iter().map(|field| &*field.question.text).collect();
    assert_eq!(texts, ["Tell us (a)", "Tell us (b)"]);
}

#[test]
fn an_address_to_visit_is_a_question_of_yes_or_no() {
    let request = json!({
        "mode": "url", "message": "Sign in.", "url": "https://example.com/x", "elicitationId": "1",
    });
    match ElicitationForm::of(serde_json::from_value(request).unwrap()) {
        Some(ElicitationForm::Consent(question)) => {
            assert_eq!(question.answer_type, AnswerType::Boolean);
            assert!(question.text.contains("https://example.com/x"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_form_can_be_filled_in_whole_from_any_field_on() {
    let properties = json!({
        "a": {"type": "string"},
        "b": {"type": "integer", "default": 3},
        "c": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}},
    });
    let request = json!({
        "mode": "form",
        "message": "Tell us",
        "requestedSchema": {"type": "object", "properties": properties, "required": ["a", "b"]},
    });
    let Some(ElicitationForm::Fields(form)) =
        ElicitationForm::of(serde_json::from_value(request).unwrap())
    else {
        panic!("it has fields");
    };
    let whole = form.rest(0);
    assert_eq!(whole.message, "Tell us");
    assert_eq!(whole.schema["properties"], properties);
    let rest = form.rest(1);
    assert_eq!(rest.schema["required"], json!(["b"]));
    assert!(rest.schema["properties"].get("a").is_none());
    let values = |filled, answer: Value| form.values(filled, answer.as_object().unwrap());
    let all = json!({"a": "z", "b": 4, "c": ["y"], "unknown": 1});
    assert_eq!(
        json!(values(0, all).unwrap()),
        json!({"a": "z", "b": 4, "c": ["y"]})
    );
    // People and models write numbers as text.
    let written = json!({"b": "5", "c": null});
    assert_eq!(json!(values(1, written).unwrap()), json!({"b": 5}));
    assert_eq!(
        values(1, json!({"c": ["x"]})),
        Err(FieldMisfit::Missing("b".to_owned()))
    );
}
