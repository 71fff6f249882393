//! Source locations: a text, and a range of its bytes.
//!
//! The reading code uses [`TextSpan`]; people see a [`SourceLocation`].

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// A source text: a file, a variable or a flag.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SourceText {
    /// The name to show.
    pub(crate) name: String,
    pub(crate) file: Option<PathBuf>,
    /// All of it.
    pub(crate) body: String,
}

/// Some bytes of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextSpan {
    pub(crate) text: Arc<SourceText>,
    pub(crate) range: Range<usize>,
}

impl TextSpan {
    pub(crate) fn new(text: &Arc<SourceText>, range: Range<usize>) -> Self {
        Self {
            text: Arc::clone(text),
            range,
        }
    }

    /// The span in lines and columns.
    pub(crate) fn place(&self) -> SourceLocation {
        let text = &self.text.body;
        let start = floor_boundary(text, self.range.start);
        let end = floor_boundary(text, self.range.end.max(start));
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[start..]
            .find('\n')
            .map_or(text.len(), |newline| start + newline);
        SourceLocation {
            name: self.text.name.clone(),
            file: self.text.file.clone(),
            line: text[..start].matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            excerpt: text[line_start..line_end].trim_end().to_owned(),
            width: text[start..end.min(line_end).max(start)].chars().count(),
        }
    }
}

/// The nearest character boundary at or before `index`.
fn floor_boundary(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

/// A location in a file, a variable or a flag, for people.
///
/// It displays as `file:line:column`. For a variable or a flag, which usually
/// have one line, only the name is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLocation {
    /// The name of the file, variable or flag to show.
    pub name: String,
    pub file: Option<PathBuf>,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The whole line.
    pub excerpt: String,
    /// The length of the marked text, in characters.
    pub width: usize,
}

impl SourceLocation {
    /// Replaces the marked text, and the line after it, in the excerpt.
    pub(crate) fn hide(&mut self) {
        self.excerpt = self.excerpt.chars().take(self.column - 1).collect();
        self.excerpt.push('…');
        self.width = 1;
    }

    /// The line with a caret under the marked text.
    pub(crate) fn caret(&self) -> String {
        let number = self.line.to_string();
        let gutter = " ".repeat(number.len());
        // Tabs are repeated, so that the caret stands where the reader's
        // terminal puts the character.
        let indent: String = self
            .excerpt
            .chars()
            .take(self.column - 1)
            .map(|character| if character == '\t' { '\t' } else { ' ' })
            .collect();
        let carets = "^".repeat(self.width.max(1));
        format!("{number} | {}\n{gutter} | {indent}{carets}", self.excerpt)
    }
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.file {
            Some(_) => write!(formatter, "{}:{}:{}", self.name, self.line, self.column),
            None => formatter.write_str(&self.name),
        }
    }
}
