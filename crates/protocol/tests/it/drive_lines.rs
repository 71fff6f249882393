//! `windlass drive` reads whatever anybody writes to it.

use proptest::prelude::*;
use proptest::sample::select;
use windlass_protocol::DriveInput;

use crate::strategies::{batch, value};

/// A line is understood, or refused in one line of text.
fn check(line: &str) -> Result<(), TestCaseError> {
    if let Err(error) = DriveInput::read(line, 1) {
        let error = error.to_string();
        prop_assert!(!error.is_empty());
        prop_assert!(!error.contains(char::is_control), "{error:?}");
    }
    Ok(())
}

/// An object of the keys that mean something, with values that may not.
fn near_miss() -> impl Strategy<Value = String> {
    let keys = vec![
        "batch",
        "calls",
        "cancel",
        "turn_end",
        "permission",
        "reply",
        "message",
        "arguments",
        "answer",
        "value",
        "inquire",
        "decisions",
        "id",
        "tool",
        "x\n",
    ];
    let words = vec!["once", "per_1", "per_\n", "wait", "b1", "ls", "\r\n"];
    let known = prop_oneof![
        select(words).prop_map(|word| serde_json::json!(word)),
        Just(serde_json::json!(true)),
        Just(serde_json::json!([{"tool": "shell"}])),
        Just(serde_json::json!([{"tool": "shell", "a\nb": 1}])),
        Just(serde_json::json!({"x": "w\nait"})),
        value(),
    ];
    let entry = (select(keys).prop_map(str::to_owned), known);
    prop::collection::vec(entry, 0..5)
        .prop_map(|entries| serde_json::Value::Object(entries.into_iter().collect()).to_string())
}

proptest! {
    #[test]
    fn any_text_is_understood_or_refused_in_one_line(line in any::<String>()) {
        check(&line)?;
    }

    #[test]
    fn any_json_is_understood_or_refused_in_one_line(value in value()) {
        check(&value.to_string())?;
    }

    #[test]
    fn nearly_right_lines_are_understood_or_refused_in_one_line(line in near_miss()) {
        check(&line)?;
    }

    #[test]
    fn a_line_that_was_cut_is_understood_or_refused_in_one_line(
        batch in batch(),
        cut in any::<prop::sample::Index>(),
    ) {
        let line = serde_json::to_string(&batch).unwrap();
        let cut = cut.index(line.len());
        check(&String::from_utf8_lossy(&line.as_bytes()[..cut]))?;
    }

    #[test]
    fn a_batch_is_read_as_it_was_written(batch in batch(), number in any::<u64>()) {
        let line = serde_json::to_string(&batch).unwrap();
        prop_assert_eq!(DriveInput::read(&line, number).unwrap(), DriveInput::Batch { batch, concurrent: false });
    }
}
