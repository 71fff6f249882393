use super::*;

#[test]
fn a_test_is_named_by_its_thread() {
    let name = test_name("it::vectors::check::here", Some("vectors::a_flood"));
    assert_eq!(name, "vectors::a_flood");
}

#[test]
fn a_test_without_a_thread_of_its_own_is_named_by_what_is_in_it() {
    let named = "it::deaths::none_is_left::here";
    for here in [named, "it::deaths::none_is_left::{{closure}}::here"] {
        for thread in [Some("main"), None] {
            assert_eq!(test_name(here, thread), "deaths::none_is_left");
        }
    }
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
