//! Records a terminal as an asciicast v2 file.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Instant, SystemTime};

use serde_json::json;
use windlass_process::TerminalSize;

/// A recording in progress. Write errors end the recording, not the program.
pub(crate) struct RecordingFile {
    file: Option<BufWriter<File>>,
    began: Instant,
    /// The start of an incomplete character.
    held: Vec<u8>,
}

impl RecordingFile {
    pub(crate) fn new(path: &Path, size: TerminalSize) -> Self {
        let mut recording = Self {
            file: create(path).ok().map(BufWriter::new),
            began: Instant::now(),
            held: Vec::new(),
        };
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let header = json!({
            "version": 2,
            "width": size.cols,
            "height": size.rows,
            "timestamp": now.map_or(0, |now| now.as_secs()),
            "env": {"TERM": "xterm-256color"},
        });
        recording.line(&header.to_string());
        recording
    }

    /// Records program output, split at any point.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.held.extend_from_slice(bytes);
        let whole = whole_characters(&self.held);
        let text = String::from_utf8_lossy(&self.held[..whole]).into_owned();
        self.held.drain(..whole);
        if !text.is_empty() {
            let seconds = self.began.elapsed().as_secs_f64();
            self.line(&json!([seconds, "o", text]).to_string());
        }
    }

    fn line(&mut self, line: &str) {
        let written = self.file.as_mut().map(|file| {
            file.write_all(line.as_bytes())
                .and_then(|()| file.write_all(b"\n"))
                .and_then(|()| file.flush())
        });
        if matches!(written, Some(Err(_))) {
            self.file = None;
        }
    }
}

fn create(path: &Path) -> std::io::Result<File> {
    if let Some(folder) = path.parent() {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
    }
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

/// The number of bytes before an incomplete character at the end.
fn whole_characters(bytes: &[u8]) -> usize {
    let Some(last) = bytes.utf8_chunks().last() else {
        return 0;
    };
    let rest = last.invalid();
    // What is wrong and cannot become right by what follows is replaced.
    let cut = std::str::from_utf8(rest).is_err_and(|error| error.error_len().is_none());
    bytes.len() - if cut { rest.len() } else { 0 }
}

#[cfg(test)]
#[path = "recording_tests.rs"]
mod tests;
