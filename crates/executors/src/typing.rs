//! Sends the input of an `apply` through a pipe.

use serde_json::Value;
use windlass_process::{Process, Signal};
use windlass_protocol::{InputError, Keyboard, Typing};

use crate::ending::input_error;

/// One input action, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stroke {
    Write(Vec<u8>),
    Interrupt,
    CloseInput,
}

/// Types into a program that reads from a pipe. Unsupported keys are refused
/// before anything is sent.
pub(crate) fn type_in(process: &Process, input: &Keyboard) -> Result<(), InputError> {
    let typing = match input {
        Keyboard::Typing(typing) => typing,
        Keyboard::Bytes(bytes) => return process.write(bytes).map_err(|error| input_error(&error)),
    };
    for stroke in strokes(typing)? {
        match stroke {
            Stroke::Write(bytes) => process.write(&bytes).map_err(|error| input_error(&error))?,
            // A signal fails only when there is no program any more.
            Stroke::Interrupt => process
                .signal(Signal::Interrupt)
                .map_err(|_| InputError::Exited)?,
            Stroke::CloseInput => process.close_stdin(),
        }
    }
    Ok(())
}

/// The bytes that a program would read. A signal is represented by its key.
pub(crate) fn bytes(input: &Keyboard) -> Vec<u8> {
    let typing = match input {
        Keyboard::Typing(typing) => typing,
        Keyboard::Bytes(bytes) => return bytes.clone(),
    };
    let mut bytes = Vec::new();
    for stroke in strokes(typing).unwrap_or_default() {
        match stroke {
            Stroke::Write(written) => bytes.extend(written),
            Stroke::Interrupt => bytes.push(3),
            Stroke::CloseInput => bytes.push(4),
        }
    }
    bytes
}

fn strokes(typing: &Typing) -> Result<Vec<Stroke>, InputError> {
    let mut strokes = Vec::new();
    if let Some(input) = &typing.input {
        strokes.push(Stroke::Write(text(input, typing.enter).into_bytes()));
    }
    for key in &typing.keys {
        strokes.push(stroke(key)?);
    }
    Ok(strokes)
}

/// The input text, with a newline unless it ends with Enter or must not be
/// submitted.
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

fn stroke(key: &str) -> Result<Stroke, InputError> {
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
        _ => Err(InputError::NotThroughPipe {
            key: key.to_owned(),
        }),
    }
}

#[cfg(test)]
#[path = "typing_tests.rs"]
mod tests;
