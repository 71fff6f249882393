use super::*;

fn read(printed: &str) -> Result<SchemaAnswer, SelfDescriptionError> {
    SchemaAnswer::read("it", printed.as_bytes())
}

fn error(printed: &str, name: &str) -> String {
    let found = read(printed).and_then(|answer| answer.find(name));
    found.unwrap_err().to_string()
}

#[test]
fn a_tool_is_found_by_its_name() {
    let answer = read(r#" {"tools":[{"name":"a"},{"name":"b","summary":"B."}]} "#).unwrap();
    assert_eq!(answer.names(), ["a", "b"]);
    assert_eq!(answer.find("b").unwrap().summary.as_deref(), Some("B."));
    let again = SchemaAnswer::from_value("it", answer.as_value().clone()).unwrap();
    assert_eq!(again, answer);
}

#[test]
fn a_bad_entry_is_met_only_by_those_who_want_it() {
    let printed = r#"{"tools":[{"name":"a"},{"name":"b","parameters":3},{"summary":"nameless"}]}"#;
    assert!(read(printed).unwrap().find("a").is_ok());
    let told = error(printed, "b");
    assert!(
        told.starts_with("`it` gives an invalid description of `b`: "),
        "{told}"
    );
}

#[test]
fn names_are_reported_up_to_a_dozen() {
    let names: Vec<String> = (0..15).map(|n| format!(r#"{{"name":"x{n}"}}"#)).collect();
    let told = error(&format!(r#"{{"tools":[{}]}}"#, names.join(",")), "zebra");
    assert!(told.ends_with("`x11` and 3 more"), "{told}");
}

#[test]
fn what_is_long_is_reported_by_its_beginning() {
    let told = error(&"y".repeat(5000), "a");
    assert!(told.len() < 250, "{told}");
    assert!(told.contains("y…`, which is not JSON"), "{told}");
}
