use serde_json::json;

use super::*;

#[track_caller]
fn check(typing: &Typing, expected: &[Stroke]) {
    assert_eq!(strokes(typing).unwrap(), expected);
}

fn write(text: &str) -> Stroke {
    Stroke::Write(text.as_bytes().to_vec())
}

fn keys(keys: &[&str]) -> Typing {
    Typing {
        input: None,
        enter: true,
        keys: keys.iter().map(|key| (*key).to_owned()).collect(),
    }
}

#[test]
fn input_is_submitted_once() {
    check(&Typing::input("y"), &[write("y\n")]);
    check(&Typing::input("y\n"), &[write("y\n")]);
    check(&Typing::input(""), &[write("\n")]);
    let typing = Typing {
        enter: false,
        ..Typing::input("y")
    };
    check(&typing, &[write("y")]);
}

#[test]
fn other_values_are_written_as_json() {
    let typing = |input: Value| Typing {
        input: Some(input),
        ..keys(&[])
    };
    check(
        &typing(json!({"a": [1, null]})),
        &[write("{\"a\":[1,null]}\n")],
    );
    check(&typing(json!(true)), &[write("true\n")]);
}

#[test]
fn keys_follow_the_input() {
    let typing = Typing {
        input: Some(json!("x")),
        enter: false,
        ..keys(&[
            "é", "Enter", "TAB", "space", "esc", "ctrl-c", "eof", "ctrl-d",
        ])
    };
    check(
        &typing,
        &[
            write("x"),
            write("é"),
            write("\n"),
            write("\t"),
            write(" "),
            write("\x1b"),
            Stroke::Interrupt,
            Stroke::CloseInput,
            Stroke::CloseInput,
        ],
    );
}

#[test]
fn keys_that_a_pipe_cannot_carry_are_refused() {
    for key in ["down", "f1", "ctrl-x", "", "ab"] {
        let error = strokes(&keys(&["a", key])).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("`{key}` cannot be sent")),
            "{error}"
        );
        assert!(error.contains("ctrl-c, ctrl-d, eof, enter"), "{error}");
    }
}
