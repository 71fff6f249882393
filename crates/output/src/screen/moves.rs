//! Detects rows of a full screen that moved, as when a list scrolls.
//!
//! Start at [`Move::at`]. `frame` decides whether a move is worth reporting.

use std::fmt;
use std::ops::Range;

/// Consecutive rows that moved together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Move {
    /// Their new rows, counted from zero.
    pub(super) rows: Range<usize>,
    /// The previous row of the first of them.
    from: usize,
}

impl Move {
    /// The longest move to this row and those below it, if they stood anywhere before.
    pub(super) fn at(row: usize, before: &[String], now: &[String]) -> Option<Self> {
        // A row that became empty is better reported as empty.
        if now[row].is_empty() {
            return None;
        }
        let (length, from) = (0..before.len())
            .map(|from| (common(&before[from..], &now[row..]), from))
            .max_by_key(|&(length, _)| length)?;
        let rows = row..row + length;
        // A single row says more by its text.
        (length > 1).then_some(Self { rows, from })
    }
}

impl fmt::Display for Move {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, from } = self;
        write!(formatter, "{}-{}←{}", rows.start + 1, rows.end, from + 1)
    }
}

/// The number of equal rows at the start, up to the last one that is not empty.
fn common(before: &[String], now: &[String]) -> usize {
    let same = before
        .iter()
        .zip(now)
        .take_while(|(before, now)| before == now)
        .count();
    now[..same]
        .iter()
        .rposition(|row| !row.is_empty())
        .map_or(0, |last| last + 1)
}
