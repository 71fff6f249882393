//! The output of a tool: one JSON value per line, within the line limit.

use std::io::{self, Write};

use windlass_protocol::{ToolAnswer, ToolError, ToolState};

use crate::error::StopReason;
use crate::{Error, Exec};

/// The maximum text per line. Even if every character must be escaped, the line
/// stays within the limit.
const PIECE: usize = 128 << 10;

/// Prints how a one-shot ended.
pub(crate) fn write_result(
    output: &mut dyn Write,
    result: Result<String, Error>,
) -> io::Result<()> {
    match result {
        // It would not be read as protocol any more, and is then plain text.
        Ok(text)
            if text.len() > PIECE && encoded(&stopped(&text)).len() > ToolAnswer::MAX_BYTES =>
        {
            output.write_all(text.as_bytes())?;
            output.flush()
        }
        Ok(text) => write_state(output, &stopped(&text)),
        Err(error) => write_state(output, &state_of(error)),
    }
}

/// Prints how a stateful tool ended.
pub(crate) fn write_last(output: &mut dyn Write, result: Result<String, Error>) -> io::Result<()> {
    match result {
        Ok(text) if text.len() > PIECE => {
            for piece in pieces(&text) {
                let content = Some(piece.to_owned());
                write_state(output, &ToolState::Running { content })?;
            }
            write_state(output, &stopped("done; the result is in the content"))
        }
        Ok(text) => write_state(output, &stopped(&text)),
        Err(error) => write_state(output, &state_of(error)),
    }
}

/// Prints the program to run instead.
pub(crate) fn write_exec(output: &mut dyn Write, exec: Exec) -> io::Result<()> {
    let answer = ToolAnswer::Exec(exec.into_answer());
    writeln!(output, "{}", answer.to_json())?;
    output.flush()
}

/// Prints one state as a line.
pub(crate) fn write_state(output: &mut dyn Write, state: &ToolState) -> io::Result<()> {
    writeln!(output, "{}", encoded(state))?;
    output.flush()
}

/// Splits the text into pieces that fit a line each, at line ends where
/// possible.
pub(crate) fn pieces(mut text: &str) -> impl Iterator<Item = &str> {
    let mut first = true;
    std::iter::from_fn(move || {
        if text.is_empty() && !first {
            return None;
        }
        first = false;
        let cut = text.floor_char_boundary(PIECE);
        let (piece, rest) = match text[..cut].rfind('\n') {
            _ if cut == text.len() => (text, ""),
            // The lines that are printed are joined by line ends.
            Some(end) => (&text[..end], &text[end + 1..]),
            None => text.split_at(cut),
        };
        text = rest;
        Some(piece)
    })
}

fn stopped(text: &str) -> ToolState {
    ToolState::Stopped {
        result: Ok(text.to_owned()),
    }
}

fn state_of(error: Error) -> ToolState {
    match error.into_stop() {
        StopReason::Asks(question) => ToolState::Waiting {
            content: None,
            question: *question,
        },
        StopReason::Aborted => ToolState::Stopped {
            result: Err(ToolError::new("aborted")),
        },
        StopReason::Failed(mut error) => {
            shorten(&mut error.message);
            error.trace.truncate(16);
            error.trace.iter_mut().for_each(|cause| {
                cause.truncate(cause.floor_char_boundary(PIECE / 16));
            });
            ToolState::Stopped { result: Err(error) }
        }
    }
}

fn shorten(message: &mut String) {
    if message.len() > PIECE {
        message.truncate(message.floor_char_boundary(PIECE));
        message.push('…');
    }
}

fn encoded(state: &ToolState) -> String {
    serde_json::to_string(state).expect("a state has only strings for keys")
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
