use super::*;

fn check(assignment: &str, json: &str) {
    let text = SourceText {
        name: "test".to_owned(),
        file: None,
        body: assignment.to_owned(),
    };
    let node = parse_assignment(&Arc::new(text)).unwrap();
    assert_eq!(node.to_json().unwrap().to_string(), json, "{assignment}");
}

#[test]
fn an_assignment_takes_a_toml_value_or_a_bare_string() {
    check("a=1", r#"{"a":1}"#);
    check("a.b = true", r#"{"a":{"b":true}}"#);
    check("a.b=ask", r#"{"a":{"b":"ask"}}"#);
    check("a.b=\"ask\"", r#"{"a":{"b":"ask"}}"#);
    check("a=['x', 'y']", r#"{"a":["x","y"]}"#);
    check("a={ b = 2 }", r#"{"a":{"b":2}}"#);
    check("a=x=y", r#"{"a":"x=y"}"#);
    check("a=", r#"{"a":""}"#);
}

#[test]
fn a_key_may_be_quoted_and_a_star_need_not_be() {
    check("tools.*.run=ask", r#"{"tools":{"*":{"run":"ask"}}}"#);
    check("tools.\"*\".run=ask", r#"{"tools":{"*":{"run":"ask"}}}"#);
    check("a.\"x=y\".b=1", r#"{"a":{"x=y":{"b":1}}}"#);
    check("a.\"x.y\"=1", r#"{"a":{"x.y":1}}"#);
}

#[test]
fn what_is_no_assignment_is_a_problem() {
    for assignment in ["", "a", "=1", "a..b=1", "a b=1"] {
        let text = SourceText {
            name: "test".to_owned(),
            file: None,
            body: assignment.to_owned(),
        };
        let problem = parse_assignment(&Arc::new(text)).unwrap_err();
        assert!(
            matches!(problem.kind, ProblemKind::NoAssignment { .. }),
            "{assignment}"
        );
    }
}
