//! Decides which lines are kept: all lines without evidence, a few of each
//! kind, unusual lines, trouble with its neighbourhood, and both ends.

use super::columns::Columns;
use super::diagnostic::{FoldedWarning, fold_warnings};
use super::evidence::{Evidence, is_forward};
use super::kinds::{HashedMap, Kinds};
use super::line::TextLine;
use super::repeats::repeated;

/// Lines of each kind that are shown.
const FIRST: usize = 2;
const LAST: usize = 1;
/// A kind with fewer lines is shown whole.
const LEAST_OF_KIND: usize = FIRST + LAST + 2;
/// The number of troubled lines of one kind in a log that are all shown.
const TROUBLE_SHOWN: usize = 10;
/// Lines at both ends that are always shown.
const HEAD: usize = 3;
const TAIL: usize = 5;
/// The number of lines around trouble, and the longest passage that belongs to
/// it.
const AROUND: usize = 2;
const LONGEST_PASSAGE: usize = 40;

/// The kept lines, and the reasons for omitting the others.
pub(crate) struct KeptLines<'a> {
    pub(crate) keep: Vec<bool>,
    pub(crate) warnings: Vec<FoldedWarning<'a>>,
    /// The kinds for which evidence was found.
    pub(crate) evidence: HashedMap<Evidence>,
}

impl<'a> KeptLines<'a> {
    /// Decides for every line. `known` are kinds whose first lines were shown
    /// in an earlier part of the output.
    pub(crate) fn of(lines: &[TextLine<'a>], kinds: &Kinds, known: &HashedMap<Evidence>) -> Self {
        let mut choice = LineChoice {
            lines,
            droppable: vec![false; lines.len()],
            safe: vec![false; lines.len()],
        };
        let evidence = choice.weigh_kinds(kinds, known);
        choice.keep_neighbourhoods();
        choice.keep_ends();
        let both = choice.droppable.iter().zip(&choice.safe);
        let mut keep: Vec<bool> = both
            .map(|(is_droppable, is_safe)| !is_droppable || *is_safe)
            .collect();
        let ends = HEAD..lines.len().saturating_sub(TAIL);
        let mut warnings = fold_warnings(lines);
        warnings.retain(|warning| warning.head >= ends.start && warning.end <= ends.end);
        for warning in &warnings {
            keep[warning.head..warning.end].fill(false);
        }
        for block in repeated(lines) {
            let block = block.start.max(ends.start)..block.end.min(ends.end);
            if block.start < block.end {
                keep[block].fill(false);
            }
        }
        Self {
            keep,
            warnings,
            evidence,
        }
    }
}

struct LineChoice<'a, 'b> {
    lines: &'b [TextLine<'a>],
    droppable: Vec<bool>,
    safe: Vec<bool>,
}

impl LineChoice<'_, '_> {
    /// Finds the kinds that may be omitted, and the lines of them that are
    /// shown.
    fn weigh_kinds(&mut self, kinds: &Kinds, known: &HashedMap<Evidence>) -> HashedMap<Evidence> {
        let is_forward = is_forward(self.lines);
        let mut found = HashedMap::default();
        for members in kinds.iter() {
            let kind = self.lines[members[0]].kind;
            let earlier = known.get(&kind).copied();
            let first = if earlier.is_some() { 0 } else { FIRST };
            if members.len() < LEAST_OF_KIND - FIRST + first {
                continue;
            }
            let evidence = earlier.or_else(|| Evidence::find(self.lines, members, is_forward));
            let Some(evidence) = evidence else {
                continue;
            };
            let troubled = members
                .iter()
                .filter(|member| self.lines[**member].is_troubled());
            let is_troubled = troubled.count() * 2 > members.len();
            if is_troubled && (!evidence.is_of_log() || members.len() <= TROUBLE_SHOWN) {
                continue;
            }
            found.insert(kind, evidence);
            for (place, member) in members.iter().enumerate() {
                self.droppable[*member] = true;
                let is_shown = place < first || place + LAST >= members.len();
                let line = &self.lines[*member];
                let is_odd =
                    line.is_troubled() && !is_troubled || !evidence.holds_for(self.lines, *member);
                self.safe[*member] |= is_shown || is_odd;
            }
            if let Some(columns) = Columns::of(self.lines, members) {
                for row in columns.unusual() {
                    self.safe[members[row]] = true;
                }
            }
        }
        found
    }

    /// Keeps the lines around shown trouble: in a log the following lines
    /// without a time stamp, elsewhere two on each side and the lines indented
    /// below it.
    fn keep_neighbourhoods(&mut self) {
        let logged = self.lines.iter().filter(|line| line.is_logged()).count();
        let is_log = logged * 2 > self.lines.len();
        for at in 0..self.lines.len() {
            let line = &self.lines[at];
            let is_shown = !self.droppable[at] || self.safe[at];
            if !line.is_troubled() || !is_shown {
                self.keep_lead(at, is_log);
                continue;
            }
            self.safe[at] = true;
            let end = self.lines.len().min(at + LONGEST_PASSAGE);
            let below = &self.lines[at + 1..end.max(at + 1)];
            if is_log && line.is_logged() {
                let length = below.iter().take_while(|line| !line.is_logged()).count();
                self.safe[at + 1..=at + length].fill(true);
                continue;
            }
            let around = at.saturating_sub(AROUND)..self.lines.len().min(at + AROUND + 1);
            self.safe[around].fill(true);
            let length = below
                .iter()
                .enumerate()
                .take_while(|(place, next)| {
                    next.is_blank() && *place < AROUND || next.indent > line.indent
                })
                .count();
            self.safe[at + 1..=at + length].fill(true);
        }
    }

    /// Keeps the line before an unusual one, such as the compiled file before
    /// its warning.
    fn keep_lead(&mut self, at: usize, is_log: bool) {
        let line = &self.lines[at];
        let is_led = !is_log && !line.is_blank() && !line.is_logged() && !self.droppable[at];
        if is_led && at > 0 && self.droppable[at - 1] {
            self.safe[at - 1] = true;
        }
    }

    fn keep_ends(&mut self) {
        let count = self.lines.len();
        self.safe[..HEAD.min(count)].fill(true);
        self.safe[count.saturating_sub(TAIL)..].fill(true);
    }
}
