//! What an `apply` sends through a pipe.

use serde_json::Value;
use windlass_process::{Process, Signal, SignalError, WriteError};
use windlass_protocol::Typing;

/// One thing to do to a program, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stroke {
    Write(Vec<u8>),
    Interrupt,
    CloseInput,
}

/// Types into a program that reads from a pipe. Keys that cannot be are
/// refused before anything is typed.
pub(crate) fn type_in(process: &Process, typing: &Typing) -> Result<(), String> {
    for stroke in strokes(typing)? {
        match stroke {
            Stroke::Write(bytes) => process
                .write(&bytes)
                .map_err(|error: WriteError| error.to_string())?,
            Stroke::Interrupt => process
                .signal(Signal::Interrupt)
                .map_err(|error: SignalError| error.to_string())?,
            Stroke::CloseInput => process.close_stdin(),
        }
    }
    Ok(())
}

fn strokes(typing: &Typing) -> Result<Vec<Stroke>, String> {
    let mut strokes = Vec::new();
    if let Some(input) = &typing.input {
        strokes.push(Stroke::Write(text(input, typing.enter).into_bytes()));
    }
    for key in &typing.keys {
        strokes.push(stroke(key)?);
    }
    Ok(strokes)
}

/// The input as it is typed, submitted unless it ends in Enter or is not to
/// be.
fn text(input: &Value, enter: bool) -> String {
    let mut text = match input {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if enter && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

fn stroke(key: &str) -> Result<Stroke, String> {
    let mut characters = key.chars();
    if let (Some(character), None) = (characters.next(), characters.next()) {
        return Ok(Stroke::Write(character.to_string().into_bytes()));
    }
    match key.to_ascii_lowercase().as_str() {
        "ctrl-c" => Ok(Stroke::Interrupt),
        "ctrl-d" | "eof" => Ok(Stroke::CloseInput),
        "enter" => Ok(Stroke::Write(b"\n".to_vec())),
        "tab" => Ok(Stroke::Write(b"\t".to_vec())),
        "space" => Ok(Stroke::Write(b" ".to_vec())),
        "esc" => Ok(Stroke::Write(b"\x1b".to_vec())),
        _ => Err(format!(
            "`{key}` cannot be sent through a pipe; \
             ctrl-c, eof, enter, tab, space, esc and single characters can"
        )),
    }
}

#[cfg(test)]
#[path = "typing_tests.rs"]
mod tests;
