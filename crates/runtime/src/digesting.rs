//! Reads text output in part: as a digest, or with the rarest lines.
//!
//! Start at [`DigestReader::read`]. `windlass_digest` selects the lines; this
//! module supplies them, and ensures that omitted lines can be fetched.

use std::time::Duration;

use windlass_digest::{DigestSettings, Digested, Digester, find_trouble};
use windlass_output::{Cursor, Output, RenderedLine};
use windlass_protocol::ShownInPart;

use crate::job_output::Reading;

/// The longest part of an open line that is shown, as a share of the limit.
const OPEN_SHARE: usize = 4;

/// The kinds of lines that a reader has seen so far.
#[derive(Default)]
pub(crate) struct DigestReader {
    digester: Option<Box<Digester>>,
}

/// The way in which a long text is shown in part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InPart {
    /// Lines without new information are left out, from a minimum length on.
    Digest {
        /// Shorter text is shown whole.
        from: usize,
    },
    /// Lines are left out only if they exceed the limit.
    Excerpt,
}

impl DigestReader {
    /// Reads the lines since the cursor and moves it to the end. `None`,
    /// without moving the cursor, if the text should be read unchanged because
    /// it is short or its lines could not be fetched later.
    pub(crate) fn read(
        &mut self,
        output: &Output,
        cursor: &mut Cursor,
        in_part: InPart,
        limit: usize,
    ) -> Option<Reading> {
        let unread = output.position().saturating_sub(cursor.position());
        let most = match in_part {
            InPart::Digest { from } => from.min(limit),
            InPart::Excerpt => limit,
        };
        if unread < most as u64 {
            return None;
        }
        let digester = self.digester.get_or_insert_default();
        let mut next = cursor.clone();
        digester.go_on_at(next.lines() + 1);
        let PushedLines {
            open,
            whole,
            is_closed,
        } = push_lines(digester, output, &mut next);
        let open = shorten_open(open, limit / OPEN_SHARE);
        let room = limit.saturating_sub(open.len());
        let sections = match in_part {
            InPart::Digest { from } => digester.digest(DigestSettings { from, limit: room }),
            InPart::Excerpt => digester.excerpt(room),
        };
        let text = text_of(&sections, &open, is_closed);
        if text.len() > limit {
            return None;
        }
        let digest = if sections.is_whole() {
            None
        } else {
            let log = output.logged()?;
            Some(ShownInPart {
                shown: text.len() as u64,
                whole: whole.min(limit as u64),
                log: Some(log.path().to_owned()),
            })
        };
        *cursor = next;
        let is_cut = digest.is_some() && whole > limit as u64;
        let omitted = unread.saturating_sub(text.len() as u64).max(1);
        Some(Reading {
            text,
            omitted_bytes: if is_cut { omitted } else { 0 },
            log: digest
                .as_ref()
                .filter(|_| is_cut)
                .and_then(|digest| digest.log.clone()),
            digest,
            cursor: None,
        })
    }
}

/// The line that is still open, and the size of all text read.
struct PushedLines {
    open: String,
    whole: u64,
    /// It was given to the digester although it has no newline.
    is_closed: bool,
}

/// Gives every complete line to the digester. The last line of a finished
/// output counts as complete.
fn push_lines(digester: &mut Digester, output: &Output, cursor: &mut Cursor) -> PushedLines {
    let is_finished = output.is_finished();
    let mut whole = 0;
    let mut last = Duration::ZERO;
    let mut open = output.read_lines(cursor, find_trouble, |line| match line {
        RenderedLine::Complete { text, at } => {
            whole += text.len() as u64 + 1;
            last = at;
            digester.push(text, at);
        }
        RenderedLine::Skipped(lines) => {
            whole = u64::MAX / 2;
            digester.skip(lines);
        }
    });
    whole += open.len() as u64;
    let is_closed = is_finished && !open.is_empty();
    if is_closed {
        digester.push(&open, last);
        open.clear();
    }
    PushedLines {
        open,
        whole,
        is_closed,
    }
}

fn text_of(digested: &Digested, open: &str, is_closed: bool) -> String {
    let mut text = digested.text();
    if is_closed && text.ends_with('\n') {
        text.pop();
    }
    text.push_str(open);
    text
}

/// The two ends of an open line that is too long. The line can be fetched once
/// it is complete.
fn shorten_open(open: String, most: usize) -> String {
    if open.len() <= most {
        return open;
    }
    let head = open.floor_char_boundary(most / 2);
    let tail = open.ceil_char_boundary(open.len() - most / 2);
    let omitted = tail - head;
    format!(
        "{}[… {omitted} bytes of an unfinished line …]{}",
        &open[..head],
        &open[tail..]
    )
}

#[cfg(test)]
#[path = "digesting_tests.rs"]
mod tests;
