//! A reader's view of a full-screen program.
//!
//! Start at [`read`]: it returns the screen first, then the changes.

use std::ops::Range;

use super::emulator::Emulator;
use super::moves::Move;
use super::span;

/// A full screen as the reader last saw it.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// Which full screen it was.
    number: u64,
    /// The text of each row.
    rows: Vec<String>,
}

/// Returns the changes of a full screen, or the whole screen if that is not
/// much longer. A change is `row│text`, `row:col│text` for a part of a row, or
/// `first-last←row` for rows that moved. Changes apply to the previous screen,
/// in order.
pub(super) fn read(frame: &mut Option<Frame>, emulator: &Emulator) -> String {
    let now = Frame {
        number: emulator.frames,
        rows: emulator.shown().collect(),
    };
    let screen = joined(&now.rows);
    let changes = frame
        .as_ref()
        .filter(|before| before.is_like(&now))
        .map(|before| now.changes(before));
    *frame = Some(now);
    match changes {
        // An empty screen would look like an unchanged one.
        Some(changes) if screen.is_empty() || changes.len() * 4 <= screen.len() * 3 => changes,
        _ => screen,
    }
}

/// Rows as a screen: one below the other, up to the last that is not empty.
pub(super) fn joined(rows: &[String]) -> String {
    let length = rows
        .iter()
        .rposition(|row| !row.is_empty())
        .map_or(0, |last| last + 1);
    rows[..length].join("\n")
}

impl Frame {
    fn is_like(&self, other: &Self) -> bool {
        self.number == other.number && self.rows.len() == other.rows.len()
    }

    /// The rows that differ from before, each once.
    fn changes(&self, before: &Self) -> String {
        let (before, now) = (&before.rows, &self.rows);
        let mut changes: Vec<String> = Vec::new();
        let mut row = 0;
        while row < now.len() {
            if before[row] == now[row] {
                row += 1;
                continue;
            }
            let moved = Move::at(row, before, now);
            let end = moved.as_ref().map_or(row + 1, |moved| moved.rows.end);
            let each = |rows| changed(rows, before, now);
            match moved.map(|moved| moved.to_string()) {
                Some(moved) if moved.len() < each(row..end).join("\n").len() => {
                    changes.push(moved);
                    row = end;
                }
                _ => {
                    changes.extend(each(row..row + 1));
                    row += 1;
                }
            }
        }
        changes.join("\n")
    }
}

/// The changes of those rows that differ, each on its own.
fn changed(rows: Range<usize>, before: &[String], now: &[String]) -> Vec<String> {
    rows.filter(|&row| before[row] != now[row])
        .map(|row| span::render_change(row, &before[row], &now[row]))
        .collect()
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
