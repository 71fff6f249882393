//! Waiting for a line of output that matches.
//!
//! Start at [`Output::find`]. The bytes in memory are scanned and the watcher
//! is registered under one lock, so that no line is missed in between. Older
//! bytes, which are only in the log, are scanned before that, one chunk at a
//! time.

use std::future::Future;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use regex::Regex;
use tokio::sync::oneshot;

use super::matcher::{Matcher, Watcher};
use super::output::{Output, OutputShared};
use super::store::Part;

/// The number of bytes of a log that are scanned before the task yields.
const SCAN_CHUNK: u64 = 256 << 10;

/// A search that has not reached the end of the output yet.
struct Scan {
    matcher: Matcher,
    position: u64,
}

enum SearchStep {
    Done(Option<String>),
    Watching(PendingMatch),
    /// This part of the log must be scanned first.
    Behind {
        shared: Arc<OutputShared>,
        scan: Box<Scan>,
        part: Part,
    },
}

/// The pending result of a watcher. Dropping it removes the watcher. It holds
/// only a weak reference to the output, so that it does not keep the log alive.
struct PendingMatch {
    id: u64,
    shared: Weak<OutputShared>,
    answer: oneshot::Receiver<Option<String>>,
}

impl Output {
    /// The first line that matches in what was or will be written from `from`
    /// on, as a terminal would show it; `None` if the output finishes, or its
    /// last clone is dropped, without one.
    ///
    /// Every form of a redrawn line is a candidate, and so is an unfinished
    /// line, so that a prompt is found. Lines are matched in pieces of 65,536
    /// characters; an unfinished one of more than 1024 is looked at whenever it
    /// has grown by a sixteenth. What is held (see [`Output::take_object`]) is
    /// searched when it is released, unless the output has finished by then. What is in memory is scanned, and matching what
    /// comes begins, when this is called, not when the future is first polled.
    /// Dropping the future ends the search.
    pub fn find(
        &self,
        pattern: Regex,
        from: u64,
    ) -> impl Future<Output = Option<String>> + Send + 'static + use<> {
        let scan = Box::new(Scan {
            matcher: Matcher::new(pattern),
            position: from,
        });
        follow(OutputShared::advance(&self.shared, scan))
    }
}

async fn follow(mut step: SearchStep) -> Option<String> {
    loop {
        step = match step {
            SearchStep::Done(line) => return line,
            SearchStep::Watching(watching) => return watching.await,
            SearchStep::Behind { shared, scan, part } => {
                tokio::task::yield_now().await;
                match scan.over(&shared, part) {
                    ControlFlow::Continue(scan) => OutputShared::advance(&shared, scan),
                    ControlFlow::Break(line) => return Some(line),
                }
            }
        };
    }
}

impl OutputShared {
    /// Scans up to the end of the output if all bytes needed are in memory.
    fn advance(shared: &Arc<Self>, mut scan: Box<Scan>) -> SearchStep {
        let mut state = shared.state.lock();
        let gap = state.store.gap();
        if gap.contains(&scan.position) {
            scan.matcher.skip();
            scan.position = gap.end;
        }
        let start = state.store.start();
        if scan.position < start {
            let end = start.min(scan.position.saturating_add(SCAN_CHUNK));
            let end = if scan.position < gap.start {
                end.min(gap.start)
            } else {
                end
            };
            let part = state.store.part(scan.position..end);
            let shared = Arc::clone(shared);
            return SearchStep::Behind { shared, scan, part };
        }
        let (first, second) = state.store.memory_from(scan.position);
        let matcher = &mut scan.matcher;
        let found = matcher.feed(first).or_else(|| matcher.feed(second));
        if found.is_some() {
            return SearchStep::Done(found);
        }
        if state.is_finished {
            return SearchStep::Done(matcher.finish());
        }
        if let Some(line) = matcher.look() {
            return SearchStep::Done(Some(line));
        }
        let id = state.next_watcher;
        state.next_watcher += 1;
        let (watcher, answer) = Watcher::new(id, scan.matcher);
        state.watchers.push(watcher);
        SearchStep::Watching(PendingMatch {
            id,
            shared: Arc::downgrade(shared),
            answer,
        })
    }
}

impl Scan {
    /// Scans a part of the log. Breaks with the first line that matches.
    fn over(
        mut self: Box<Self>,
        shared: &OutputShared,
        part: Part,
    ) -> ControlFlow<String, Box<Self>> {
        let range = part.range.clone();
        let (start, bytes) = shared.load(part);
        if start > range.start {
            self.matcher.skip();
        }
        self.position = range.end;
        match self.matcher.feed(&bytes) {
            Some(line) => ControlFlow::Break(line),
            None => ControlFlow::Continue(self),
        }
    }
}

impl Future for PendingMatch {
    type Output = Option<String>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // The watcher is only dropped without an answer when the output is.
        Pin::new(&mut self.answer)
            .poll(context)
            .map(|answer| answer.unwrap_or(None))
    }
}

impl Drop for PendingMatch {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.upgrade() {
            let watchers = &mut shared.state.lock().watchers;
            watchers.retain(|watcher| watcher.id != self.id);
        }
    }
}

#[cfg(test)]
#[path = "find_tests.rs"]
mod tests;
