//! Reads lines of limited length from the driver. A separate thread reads
//! stdin.

use std::io::{BufRead, BufReader, Read};

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _};
use tokio::sync::mpsc;

use super::fault::DriveFault;

/// The maximum length of a line.
const LONGEST: usize = 8 << 20;
/// How many lines are read ahead.
const AHEAD: usize = 64;

/// A line, or its error.
#[derive(Debug)]
pub(crate) enum DriveLine {
    Text(String),
    Bad(DriveFault),
}

/// Reads stdin to its end, which closes the channel.
pub(crate) fn read_stdin() -> mpsc::Receiver<DriveLine> {
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

/// Reads a connection to its end, which closes the channel.
pub(crate) fn read_connection(
    reader: impl AsyncRead + Unpin + Send + 'static,
) -> mpsc::Receiver<DriveLine> {
    let (sender, receiver) = mpsc::channel(AHEAD);
    tokio::spawn(async move {
        let mut input = tokio::io::BufReader::with_capacity(64 << 10, reader);
        loop {
            let mut bytes = Vec::new();
            let mut limited = (&mut input).take(LONGEST as u64 + 1);
            match limited.read_until(b'\n', &mut bytes).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            let is_long = bytes.len() > LONGEST && !bytes.ends_with(b"\n");
            while is_long && !bytes.ends_with(b"\n") {
                bytes.clear();
                let mut limited = (&mut input).take(64 << 10);
                if !matches!(limited.read_until(b'\n', &mut bytes).await, Ok(1..)) {
                    break;
                }
            }
            let line = if is_long {
                DriveLine::Bad(DriveFault::TooLong { most: LONGEST })
            } else {
                DriveLine::of(bytes)
            };
            if sender.send(line).await.is_err() {
                return;
            }
        }
    });
    receiver
}

impl DriveLine {
    /// A line with or without the newline at its end.
    fn of(mut bytes: Vec<u8>) -> Self {
        if bytes.ends_with(b"\n") {
            bytes.pop();
        }
        match String::from_utf8(bytes) {
            Ok(text) => Self::Text(text),
            Err(_) => Self::Bad(DriveFault::NotUtf8),
        }
    }
}

fn next(input: &mut impl BufRead) -> Option<DriveLine> {
    let mut bytes = Vec::new();
    let mut limited = input.by_ref().take(LONGEST as u64 + 1);
    match limited.read_until(b'\n', &mut bytes) {
        Ok(0) | Err(_) => return None,
        Ok(_) => {}
    }
    if bytes.len() > LONGEST && !bytes.ends_with(b"\n") {
        skip_line(input)?;
        return Some(DriveLine::Bad(DriveFault::TooLong { most: LONGEST }));
    }
    Some(DriveLine::of(bytes))
}

/// Skips the rest of a line; `None` if the input cannot be read.
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
