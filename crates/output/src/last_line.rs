//! The last line of a stream that is not blank.
//!
//! The line is stored raw and rendered on demand, which keeps pushes cheap.

use memchr::memrchr;

use super::line::LineBuffer;
use super::render::{LineEnd, Renderer, Sink};

/// The number of raw bytes of a line that are kept.
const RAW_LIMIT: usize = 1024;

/// The number of characters of a line that are returned.
const TEXT_LIMIT: usize = 200;

/// The number of lines of a chunk that are searched for one that is not blank.
const LOOK_BACK: usize = 16;

#[derive(Debug, Default)]
pub(super) struct LastLine {
    /// The last complete line that is not blank.
    complete: Vec<u8>,
    /// The line that is being written.
    partial: Vec<u8>,
}

impl LastLine {
    pub(super) fn push(&mut self, chunk: &[u8]) {
        let Some(newline) = memrchr(b'\n', chunk) else {
            self.extend_partial(chunk);
            return;
        };
        let mut rest = &chunk[..newline];
        let mut found = false;
        for _ in 0..LOOK_BACK {
            let Some(start) = memrchr(b'\n', rest) else {
                // The chunk's first line began in an earlier chunk.
                self.extend_partial(rest);
                if says_something(&self.partial) {
                    std::mem::swap(&mut self.complete, &mut self.partial);
                }
                found = true;
                break;
            };
            let line = newest_form(&rest[start + 1..]);
            let line = &line[..line.len().min(RAW_LIMIT)];
            if says_something(line) {
                self.complete.clear();
                self.complete.extend_from_slice(line);
                found = true;
                break;
            }
            rest = &rest[..start];
        }
        if !found && says_something(&self.partial) {
            std::mem::swap(&mut self.complete, &mut self.partial);
        }
        self.partial.clear();
        self.extend_partial(&chunk[newline + 1..]);
    }

    pub(super) fn get(&self) -> Option<String> {
        [&self.partial, &self.complete]
            .into_iter()
            .map(|line| shown(line))
            .find(|text| !text.trim().is_empty())
            .map(|text| text.trim_end().chars().take(TEXT_LIMIT).collect())
    }

    fn extend_partial(&mut self, bytes: &[u8]) {
        let newest = newest_form(bytes);
        let redrawn = newest.len() < bytes.len() || self.partial.last() == Some(&b'\r');
        if redrawn && !bytes.is_empty() {
            self.partial.clear();
        }
        let room = RAW_LIMIT - self.partial.len();
        self.partial
            .extend_from_slice(&newest[..newest.len().min(room)]);
    }
}

/// The text after the last carriage return that is followed by text.
fn newest_form(line: &[u8]) -> &[u8] {
    let body = line.strip_suffix(b"\r").unwrap_or(line);
    let start = memrchr(b'\r', body).map_or(0, |at| at + 1);
    &line[start..]
}

fn says_something(line: &[u8]) -> bool {
    if line.contains(&0x1b) {
        !shown(line).trim().is_empty()
    } else {
        line.iter().any(|&byte| byte > b' ')
    }
}

fn shown(line: &[u8]) -> String {
    struct Ignore;
    impl Sink for Ignore {
        fn ended(&mut self, _: &mut LineBuffer, _: LineEnd, _: u64) {}
    }
    let mut renderer = Renderer::default();
    renderer.feed(line, &mut Ignore);
    renderer.line().text().into_owned()
}

#[cfg(test)]
#[path = "last_line_tests.rs"]
mod tests;
