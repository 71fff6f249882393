//! A part of an output on its way into the digest, in bounded memory.
//!
//! Up to [`WHOLE`] bytes are kept. Of a larger part, the first and the last MiB
//! are kept, and only the troubled lines of the middle.

use std::time::Duration;

use super::kinds::HashedMap;
use super::line::TextLine;
use super::trouble::may_be_troubled;

/// The most bytes that are digested whole.
const WHOLE: usize = 4 << 20;
/// The size of a block.
const BLOCK: usize = 1 << 20;
/// The maximum number of lines in a block. Short lines need more memory than
/// their text.
const BLOCK_LINES: usize = 16 << 10;
/// The number of troubled lines of one kind that are kept of the middle.
const OF_KIND: u8 = 2;
/// The most bytes that are kept of the middle.
const MIDDLE: usize = 256 << 10;

/// Lines in order.
#[derive(Default)]
pub(crate) struct Passage {
    /// The first is the head, and the last is being filled.
    blocks: Vec<LineBlock>,
    /// Troubled lines between the first and the second block.
    middle: LineBlock,
    middle_kinds: HashedMap<u8>,
    /// The lines so far.
    count: u64,
    bytes: u64,
}

#[derive(Default)]
struct LineBlock {
    text: String,
    lines: Vec<StoredLine>,
}

#[derive(Clone, Copy)]
struct StoredLine {
    end: u32,
    at: u32,
    /// Its place in the passage, from 0.
    place: u64,
    /// The number of bytes omitted from the middle of the line.
    omitted: usize,
}

impl Passage {
    /// Adds a complete line, without its newline, and its completion time since
    /// the tool's start.
    pub(crate) fn push(&mut self, text: &str, at: Duration) {
        let line = StoredLine {
            end: 0,
            at: u32::try_from(at.as_millis()).unwrap_or(u32::MAX),
            place: self.count,
            omitted: 0,
        };
        self.count += 1;
        self.bytes += text.len() as u64 + 1;
        let is_full = self.blocks.last().is_none_or(LineBlock::is_full);
        if is_full {
            self.make_room();
            self.blocks.push(LineBlock::default());
        }
        let block = self.blocks.last_mut().expect("one was pushed");
        block.push(text, line);
    }

    /// Counts lines that were not kept.
    pub(crate) fn skip(&mut self, lines: u64) {
        self.count += lines;
    }

    /// The number of lines.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Whether every line is here.
    pub(crate) fn is_complete(&self) -> bool {
        let kept: usize = self.blocks.iter().map(|block| block.lines.len()).sum();
        kept as u64 == self.count
    }

    /// The number of bytes of text, including newlines.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The lines that are kept, as text.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.kept().map(|(text, _)| text)
    }

    /// Reads every line that is kept. The first is number `first`.
    pub(crate) fn lines(&self, first: u64) -> Vec<TextLine<'_>> {
        let lines = self.kept();
        lines
            .map(|(text, stored)| {
                let mut line = TextLine::read(text, first + stored.place, stored.at);
                line.omitted = stored.omitted;
                line
            })
            .collect()
    }

    fn kept(&self) -> impl Iterator<Item = (&str, &StoredLine)> {
        let (head, tail) = self.blocks.split_at(self.blocks.len().min(1));
        let blocks = head.iter().chain([&self.middle]).chain(tail);
        blocks.flat_map(LineBlock::iter)
    }

    /// Drops the oldest block after the head if there are too many.
    fn make_room(&mut self) {
        if self.blocks.len() < WHOLE / BLOCK {
            return;
        }
        let block = self.blocks.remove(1);
        for (text, line) in block.iter() {
            if self.middle.text.len() + text.len() > MIDDLE || !may_be_troubled(text) {
                continue;
            }
            let read = TextLine::read(text, 0, 0);
            let seen = self.middle_kinds.entry(read.kind).or_default();
            if read.is_troubled() && *seen < OF_KIND {
                *seen += 1;
                self.middle.push(text, *line);
            }
        }
    }
}

impl LineBlock {
    fn push(&mut self, text: &str, line: StoredLine) {
        let mut omitted = line.omitted;
        if text.len() > BLOCK {
            // No reply could hold it: both ends are enough.
            let head = text.floor_char_boundary(BLOCK / 2);
            let tail = text.ceil_char_boundary(text.len() - BLOCK / 2);
            self.text.push_str(&text[..head]);
            self.text.push_str(&text[tail..]);
            omitted += tail - head;
        } else {
            self.text.push_str(text);
        }
        let end = u32::try_from(self.text.len()).expect("a block is small");
        self.lines.push(StoredLine {
            end,
            omitted,
            ..line
        });
    }

    fn is_full(&self) -> bool {
        self.text.len() >= BLOCK || self.lines.len() >= BLOCK_LINES
    }

    fn iter(&self) -> impl Iterator<Item = (&str, &StoredLine)> {
        let starts = [0]
            .into_iter()
            .chain(self.lines.iter().map(|line| line.end));
        let lines = starts.zip(&self.lines);
        lines.map(|(start, line)| (&self.text[start as usize..line.end as usize], line))
    }
}
