//! The marker for omitted lines, and the detection of a digest.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::RangeInclusive;

use super::diagnostic::FoldedWarning;

/// The most places that one marker lists.
const MOST_PLACES: usize = 60;

/// Whether similar lines are among the shown ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Likeness {
    /// Lines of the same kinds are shown.
    Shown,
    /// They were left out for their number.
    None,
}

/// `[… 95 lines like these: 4–98 …]`
pub(crate) fn marker(
    range: &RangeInclusive<u64>,
    likeness: Likeness,
    warnings: &[FoldedWarning<'_>],
) -> String {
    let (first, last) = (*range.start(), *range.end());
    let count = last - first + 1;
    let noun = if count == 1 { "line" } else { "lines" };
    let like = match likeness {
        Likeness::Shown => " like these",
        Likeness::None => "",
    };
    let mut text = format!("[… {count} {noun}{like}: {first}");
    if last > first {
        write!(text, "–{last}").expect("a string takes all");
    }
    text.push_str(&places(warnings));
    text.push_str(" …]");
    text
}

/// The places of folded warnings by message: `; C0301 at a.py:3,9 b.py:2`.
fn places(warnings: &[FoldedWarning<'_>]) -> String {
    let mut names: Vec<(&str, BTreeMap<&str, Vec<&str>>)> = Vec::new();
    for warning in warnings.iter().take(MOST_PLACES) {
        let known = names.iter().position(|(name, _)| *name == warning.name);
        let known = known.unwrap_or_else(|| {
            names.push((warning.name, BTreeMap::new()));
            names.len() - 1
        });
        let files = &mut names[known].1;
        files
            .entry(warning.file)
            .or_default()
            .push(warning.position);
    }
    let mut text = String::new();
    let mut last = "";
    for (name, files) in names {
        write!(text, "; {name} at").expect("a string takes all");
        for (file, positions) in files {
            // The file of the list before is not told again.
            let file = if file == last { "" } else { file };
            write!(text, " {file}:{}", positions.join(",")).expect("a string takes all");
            if !file.is_empty() {
                last = file;
            }
        }
    }
    if warnings.len() > MOST_PLACES {
        write!(text, "; {} more", warnings.len() - MOST_PLACES).expect("a string takes all");
    }
    text
}

/// Whether lines are already a digest: their markers add up with the lines
/// between them, counted from `first`. Text that only looks like a marker does
/// not.
pub(crate) fn is_digest<'a>(lines: impl Iterator<Item = &'a str>, first: u64) -> bool {
    let mut next = first;
    let mut is_digest = false;
    for line in lines {
        if let Some(range) = left_out(line) {
            if *range.start() != next {
                return false;
            }
            next = range.end() + 1;
            is_digest = true;
        } else {
            next += 1;
        }
    }
    is_digest
}

/// The lines that a marker names.
fn left_out(line: &str) -> Option<RangeInclusive<u64>> {
    let inner = line.strip_prefix("[… ")?.strip_suffix(" …]")?;
    let (count, rest) = inner.split_once(" line")?;
    let rest = rest.strip_prefix('s').unwrap_or(rest);
    let rest = rest.strip_prefix(" like these").unwrap_or(rest);
    let range = rest.strip_prefix(": ")?;
    let range = range.split(';').next().unwrap_or(range);
    let (first, last) = range.split_once('–').unwrap_or((range, range));
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    let count: u64 = count.parse().ok()?;
    (last >= first && last - first == count.checked_sub(1)?).then_some(first..=last)
}
