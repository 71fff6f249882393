//! Example tests.

/// The faults in a test file, without its path.
fn check(text: &str) -> Vec<String> {
    found("crates/x/tests/it/y.rs", text)
}

fn found(path: &str, text: &str) -> Vec<String> {
    let found = super::leavings(path, text).unwrap();
    let prefix = format!("`{path}`:");
    let short = |fault: String| {
        let fault = fault.replace(&prefix, "");
        fault.split(" returns").next().unwrap().to_owned()
    };
    found.faults.into_iter().map(short).collect()
}

#[test]
fn a_test_does_not_return() {
    for attribute in [
        "test",
        "tokio::test",
        "tokio::test(flavor = \"multi_thread\")",
    ] {
        let text =
            format!("#[{attribute}]\nasync fn it_works() {{\n    if slow() {{ return; }}\n}}");
        assert_eq!(check(&text), ["3 `it_works`"], "{attribute}");
    }
}

#[test]
fn neither_by_let_else_nor_in_a_loop_nor_with_a_value() {
    for body in [
        "let Some(x) = x() else { return };",
        "for x in y { return; }",
        "match x { 1 => return done(), _ => {} }",
        "tokio::select! { () = x => return }",
    ] {
        assert_eq!(check(&format!("#[test] fn a() {{ {body} }}")), ["1 `a`"]);
    }
}

#[test]
fn closures_blocks_and_functions_within_may() {
    for body in [
        "let x = || return 1;",
        "let x = async { return 1; };",
        "fn x() -> u32 { return 1; }",
        "needs!(\"git\"); if y { skip!(\"why\"); }",
    ] {
        let nothing: [&str; 0] = [];
        assert_eq!(check(&format!("#[test] fn a() {{ {body} }}")), nothing);
    }
}

#[test]
fn a_part_of_a_test_returns_only_from_its_waiting() {
    let waits = "fn until() { loop { if x() { return; } assert!(y()); } }";
    let gives = "fn value() -> Option<u32> { return None; }";
    let plain = "fn work() { if x() { return; } y(); }";
    let leaves = "fn part() { if x() { return; } assert!(y()); }";
    let method = "impl X { async fn part(&self) { if x() { return; } assert!(y()); } }";
    assert_eq!(check(&[waits, gives, plain].concat()), [""; 0]);
    assert_eq!(check(leaves), ["1 `part`"]);
    assert_eq!(check(method), ["1 `part`"]);
}

#[test]
fn only_test_code_is_looked_at() {
    let part = "fn part() { if x() { return; } assert!(y()); }";
    let within = format!("#[cfg(test)]\nmod tests {{ {part} }}");
    assert_eq!(found("crates/x/src/y.rs", part), [""; 0]);
    assert_eq!(found("crates/x/src/y.rs", &within), ["2 `part`"]);
    assert_eq!(found("crates/x/src/y_tests.rs", part), ["1 `part`"]);
}

#[test]
fn properties_and_macros_are_looked_through() {
    let property = "proptest! { #[test] fn a(x in 0..3) { if x == 1 { return Ok(()); } } }";
    assert_eq!(check(property), ["1 `proptest!`"]);
    let made = "macro_rules! leave { () => { return } }";
    assert_eq!(check(made), ["1 `leave!`"]);
}

#[test]
fn an_ignored_test_is_run_by_its_name() {
    let check = |text: &str| {
        let source = ("crates/x/tests/it/y.rs".to_owned(), text.to_owned());
        super::check(&[source]).unwrap()
    };
    let ignored = "#[test]\n#[ignore = \"a part\"]\nfn played() {}\n";
    let faults = check(ignored);
    assert!(
        matches!(&faults[..], [fault] if fault.ends_with("the test `played` is ignored, and nothing runs it by its name")),
        "{faults:?}"
    );
    for run in [
        "run_alone(\"it::played\")",
        "sh(\"it --exact it::played --ignored\")",
    ] {
        let run = format!("#[test]\nfn it_is_played() {{ {run} }}");
        assert_eq!(check(&[ignored, &run].concat()), [""; 0]);
    }
    let other = "#[test]\nfn other() { run_alone(\"it::played_again\") }";
    assert_eq!(check(&[ignored, other].concat()).len(), 1);
}
