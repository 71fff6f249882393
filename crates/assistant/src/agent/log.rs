//! What can be read of an agent: what it said and which calls it made, as text.

use std::time::Instant;

use windlass_protocol::{BatchReply, ReplyContent, ToolCall, View};
use windlass_runtime::Reading;

/// How much is kept, the newest of it.
const KEPT: usize = 256 << 10;
/// How much of a call or an error is shown.
const BRIEF: usize = 120;

pub(super) struct Log {
    text: String,
    /// How much was dropped before it.
    dropped: usize,
    /// How far the assistant has read, counted from the beginning.
    cursor: usize,
    /// Where the last input came.
    pub(super) input: usize,
    pub(super) written: Instant,
}

impl Log {
    pub(super) fn new() -> Self {
        Self {
            text: String::new(),
            dropped: 0,
            cursor: 0,
            input: 0,
            written: Instant::now(),
        }
    }

    /// Adds whole lines.
    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        if !text.ends_with('\n') {
            self.text.push('\n');
        }
        self.written = Instant::now();
        if self.text.len() > KEPT {
            let from = floor(&self.text, self.text.len() - KEPT / 2);
            let line = self.text[from..]
                .find('\n')
                .map_or(from, |end| from + end + 1);
            self.text.drain(..line);
            self.dropped += line;
        }
    }

    /// How much was written.
    pub(super) fn end(&self) -> usize {
        self.dropped + self.text.len()
    }

    /// What follows a place.
    pub(super) fn since(&self, place: usize) -> &str {
        &self.text[place.saturating_sub(self.dropped).min(self.text.len())..]
    }

    pub(super) fn read(&mut self, view: View, limit: usize) -> Reading {
        let from = match view {
            View::New => self.cursor,
            View::Screen | View::All => 0,
        };
        let gone = self.dropped.saturating_sub(from);
        let (text, cut) = within(self.since(from).trim_end_matches('\n'), limit);
        self.cursor = self.end();
        Reading {
            text,
            omitted_bytes: (gone + cut) as u64,
            ..Reading::default()
        }
    }

    pub(super) fn preview(&self, limit: usize) -> String {
        let text = self.text.trim_end_matches('\n');
        text[ceiling(text, text.len().saturating_sub(limit))..].to_owned()
    }
}

/// Head and tail of a text, and how much is missing between them.
fn within(text: &str, limit: usize) -> (String, usize) {
    if text.len() <= limit {
        return (text.to_owned(), 0);
    }
    let head = floor(text, limit / 2);
    let tail = ceiling(text, text.len() - limit / 2);
    let cut = tail - head;
    let marker = format!("\n[… {cut} bytes left out …]\n");
    (format!("{}{marker}{}", &text[..head], &text[tail..]), cut)
}

fn floor(text: &str, mut place: usize) -> usize {
    while !text.is_char_boundary(place) {
        place -= 1;
    }
    place
}

fn ceiling(text: &str, mut place: usize) -> usize {
    while !text.is_char_boundary(place) {
        place += 1;
    }
    place
}

/// A call in a line.
pub(super) fn call_line(call: &ToolCall) -> String {
    let arguments = serde_json::to_string(&call.arguments).unwrap_or_default();
    format!("> {} {}", call.tool, brief(&arguments))
}

/// The calls of a batch that failed, a line each.
pub(super) fn failures(calls: &[ToolCall], reply: &BatchReply) -> Vec<String> {
    let failed = reply.replies.iter().filter(|reply| reply.is_error);
    failed
        .map(|reply| {
            let call = calls.iter().find(|call| call.id == reply.id);
            let tool = call.map_or("a call", |call| call.tool.as_str());
            format!("! {tool} failed: {}", brief(&content(&reply.content)))
        })
        .collect()
}

fn content(content: &ReplyContent) -> String {
    content.to_text()
}

fn brief(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let mut brief: String = line.chars().take(BRIEF).collect();
    if brief.len() < text.len() {
        brief.push('…');
    }
    brief
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
