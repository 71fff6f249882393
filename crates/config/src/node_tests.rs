use super::*;

fn parse(toml: &str) -> Node {
    let text = SourceText {
        name: "test".to_owned(),
        file: None,
        body: toml.to_owned(),
    };
    Node::parse(&Arc::new(text)).unwrap()
}

fn check_merge(lower: &str, upper: &str, merged: &str) {
    let mut node = parse(lower);
    node.merge(parse(upper));
    assert_eq!(
        node.to_json().unwrap(),
        parse(merged).to_json().unwrap(),
        "{lower} + {upper}"
    );
}

#[test]
fn tables_merge_and_everything_else_is_replaced() {
    check_merge(
        "a.b = 1\na.c = 2",
        "a.c = 3\na.d = 4",
        "a = { b = 1, c = 3, d = 4 }",
    );
    check_merge("a = [1, 2]", "a = [3]", "a = [3]");
    check_merge("a = 1", "a.b = 2", "a.b = 2");
    check_merge("a.b = 2", "a = 1", "a = 1");
    check_merge("[[a]]\nb = 1", "[[a]]\nc = 2", "a = [{ c = 2 }]");
}

#[test]
fn keys_keep_the_order_in_which_they_were_written() {
    let node = parse("[t.z]\nq = 1\n[t.a]\n[t.m]\n[t.z.inner]\nb = 1\na = 1");
    let json = serde_json::to_string(&node.to_json().unwrap()).unwrap();
    assert_eq!(
        json,
        r#"{"t":{"z":{"q":1,"inner":{"b":1,"a":1}},"a":{},"m":{}}}"#
    );
}

#[test]
fn numbers_are_read_in_every_notation() {
    let node = parse("a = 0xff\nb = 1_000\nd = 1e3\ne = 0o17\nf = 0b11\ng = -5");
    let json = serde_json::to_string(&node.to_json().unwrap()).unwrap();
    assert_eq!(json, r#"{"a":255,"b":1000,"d":1000.0,"e":15,"f":3,"g":-5}"#);
}

#[test]
fn a_number_beyond_64_bits_is_a_problem_and_not_a_panic() {
    let text = SourceText {
        name: "test".to_owned(),
        file: None,
        body: "a = 99999999999999999999".to_owned(),
    };
    let problems = Node::parse(&Arc::new(text)).unwrap_err();
    insta::assert_snapshot!(problems[0], @"
    test: `99999999999999999999` must be a number of at most 64 bits, not a larger one
    1 | a = 99999999999999999999
      |     ^^^^^^^^^^^^^^^^^^^^
    ");
}

#[test]
fn json_has_no_infinity() {
    assert!(parse("a = [inf]").to_json().is_err());
    assert!(parse("a = { b = nan }").to_json().is_err());
}
