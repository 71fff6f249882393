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
