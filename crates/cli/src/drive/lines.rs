//! Lines from stdin, read by a thread of its own and never too long.

use std::io::{BufRead, BufReader, Read};

use tokio::sync::mpsc;

use super::fault::DriveFault;

/// The longest line that is taken.
const LONGEST: usize = 8 << 20;
/// How many lines may wait to be taken.
const AHEAD: usize = 64;

/// A line, or what is wrong with it.
#[derive(Debug)]
pub(crate) enum Line {
    Text(String),
    Bad(DriveFault),
}

/// Reads stdin until its end, which closes the channel.
pub(crate) fn read_stdin() -> mpsc::Receiver<Line> {
    let (sender, receiver) = mpsc::channel(AHEAD);
    std::thread::spawn(move || {
        let mut input = BufReader::with_capacity(64 << 10, std::io::stdin().lock());
        while let Some(line) = next(&mut input) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

fn next(input: &mut impl BufRead) -> Option<Line> {
    let mut bytes = Vec::new();
    let mut limited = input.by_ref().take(LONGEST as u64 + 1);
    match limited.read_until(b'\n', &mut bytes) {
        Ok(0) | Err(_) => return None,
        Ok(_) => {}
    }
    if bytes.len() > LONGEST && !bytes.ends_with(b"\n") {
        skip_line(input)?;
        return Some(Line::Bad(DriveFault::TooLong { most: LONGEST }));
    }
    if bytes.ends_with(b"\n") {
        bytes.pop();
    }
    Some(match String::from_utf8(bytes) {
        Ok(text) => Line::Text(text),
        Err(_) => Line::Bad(DriveFault::NotUtf8),
    })
}

/// Skips the rest of a line; `None` when the input cannot be read.
fn skip_line(input: &mut impl BufRead) -> Option<()> {
    loop {
        let buffer = input.fill_buf().ok()?;
        if buffer.is_empty() {
            return Some(());
        }
        let length = buffer.len();
        if let Some(end) = buffer.iter().position(|byte| *byte == b'\n') {
            input.consume(end + 1);
            return Some(());
        }
        input.consume(length);
    }
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
