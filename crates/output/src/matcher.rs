//! Looking for a line that matches in bytes as they come.
//!
//! Start at [`Matcher`]. Where the bytes come from, and who waits, is the
//! business of `find`.

use regex::Regex;
use tokio::sync::oneshot;

use super::line::Line;
use super::render::{LineEnd, Renderer, Sink};

/// A line this long is looked at whenever something was added to it. A longer
/// one must grow by a share of its length first, lest many small pushes to one
/// long line cost its length each.
const SHORT_LINE: usize = 1024;

/// The share of a long line that must be new.
const FRESH_SHARE: usize = 16;

/// Looks for a line that matches in bytes as they come.
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

/// A matcher that is fed by every push.
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

    /// Matches the unfinished line as it stands.
    pub(super) fn look(&mut self) -> Option<String> {
        self.search.redrawn(self.renderer.line());
        self.search.found.take()
    }

    /// Matches what is left when nothing more will come.
    pub(super) fn finish(&mut self) -> Option<String> {
        self.renderer.finish(&mut self.search);
        let line = self.renderer.line();
        if line.fresh() > 0 {
            self.search.test(line);
        }
        self.search.found.take()
    }

    /// Forgets the unfinished line, as bytes that follow it are lost.
    pub(super) fn skip(&mut self) {
        self.renderer = Renderer::default();
    }
}

impl Search {
    fn test(&mut self, line: &mut Line) {
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
    fn redrawn(&mut self, line: &mut Line) {
        let fresh = line.fresh();
        let is_worth = line.count() <= SHORT_LINE || fresh >= line.count() / FRESH_SHARE;
        if fresh > 0 && is_worth {
            self.test(line);
        }
    }

    fn ended(&mut self, line: &mut Line, _: LineEnd, _: u64) {
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

    /// Matches what was pushed; gives itself back unless it is done.
    pub(super) fn pushed(mut self, bytes: &[u8]) -> Option<Self> {
        let found = self.matcher.feed(bytes).or_else(|| self.matcher.look());
        if found.is_none() {
            return Some(self);
        }
        // Nobody listens any more if this fails, which is as good as told.
        let _ = self.answer.send(found);
        None
    }

    /// Nothing more will come.
    pub(super) fn finished(mut self) {
        let found = self.matcher.finish();
        let _ = self.answer.send(found);
    }
}

#[cfg(test)]
#[path = "matcher_tests.rs"]
mod tests;
