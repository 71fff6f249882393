//! Wraps lines to the width of the terminal, between words if possible. Pure functions.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Wraps the text to rows of at most `columns` columns. All characters are kept: a row ends with the space at which it
/// is broken. A word that is too long is split.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(2);
    let mut rows = vec![String::new()];
    let mut width = 0;
    for word in text.split_inclusive(' ') {
        // The space after a word may be in the margin.
        let needed = word.trim_end_matches(' ').width();
        if width > 0 && width + needed > columns {
            rows.push(String::new());
            width = 0;
        }
        for grapheme in word.graphemes(true) {
            let is_space = grapheme == " ";
            if width + grapheme.width() > columns && !is_space {
                rows.push(String::new());
                width = 0;
            }
            width += grapheme.width();
            let row = rows.last_mut().expect("there is one row at least");
            row.push_str(grapheme);
        }
    }
    rows
}

/// Wraps the text to rows of at most `columns` columns, with `first` before the first row and spaces of the same width
/// before the others.
pub(crate) fn hanging(first: &str, text: &str, columns: usize) -> Vec<String> {
    let indent = " ".repeat(first.width());
    let rows = wrapped(text, columns.saturating_sub(indent.len()));
    let rows = rows.iter().enumerate().map(|(place, row)| match place {
        0 => format!("{first}{}", row.trim_end()),
        _ => format!("{indent}{}", row.trim_end()),
    });
    rows.collect()
}

/// Wraps a line to rows of at most `columns` columns. Styled lines are unchanged: they were made to fit.
pub(crate) fn fitted(line: &str, columns: usize) -> Vec<String> {
    if line.contains('\x1b') {
        return vec![line.to_owned()];
    }
    let indent = line.len() - line.trim_start_matches(' ').len();
    let (indent, text) = line.split_at(indent);
    hanging(indent, text, columns)
}

/// Wraps a message to `columns` columns, between words. A word that is too long, such as an address, is not split, so
/// that it can be copied or followed. Styled lines are unchanged.
pub(crate) fn message(text: &str, columns: usize) -> String {
    let lines = text.split('\n').map(|line| {
        if line.width() <= columns || line.contains('\x1b') {
            return line.to_owned();
        }
        let indent = line.len() - line.trim_start_matches(' ').len();
        let (indent, words) = line.split_at(indent);
        let mut rows = vec![String::from(indent)];
        let mut width = indent.len();
        for word in words.split_inclusive(' ') {
            let needed = word.trim_end_matches(' ').width();
            if width > indent.len() && width + needed > columns {
                rows.push(String::from(indent));
                width = indent.len();
            }
            width += word.width();
            let row = rows.last_mut().expect("there is one row at least");
            row.push_str(word);
        }
        let rows: Vec<&str> = rows.iter().map(|row| row.trim_end()).collect();
        rows.join("\n")
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
#[path = "wrap_tests.rs"]
mod tests;
