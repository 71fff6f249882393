use serde_json::{Value, json};

use super::*;

fn printed(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
    let mut output = Vec::new();
    write(&mut output).unwrap();
    String::from_utf8(output).unwrap()
}

fn states(printed: &str) -> Vec<Value> {
    let lines = printed.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_result_is_one_line() {
    let text = printed(|output| write_result(output, Ok("a\nb".to_owned())));
    assert_eq!(
        text,
        "{\"type\":\"stopped\",\"result\":{\"Ok\":\"a\\nb\"}}\n"
    );
}

#[test]
fn an_error_says_all_it_knows() {
    let error = Error::from("no network")
        .context("cannot fetch")
        .transient();
    let text = printed(|output| write_result(output, Err(error)));
    assert_eq!(
        states(&text),
        [json!({
            "type": "stopped",
            "result": {"Err": {"message": "cannot fetch", "trace": ["no network"], "transient": true}},
        })]
    );
}

#[test]
fn a_result_that_outgrows_the_protocol_is_plain_text() {
    let long = "\u{1}".repeat(ToolAnswer::MAX_BYTES / 4);
    let text = printed(|output| write_result(output, Ok(long.clone())));
    assert_eq!(text, long);
}

#[test]
fn no_error_outgrows_the_protocol() {
    let long = || "\u{1}".repeat(ToolAnswer::MAX_BYTES);
    let mut error = Error::new(long());
    for _ in 0..40 {
        error = error.context(long());
    }
    let text = printed(|output| write_result(output, Err(error)));
    assert!(text.len() <= 2 * ToolAnswer::MAX_BYTES, "{}", text.len());
    let state: ToolState = serde_json::from_str(&text).unwrap();
    assert!(state.is_stopped());
}

#[test]
fn a_long_last_word_of_a_stateful_tool_comes_in_pieces() {
    let long = format!("{}\n", "line\n".repeat(PIECE));
    let text = printed(|output| write_last(output, Ok(long.clone())));
    let states = states(&text);
    let (last, pieces) = states.split_last().unwrap();
    assert_eq!(last["type"], json!("stopped"));
    let pieces: Vec<&str> = pieces
        .iter()
        .map(|state| state["content"].as_str().unwrap())
        .collect();
    assert!(pieces.len() > 4);
    // Whole megabytes would be no help in a message.
    assert!(pieces.join("\n").trim_end() == long.trim_end());
}

#[test]
fn pieces_end_at_line_ends_and_lose_nothing() {
    for text in ["", "short", "two\nlines\n"] {
        assert_eq!(pieces(text).collect::<Vec<_>>(), [text]);
    }
    let unbroken = "ü".repeat(PIECE);
    let cut: Vec<&str> = pieces(&unbroken).collect();
    assert_eq!(cut.concat(), unbroken);
    assert!(cut.iter().all(|piece| piece.len() <= PIECE));
}

#[test]
fn an_exec_is_what_a_host_reads() {
    let exec = Exec::terminal("git")
        .args(["add", "--patch"])
        .env("A", "b")
        .cwd("sub");
    let text = printed(|output| write_exec(output, exec.clone()));
    assert_eq!(
        states(&text),
        [json!({
            "type": "exec",
            "program": "git",
            "args": ["add", "--patch"],
            "io": "terminal",
            "cwd": "sub",
            "env": {"A": "b"},
        })]
    );
    assert_eq!(
        ToolAnswer::read(&text).unwrap().unwrap(),
        ToolAnswer::Exec(exec.into_answer())
    );
}
