//! Chooses lines for a limit by rarity: trouble first, then lines unlike the
//! rest, then the first of each kind. Order is never changed.

use super::kinds::Kinds;
use super::line::TextLine;

/// The length of a marker with long numbers.
const MARKER: usize = 48;
/// A kind with this many troubled lines is routine: only its first is rare.
const HABIT: usize = 20;
/// The number of times that the remaining room is filled.
const ROUNDS: usize = 3;

/// The treatment of the ends of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextShape {
    /// A report: a few lines of each end.
    Report,
    /// Data: long ends, contiguous if possible.
    Data,
}

/// The longest line that is shown whole within a limit.
pub(crate) fn longest_line(limit: usize) -> usize {
    limit / 4
}

/// Chooses kept lines so that they and their markers fit the limit.
pub(crate) fn choose(
    lines: &[TextLine<'_>],
    kinds: &Kinds,
    keep: &[bool],
    shape: TextShape,
    limit: usize,
) -> Vec<bool> {
    let mut selection = Selection {
        lines,
        chosen: vec![false; lines.len()],
        longest: longest_line(limit),
        room: limit.saturating_sub(2 * MARKER),
    };
    let kept: Vec<usize> = (0..lines.len()).filter(|line| keep[*line]).collect();
    let (head, tail) = match shape {
        TextShape::Report => (limit / 5, limit / 4),
        TextShape::Data => (limit / 5 * 2, limit / 4),
    };
    selection.take_end(kept.iter().copied(), head);
    selection.take_end(kept.iter().rev().copied(), tail);
    let mut levels: [Vec<usize>; 5] = Default::default();
    for line in kept {
        if !selection.chosen[line] {
            levels[rarity(lines, kinds, line)].push(line);
        }
    }
    for _ in 0..ROUNDS {
        for (level, members) in levels.iter().enumerate() {
            selection.take_level(members, level);
        }
        selection.measure(limit);
    }
    selection.chosen
}

/// The rarity of a line; 0 is rarest.
fn rarity(lines: &[TextLine<'_>], kinds: &Kinds, index: usize) -> usize {
    let line = &lines[index];
    if line.is_blank() {
        return 4;
    }
    let fellows = kinds.like(index);
    let is_first = fellows.first() == Some(&index);
    if line.is_troubled() {
        return if fellows.len() < HABIT || is_first {
            0
        } else {
            3
        };
    }
    // The heads of an outline say more than what is below them.
    let below = lines[index + 1..].iter().find(|line| !line.is_blank());
    let is_head = below.is_some_and(|below| below.indent > line.indent);
    match (fellows.len(), is_head) {
        (..=2, true) => 1,
        (..=2, false) => 2,
        _ if is_first => 2,
        _ => 3,
    }
}

struct Selection<'a, 'b> {
    lines: &'b [TextLine<'a>],
    chosen: Vec<bool>,
    longest: usize,
    room: usize,
}

impl Selection<'_, '_> {
    fn cost(&self, line: usize) -> usize {
        self.lines[line].text.len().min(self.longest + MARKER) + 1
    }

    /// Takes contiguous lines of one end, up to a share of the room.
    fn take_end(&mut self, lines: impl Iterator<Item = usize>, share: usize) {
        let mut left = share.min(self.room);
        for line in lines {
            let cost = self.cost(line);
            if cost > left || self.chosen[line] {
                break;
            }
            self.chosen[line] = true;
            left -= cost;
            self.room -= cost;
        }
    }

    /// Takes lines of one rarity. If there are too many, rare ones are taken evenly
    /// over the text, common ones from its beginning.
    fn take_level(&mut self, members: &[usize], level: usize) {
        let open = members.iter().filter(|line| !self.chosen[**line]);
        let open: Vec<usize> = open.copied().collect();
        let total: usize = open.iter().map(|line| self.cost(*line) + MARKER).sum();
        let step = if level < 3 {
            1 + total / self.room.max(1)
        } else {
            1
        };
        for line in open.into_iter().step_by(step) {
            let is_next = line > 0 && self.chosen[line - 1];
            let cost = self.cost(line) + if is_next { 0 } else { MARKER };
            if cost <= self.room {
                self.room -= cost;
                self.chosen[line] = true;
            }
        }
    }

    /// Finds out how much room is really left.
    fn measure(&mut self, limit: usize) {
        let mut size = 0;
        let mut is_gap = false;
        for line in 0..self.lines.len() {
            if self.chosen[line] {
                size += self.cost(line);
            } else if !is_gap {
                size += MARKER;
            }
            is_gap = !self.chosen[line];
        }
        self.room = limit.saturating_sub(size + 2 * MARKER);
    }
}
