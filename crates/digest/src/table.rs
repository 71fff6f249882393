//! Tables: columns that all lines share, several of which differ from line to line.

use super::kinds::HashedSet;
use super::line::TextLine;
use super::tokens::hash;

/// The number of lines that are examined.
const LOOKED_AT: usize = 300;
/// A table has at least this many lines.
const LEAST_LINES: usize = 8;
/// The minimum number of columns that differ from line to line. Two are a name
/// and a word.
const LEAST_VARYING: usize = 3;

/// Whether the lines are a table.
pub(crate) fn is_table(lines: &[&TextLine<'_>]) -> bool {
    let lines = &lines[..lines.len().min(LOOKED_AT)];
    if lines.len() < LEAST_LINES {
        return false;
    }
    let mut lengths: Vec<usize> = lines.iter().map(|line| line.text.len()).collect();
    let tenth = lengths.len() / 10;
    let width = *lengths.select_nth_unstable(tenth).1;
    let is_gap: Vec<bool> = (0..width)
        .map(|place| {
            let is_space = |line: &&&TextLine<'_>| {
                line.text
                    .as_bytes()
                    .get(place)
                    .is_none_or(|byte| *byte == b' ')
            };
            lines.iter().filter(is_space).count() * 100 >= lines.len() * 95
        })
        .collect();
    let mut varying = 0;
    let mut start = 0;
    for gap in is_gap.chunk_by(|left, right| left == right) {
        let end = start + gap.len();
        if !gap[0] && varies(lines, start, end) {
            varying += 1;
        }
        start = end;
    }
    varying >= LEAST_VARYING
}

fn varies(lines: &[&TextLine<'_>], start: usize, end: usize) -> bool {
    let mut values = HashedSet::default();
    for line in lines {
        let bytes = line.text.as_bytes();
        let cell = &bytes[start.min(bytes.len())..end.min(bytes.len())];
        values.insert(hash(cell.trim_ascii()));
    }
    values.len() * 10 > lines.len() + 10
}
