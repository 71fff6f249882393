use super::*;

#[test]
fn a_title_is_the_name_as_words() {
    assert_eq!(title("describe_tools"), "Describe tools");
    assert_eq!(title("x"), "X");
}

#[test]
fn what_structured_content_looks_like_names_no_format() {
    for schema in [schema_of::<AwaitReply>(), schema_of::<HandleView>()] {
        let schema = Value::Object(schema).to_string();
        assert!(!schema.contains("\"format\""), "{schema}");
    }
}

/// A tool as another server lists it.
fn listed(input_schema: &Value) -> ToolDefinition {
    let mut definition = ToolDefinition::new("x");
    definition.shape.one_shot = true;
    definition.shape.parameters = Parameters::from_object_schema(input_schema);
    definition.listed = Some(Box::new(windlass_protocol::ListedTool {
        input_schema: input_schema.clone(),
        ..windlass_protocol::ListedTool::default()
    }));
    definition
}

#[test]
fn a_schema_that_says_more_than_parameters_is_shown_as_its_server_wrote_it() {
    let either = json!([{"required": ["a"]}, {"required": ["b"]}]);
    let properties = json!({"a": {"type": "string"}, "b": {"type": "string"}});
    let schema = json!({"type": "object", "properties": properties, "anyOf": either});
    let mut definition = listed(&schema);
    assert_eq!(Value::Object(input_schema(&definition)), schema);
    // A table overrides the default.
    let parameters = &mut definition.shape.parameters;
    parameters
        .properties
        .insert("a".to_owned(), json!({"type": "integer"}));
    let shown = input_schema(&definition);
    assert_eq!(shown["properties"]["a"], json!({"type": "integer"}));
    assert!(!shown.contains_key("anyOf"));
}

#[test]
fn a_tool_that_only_reads_destroys_nothing() {
    let mut definition = listed(&json!({"type": "object"}));
    assert_eq!(annotations(&definition).read_only_hint, Some(false));
    definition.listed.as_mut().unwrap().destructive = Some(true);
    assert_eq!(annotations(&definition).destructive_hint, Some(true));
    definition.only_reads = true;
    assert_eq!(annotations(&definition).read_only_hint, Some(true));
    assert_eq!(annotations(&definition).destructive_hint, None);
}
