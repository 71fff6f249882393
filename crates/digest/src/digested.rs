//! The result of a digest: sections of shown and omitted lines.

use std::ops::RangeInclusive;

/// A part of an output as it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digested {
    /// The sections, in order. Together they cover every line once.
    pub sections: Vec<Section>,
}

/// Consecutive lines that share a fate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Their numbers in the whole output, from 1.
    pub lines: RangeInclusive<u64>,
    /// Whether they are shown.
    pub content: SectionContent,
}

/// The part of some lines that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SectionContent {
    /// The lines, each with its newline.
    Shown(String),
    /// A marker that names the lines, without a newline.
    LeftOut(String),
    /// Both ends of one line that is too long for the limit.
    Shortened {
        /// The beginning of the line.
        head: String,
        /// The number of omitted bytes between them.
        omitted: usize,
        /// The end of the line.
        tail: String,
    },
}

impl Digested {
    /// Shown lines and markers, each on a line of its own.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for section in &self.sections {
            match &section.content {
                SectionContent::Shown(lines) => text.push_str(lines),
                SectionContent::LeftOut(marker) => {
                    text.push_str(marker);
                    text.push('\n');
                }
                SectionContent::Shortened {
                    head,
                    omitted,
                    tail,
                } => {
                    text.push_str(head);
                    text.push_str(&shortened(*omitted, *section.lines.start()));
                    text.push_str(tail);
                    text.push('\n');
                }
            }
        }
        text
    }

    /// Whether every line is shown whole.
    pub fn is_whole(&self) -> bool {
        let is_shown = |section: &Section| matches!(section.content, SectionContent::Shown(_));
        self.sections.iter().all(is_shown)
    }

    /// The lines that are not shown, or not whole.
    pub fn left_out(&self) -> impl Iterator<Item = RangeInclusive<u64>> {
        let is_shown = |section: &&Section| !matches!(section.content, SectionContent::Shown(_));
        let sections = self.sections.iter().filter(is_shown);
        sections.map(|section| section.lines.clone())
    }
}

/// The marker within a shortened line.
pub(crate) fn shortened(omitted: usize, line: u64) -> String {
    format!("[… {omitted} bytes of line {line} …]")
}
