//! Changes within a row of a full screen.
//!
//! Start at [`render_change`]. A row is reported whole, or as its changed spans if that
//! is much shorter. `frame` determines the changed rows.

use std::fmt::Write as _;
use std::ops::Range;

use unicode_width::UnicodeWidthChar;

/// The minimum length of a row that is reported in parts. A short row is easier
/// to read whole.
const LONG: usize = 40;

/// Spans with a smaller gap are merged: the position of a second span would
/// take as much space.
const GAP: usize = 8;

/// A row that changed, counted from zero: `row│text`, or `row:col│text` for each span of it if that saves a third.
pub(super) fn render_change(row: usize, before: &str, now: &str) -> String {
    let whole = format!("{}│{now}", row + 1);
    match spans(row, before, now) {
        Some(spans) if spans.len() * 3 <= whole.len() * 2 => spans,
        _ => whole,
    }
}

/// The changed spans, one per line, if the row can be reported in parts.
fn spans(row: usize, before: &str, now: &str) -> Option<String> {
    let mut old = cells(before)?;
    let new = cells(now)?;
    // The blanks that a shorter row ends in could not be seen.
    if new.len() < LONG || new.len() < old.len() {
        return None;
    }
    old.resize(new.len(), ' ');
    let mut told = String::new();
    for span in changes(&old, &new) {
        if !told.is_empty() {
            told.push('\n');
        }
        let text: String = new[span.clone()].iter().collect();
        write!(told, "{}:{}│{text}", row + 1, span.start + 1).expect("a string takes everything");
    }
    Some(told)
}

/// The characters of a row, if each has a column of its own.
fn cells(text: &str) -> Option<Vec<char>> {
    text.chars()
        .map(|character| (character.width() == Some(1)).then_some(character))
        .collect()
}

/// The ranges in which two rows of equal length differ, extended to whole
/// words.
fn changes(old: &[char], new: &[char]) -> Vec<Range<usize>> {
    let is_word = |at: usize| old[at] != ' ' || new[at] != ' ';
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while at < new.len() {
        if old[at] == new[at] {
            at += 1;
            continue;
        }
        let start = (0..at).rev().take_while(|&at| is_word(at)).last();
        let start = start.unwrap_or(at);
        let end = (at..new.len()).find(|&at| !is_word(at));
        let end = end.unwrap_or(new.len());
        match spans.last_mut() {
            Some(last) if start < last.end + GAP => last.end = end,
            _ => spans.push(start..end),
        }
        at = end;
    }
    spans
}

#[cfg(test)]
#[path = "span_tests.rs"]
mod tests;
