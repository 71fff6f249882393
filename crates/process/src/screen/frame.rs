//! What somebody has seen of a full-screen program.
//!
//! Start at [`read`]: first the screen, then the rows that changed.

use super::emulator::Emulator;
use super::lines::hash;

/// The alternate screen as somebody saw it last.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// Which showing of the alternate screen it was.
    number: u64,
    /// What stood in each row.
    rows: Vec<u64>,
}

/// What has changed on the alternate screen, as `row│text`, or the whole screen if most of it has.
pub(super) fn read(frame: &mut Option<Frame>, emulator: &Emulator) -> String {
    let rows: Vec<String> = emulator.shown().collect();
    let now = Frame {
        number: emulator.frames,
        rows: rows.iter().map(|row| hash(row)).collect(),
    };
    let before = frame.replace(now.clone());
    let Some(before) = before.filter(|before| before.is_like(&now)) else {
        return joined(&rows);
    };
    let changed = || (0..rows.len()).filter(|&row| before.rows[row] != now.rows[row]);
    let filled = rows.iter().filter(|row| !row.is_empty()).count();
    // An empty screen could not be told from one that has not changed.
    if filled > 0 && changed().count() * 2 > filled {
        return joined(&rows);
    }
    told(&rows, changed())
}

/// Rows as a screen: one below the other, up to the last that is not empty.
pub(super) fn joined(rows: &[String]) -> String {
    let length = rows
        .iter()
        .rposition(|row| !row.is_empty())
        .map_or(0, |last| last + 1);
    rows[..length].join("\n")
}

fn told(rows: &[String], changed: impl Iterator<Item = usize>) -> String {
    let rows: Vec<String> = changed
        .map(|row| format!("{}│{}", row + 1, rows[row]))
        .collect();
    rows.join("\n")
}

impl Frame {
    fn is_like(&self, other: &Self) -> bool {
        self.number == other.number && self.rows.len() == other.rows.len()
    }
}
