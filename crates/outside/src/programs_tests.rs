use super::*;

#[test]
fn a_test_is_named_by_what_is_in_it() {
    assert_eq!(test_name("it::deaths::none_is_left::here"), "none_is_left");
    assert_eq!(
        test_name("it::deaths::none_is_left::{{closure}}::here"),
        "none_is_left"
    );
}

#[test]
fn a_program_that_is_there_is_used() {
    crate::needs!("sh");
    assert!(has_program("here", "sh"));
}

#[test]
#[should_panic(expected = "`no-such-program` is not installed")]
fn a_missing_program_that_nobody_listed_fails_the_test() {
    has_program("here", "no-such-program");
}
