//! The digest of an output, part by part.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::budget::{TextShape, choose, longest_line};
use super::data::is_data;
use super::diagnostic::FoldedWarning;
use super::digested::{Digested, Section, SectionContent, shortened};
use super::evidence::Evidence;
use super::gaps::even_out;
use super::keep::KeptLines;
use super::kinds::{HashedMap, Kinds};
use super::line::TextLine;
use super::marker::{Likeness, is_digest, marker};
use super::names::merge_names;
use super::passage::Passage;

/// The most kinds that are remembered.
const MOST_KINDS: usize = 4096;
/// Room for the sentence on how to get the rest.
const FOOTER: usize = 80;

/// The limits of a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DigestSettings {
    /// Shorter parts are shown whole, in bytes.
    pub from: usize,
    /// The longest text that is given, in bytes.
    pub limit: usize,
}

/// Reads an output part by part. It remembers the kinds of lines that it has shown,
/// and counts lines from the beginning of the output.
///
/// ```
/// use windlass_digest::{DigestSettings, Digester};
///
/// let mut digester = Digester::default();
/// for step in 1..=400 {
///     digester.push(&format!("[{step}/400] compiled module {step}"), std::time::Duration::ZERO);
/// }
/// let settings = DigestSettings { from: 2048, limit: 32768 };
/// let digested = digester.digest(settings);
/// assert!(digested.text().contains("[… 392 lines like these: 4–395 …]"));
/// ```
#[derive(Default)]
pub struct Digester {
    passage: Passage,
    /// The number of digested lines.
    lines: u64,
    learnt: HashedMap<Evidence>,
}

impl Digester {
    /// A digester whose next line has the number `line`.
    pub fn starting_at(line: u64) -> Self {
        Self {
            lines: line.saturating_sub(1),
            ..Self::default()
        }
    }

    /// Continues at another line than the next one: those between were shown or
    /// counted elsewhere. Pushed lines that were not digested are dropped.
    pub fn go_on_at(&mut self, line: u64) {
        self.passage = Passage::default();
        self.lines = line.saturating_sub(1);
    }

    /// Adds a complete line, without its newline, and its completion time since
    /// the tool's start.
    pub fn push(&mut self, line: &str, at: Duration) {
        self.passage.push(line, at);
    }

    /// Counts lines that were not kept.
    pub fn skip(&mut self, lines: u64) {
        self.passage.skip(lines);
    }

    /// The number of the next line that is pushed.
    pub fn next_line(&self) -> u64 {
        self.lines + self.passage.count() + 1
    }

    /// Returns the lines pushed since the last call unchanged. If they exceed
    /// the limit, lines of rare kinds are preferred.
    pub fn excerpt(&mut self, limit: usize) -> Digested {
        let passage = std::mem::take(&mut self.passage);
        let first = self.lines + 1;
        self.lines += passage.count();
        if passage.count() == 0 || passage.bytes() <= limit as u64 && passage.is_complete() {
            return whole(&passage, first);
        }
        let lines = passage.lines(first);
        let shape = if is_data(&lines) {
            TextShape::Data
        } else {
            TextShape::Report
        };
        let layout = Layout::new(&lines, first..=self.lines, &[]);
        layout.fit(&Kinds::of(&lines), &vec![true; lines.len()], shape, limit)
    }

    /// Digests the lines pushed since the last call.
    pub fn digest(&mut self, settings: DigestSettings) -> Digested {
        let passage = std::mem::take(&mut self.passage);
        let first = self.lines + 1;
        self.lines += passage.count();
        let limit = settings.limit as u64;
        let fits = passage.bytes() <= limit && passage.is_complete();
        if passage.count() == 0 || fits && passage.bytes() < settings.from as u64 {
            return whole(&passage, first);
        }
        let numbers = first..=self.lines;
        let mut lines = passage.lines(first);
        let passes = is_digest(passage.texts(), first) || is_data(&lines);
        if passes && fits {
            return whole(&passage, first);
        }
        if passes {
            let layout = Layout::new(&lines, numbers, &[]);
            let kinds = Kinds::of(&lines);
            let keep = vec![true; lines.len()];
            return layout.fit(&kinds, &keep, TextShape::Data, settings.limit);
        }
        let learnt = &self.learnt;
        merge_names(&mut lines, |kind| learnt.contains_key(&kind));
        let kinds = Kinds::of(&lines);
        let KeptLines {
            mut keep,
            warnings,
            evidence,
        } = KeptLines::of(&lines, &kinds, learnt);
        even_out(&lines, &mut keep, |line| {
            warnings
                .binary_search_by_key(&line, |warning| warning.head)
                .is_ok()
        });
        let layout = Layout::new(&lines, numbers, &warnings);
        let digested = layout.sections(&keep, &keep, usize::MAX);
        let size = digested.text().len();
        if fits && (size + FOOTER) as u64 * 10 > passage.bytes() * 9 {
            return whole(&passage, first);
        }
        self.learn(evidence);
        if size <= settings.limit {
            return digested;
        }
        layout.fit(&kinds, &keep, TextShape::Report, settings.limit)
    }

    fn learn(&mut self, evidence: HashedMap<Evidence>) {
        for (kind, evidence) in evidence {
            if self.learnt.len() < MOST_KINDS {
                self.learnt.insert(kind, evidence);
            }
        }
    }
}

/// Everything unchanged.
fn whole(passage: &Passage, first: u64) -> Digested {
    if passage.count() == 0 {
        return Digested {
            sections: Vec::new(),
        };
    }
    let mut text = String::new();
    for line in passage.texts() {
        text.push_str(line);
        text.push('\n');
    }
    Digested {
        sections: vec![Section {
            lines: first..=first + passage.count() - 1,
            content: SectionContent::Shown(text),
        }],
    }
}

/// Lays a choice of lines out as sections.
struct Layout<'a, 'b> {
    lines: &'b [TextLine<'a>],
    numbers: RangeInclusive<u64>,
    warnings: &'b [FoldedWarning<'a>],
}

impl<'a, 'b> Layout<'a, 'b> {
    fn new(
        lines: &'b [TextLine<'a>],
        numbers: RangeInclusive<u64>,
        warnings: &'b [FoldedWarning<'a>],
    ) -> Self {
        Self {
            lines,
            numbers,
            warnings,
        }
    }

    /// Chooses lines until they and their markers fit.
    fn fit(&self, kinds: &Kinds, keep: &[bool], shape: TextShape, limit: usize) -> Digested {
        let mut room = limit;
        let mut layout = self;
        // Places have no room where lines have none.
        let without_places = Self::new(self.lines, self.numbers.clone(), &[]);
        loop {
            let chosen = choose(self.lines, kinds, keep, shape, room);
            let digested = layout.sections(&chosen, keep, longest_line(room));
            let size = digested.text().len();
            if size <= limit || room == 0 {
                return digested;
            }
            room = room.saturating_sub((size - limit + 64).max(room / 8));
            layout = &without_places;
        }
    }

    /// Sections for the chosen lines. `keep` distinguishes lines omitted for
    /// their kind from those omitted for the limit.
    fn sections(&self, chosen: &[bool], keep: &[bool], longest: usize) -> Digested {
        let mut sections: Vec<Section> = Vec::new();
        let mut next = *self.numbers.start();
        let mut gap = 0;
        for (index, line) in self.lines.iter().enumerate() {
            if !chosen[index] {
                continue;
            }
            if line.number > next {
                sections.push(self.gap(gap..index, next..=line.number - 1, keep));
            }
            next = line.number + 1;
            gap = index + 1;
            if line.text.len() > longest || line.omitted > 0 {
                sections.push(shorten(line, longest));
                continue;
            }
            if let Some(Section {
                lines,
                content: SectionContent::Shown(text),
            }) = sections.last_mut()
            {
                *lines = *lines.start()..=line.number;
                text.push_str(line.text);
                text.push('\n');
                continue;
            }
            sections.push(Section {
                lines: line.number..=line.number,
                content: SectionContent::Shown(format!("{}\n", line.text)),
            });
        }
        if next <= *self.numbers.end() {
            let rest = next..=*self.numbers.end();
            sections.push(self.gap(gap..self.lines.len(), rest, keep));
        }
        Digested { sections }
    }

    fn gap(
        &self,
        lines: std::ops::Range<usize>,
        numbers: RangeInclusive<u64>,
        keep: &[bool],
    ) -> Section {
        let count = numbers.end() - numbers.start() + 1;
        let is_alike = count == lines.len() as u64 && lines.clone().all(|line| !keep[line]);
        let likeness = if is_alike {
            Likeness::Shown
        } else {
            Likeness::None
        };
        let from = self
            .warnings
            .partition_point(|warning| warning.head < lines.start);
        let until = self
            .warnings
            .partition_point(|warning| warning.head < lines.end);
        let content = marker(&numbers, likeness, &self.warnings[from..until]);
        Section {
            lines: numbers,
            content: SectionContent::LeftOut(content),
        }
    }
}

/// Both ends of a line that is too long.
fn shorten(line: &TextLine<'_>, longest: usize) -> Section {
    let mark = shortened(line.text.len(), line.number).len();
    let room = longest.min(line.text.len()).saturating_sub(mark);
    let half = line.text.len() / 2;
    let head = line.text.floor_char_boundary((room / 3 * 2).min(half));
    let tail = line.text.len() - (room / 3).min(half);
    let tail = line.text.ceil_char_boundary(tail);
    Section {
        lines: line.number..=line.number,
        content: SectionContent::Shortened {
            head: line.text[..head].to_owned(),
            omitted: tail - head + line.omitted,
            tail: line.text[tail..].to_owned(),
        },
    }
}
