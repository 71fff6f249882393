//! Matching lines in a stream of bytes.
//!
//! Start at [`Matcher`]. `find` supplies the bytes and wakes the waiting task.

use regex::Regex;
use tokio::sync::oneshot;

use super::line::LineBuffer;
use super::render::{LineEnd, Renderer, Sink};

/// A line up to this length is matched after every push. A longer one must grow
/// by a share of its length first, so that many small pushes to a long line do
/// not take quadratic time.
const SHORT_LINE: usize = 1024;

/// The share of a long line that must be new.
const FRESH_SHARE: usize = 16;

/// Searches a stream of bytes for a line that matches.
#[derive(Debug)]
pub(super) struct Matcher {
    renderer: Renderer,
    search: Search,
}

#[derive(Debug)]
struct Search {
    pattern: Regex,
    found: Option<String>,
}

/// A matcher that receives every push.
#[derive(Debug)]
pub(super) struct Watcher {
    pub(super) id: u64,
    matcher: Matcher,
    answer: oneshot::Sender<Option<String>>,
}

impl Matcher {
    pub(super) fn new(pattern: Regex) -> Self {
        Self {
            renderer: Renderer::default(),
            search: Search {
                pattern,
                found: None,
            },
        }
    }

    /// Matches the lines that these bytes complete or redraw.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Option<String> {
        self.renderer.feed(bytes, &mut self.search);
        self.search.found.take()
    }

    /// Matches the unfinished line in its current form.
    pub(super) fn look(&mut self) -> Option<String> {
        self.search.redrawn(self.renderer.line());
        self.search.found.take()
    }

    /// Matches the remaining text at the end of the output.
    pub(super) fn finish(&mut self) -> Option<String> {
        self.renderer.finish(&mut self.search);
        let line = self.renderer.line();
        if line.fresh() > 0 {
            self.search.test(line);
        }
        self.search.found.take()
    }

    /// Discards the unfinished line, because the bytes after it are lost.
    pub(super) fn skip(&mut self) {
        self.renderer = Renderer::default();
    }
}

impl Search {
    fn test(&mut self, line: &mut LineBuffer) {
        if self.found.is_none() {
            let text = line.text();
            if self.pattern.is_match(&text) {
                self.found = Some(text.into_owned());
            }
        }
        line.looked();
    }
}

impl Sink for Search {
    fn redrawn(&mut self, line: &mut LineBuffer) {
        let fresh = line.fresh();
        let is_worth = line.count() <= SHORT_LINE || fresh >= line.count() / FRESH_SHARE;
        if fresh > 0 && is_worth {
            self.test(line);
        }
    }

    fn ended(&mut self, line: &mut LineBuffer, _: LineEnd, _: u64) {
        if line.fresh() > 0 || line.unseen() {
            self.test(line);
        }
    }
}

impl Watcher {
    pub(super) fn new(id: u64, matcher: Matcher) -> (Self, oneshot::Receiver<Option<String>>) {
        let (answer, receiver) = oneshot::channel();
        let watcher = Self {
            id,
            matcher,
            answer,
        };
        (watcher, receiver)
    }

    /// Matches the pushed bytes. Returns the watcher unless it is done.
    pub(super) fn pushed(mut self, bytes: &[u8]) -> Option<Self> {
        let found = self.matcher.feed(bytes).or_else(|| self.matcher.look());
        if found.is_none() {
            return Some(self);
        }
        // This fails only if there is no listener any more.
        let _ = self.answer.send(found);
        None
    }

    /// Ends the search, because the output has finished.
    pub(super) fn finished(mut self) {
        let found = self.matcher.finish();
        let _ = self.answer.send(found);
    }
}

#[cfg(test)]
#[path = "matcher_tests.rs"]
mod tests;
