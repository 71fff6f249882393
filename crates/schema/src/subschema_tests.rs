use super::*;

#[test]
fn names_and_data_are_not_taken_for_keywords() {
    let schema = json!({
        "properties": { "items": { "type": "string" } },
        "default": { "items": 1 },
        "enum": [{ "not": {} }],
        "items": [{ "a": 1 }],
        "anyOf": [{ "b": 1 }],
        "additionalProperties": false,
    });
    let mut seen = Vec::new();
    let same = map_subschemas(schema.clone(), &mut |part| {
        seen.push(part.clone());
        part
    });
    assert_eq!(same, schema);
    let expected = [
        json!({ "type": "string" }),
        json!({ "a": 1 }),
        json!({ "b": 1 }),
        json!(false),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn a_sentence_follows_what_is_said_already() {
    let described = |mut schema: Value| {
        describe(&mut schema, "More.");
        schema
    };
    assert_eq!(described(json!({})), json!({ "description": "More." }));
    assert_eq!(described(json!(true)), json!({ "description": "More." }));
    assert_eq!(
        described(json!({ "description": "One" })),
        json!({ "description": "One. More." })
    );
    assert_eq!(
        described(json!({ "description": "One. " })),
        json!({ "description": "One. More." })
    );
    assert_eq!(described(json!(false)), json!(false));
}

#[test]
fn const_becomes_a_list_of_one_in_its_place() {
    let mut schema = json!({ "type": "string", "const": "a", "title": "A", "enum": ["a", "b"] });
    const_to_enum(schema.as_object_mut().unwrap());
    assert_eq!(
        schema.to_string(),
        r#"{"type":"string","enum":["a"],"title":"A"}"#
    );
}
