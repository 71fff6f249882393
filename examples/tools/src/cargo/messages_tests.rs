use super::*;

fn read(lines: &str) -> (Messages, Vec<String>) {
    let mut messages = Messages::default();
    let mut told = Vec::new();
    for message in Message::parse_stream(lines.as_bytes()) {
        told.extend(messages.take(message.unwrap()));
    }
    (messages, told)
}

const FAILURE: &str = "
running 3 tests
test sums ... ok
test differs ... FAILED
test slow ... ignored

failures:

---- differs stdout ----

thread 'differs' panicked at src/lib.rs:9:5:
assertion failed: 1 == 2


failures:
    differs

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
";

#[test]
fn failed_tests_come_with_what_they_said() {
    let (messages, told) = read(FAILURE);
    assert_eq!(told, ["test failed: differs"]);
    let error = messages.conclude(false, &[]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "0 errors, 0 warnings, 1 passed, 1 failed, 1 ignored\n\
         test failed: differs\n  \
         thread 'differs' panicked at src/lib.rs:9:5:\n  \
         assertion failed: 1 == 2"
    );
}

#[test]
fn counts_of_several_binaries_are_added() {
    let result = "test result: ok. 3 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out\n";
    let (messages, _) = read(&result.repeat(2));
    assert_eq!(
        messages.conclude(true, &[]).unwrap(),
        "0 errors, 0 warnings, 6 passed, 0 failed, 4 ignored"
    );
}

#[test]
fn where_no_compiler_spoke_cargo_itself_is_quoted() {
    let said = ["error: could not find `Cargo.toml`".to_owned()];
    let error = Messages::default().conclude(false, &said).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cargo failed\nerror: could not find `Cargo.toml`"
    );
}
