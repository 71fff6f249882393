//! Example files.

use super::*;

#[test]
fn a_test_is_found_in_any_place() {
    assert!(has_test("mod tests {\n    #[test]\n    fn it() {}\n}\n"));
    assert!(has_test(
        "#[tokio::test(start_paused = true)]\nasync fn it() {}\n"
    ));
    assert!(has_test(
        "proptest! {\n    #[test]\n    fn it(a in 0..9) {}\n}\n"
    ));
    assert!(!has_test("// A `#[test]` would be here.\nfn it() {}\n"));
}

#[test]
fn an_example_is_a_block_of_rust_in_the_documentation() {
    assert!(has_example(
        "/// So:\n/// ```\n/// it();\n/// ```\nfn it() {}\n"
    ));
    assert!(has_example("//! ```no_run\n//! it();\n//! ```\n"));
    assert!(!has_example(
        "/// ```text\n/// a -> b\n/// ```\nfn it() {}\n"
    ));
    assert!(!has_example("//! ```toml\n//! a = 1\n//! ```\n"));
    assert!(!has_example("fn it() {}\n// ```\n"));
}

#[test]
fn a_manifest_is_wrong_in_both_directions() {
    let fault = |says, has| {
        Claim {
            key: "doctest",
            says,
            has,
        }
        .fault()
    };
    assert_eq!(fault(true, true), None);
    assert_eq!(fault(false, false), None);
    assert_eq!(
        fault(true, false).as_deref(),
        Some("has no doctest; say `doctest = false` in its manifest, so that none is built")
    );
    assert_eq!(
        fault(false, true).as_deref(),
        Some("says `doctest = false`, but has a doctest, which is never run")
    );
}
