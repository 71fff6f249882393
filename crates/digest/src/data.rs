//! Distinguishes data from reports. Data was asked for and passes unchanged.

use super::counter::Counter;
use super::kinds::HashedMap;
use super::line::{LineTraits, TextLine};
use super::table::is_table;

/// The number of lines at each end by which a text is judged.
const JUDGED: usize = 1000;
/// The maximum length of a line; a text with longer ones is packed.
const PACKED: usize = 4000;

/// Whether a text is data: JSON, separated values, a diff, source, a listing, a
/// table.
pub(crate) fn is_data(lines: &[TextLine<'_>]) -> bool {
    let tail = lines
        .len()
        .saturating_sub(JUDGED)
        .max(JUDGED.min(lines.len()));
    let judged: Vec<&TextLine<'_>> = lines[..JUDGED.min(lines.len())]
        .iter()
        .chain(&lines[tail..])
        .filter(|line| !line.is_blank())
        .collect();
    let Some(first) = judged.first() else {
        return true;
    };
    let share = |is: &dyn Fn(&TextLine<'_>) -> bool| {
        let count = judged.iter().filter(|line| is(line)).count();
        // At most 2000 lines: both are exact.
        f64::from(u32::try_from(count).unwrap_or(u32::MAX))
            / f64::from(u32::try_from(judged.len()).unwrap_or(u32::MAX))
    };
    if share(&|line| line.traits.has(LineTraits::JSON)) > 0.6 {
        return false;
    }
    let stamped = share(&|line| line.stamp.is_some());
    let json = share(&|line| is_json_piece(line.text));
    let opens_json = first.text.trim_start().starts_with(['{', '[']);
    if json > 0.8 || opens_json && stamped < 0.5 && json > 0.5 {
        return true;
    }
    if judged.iter().any(|line| is_hunk(line.text)) || share(&|line| has_id(line.text)) > 0.6 {
        return true;
    }
    if is_separated(&judged, stamped) {
        return true;
    }
    if stamped < 0.2 && share(&|line| is_source(line.text)) > 0.5 {
        return true;
    }
    if share(&|line| line.stamp.is_none() && is_listed(line.text)) > 0.6 {
        return true;
    }
    if judged.len() < 200 && judged.iter().any(|line| line.text.len() > PACKED) {
        return true;
    }
    stamped < 0.2 && share(&|line| Counter::find(line.text).is_some()) < 0.5 && is_table(&judged)
}

/// Whether a line is a piece of pretty-printed JSON.
fn is_json_piece(text: &str) -> bool {
    let text = text.trim();
    let value = text.strip_suffix(',').unwrap_or(text);
    if matches!(
        value,
        "{" | "}" | "[" | "]" | "{}" | "[]" | "true" | "false" | "null"
    ) {
        return true;
    }
    let Some(rest) = value.strip_prefix('"') else {
        let is_digit = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-');
        return !value.is_empty() && value.bytes().all(is_digit);
    };
    match rest.find('"') {
        Some(close) => {
            let behind = rest[close + 1..].trim_start();
            behind.is_empty() || behind.starts_with(':')
        }
        None => false,
    }
}

/// Whether a line opens a hunk of a unified diff.
fn is_hunk(text: &str) -> bool {
    text.strip_prefix("@@ -")
        .is_some_and(|rest| rest.contains(" @@"))
}

/// Whether a line begins with a hash or an address, as in a listing of them.
fn has_id(text: &str) -> bool {
    let id = text.trim_start_matches('^');
    let id = id.split(' ').next().unwrap_or("");
    (7..=40).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_hexdigit())
        && id.bytes().any(|byte| byte.is_ascii_alphabetic())
        && id.bytes().any(|byte| byte.is_ascii_digit())
}

/// Whether lines are rows: nearly all have the same number of separators.
fn is_separated(lines: &[&TextLine<'_>], stamped: f64) -> bool {
    if lines.len() < 5 {
        return false;
    }
    [b',', b'\t', b'|', b';'].into_iter().any(|separator| {
        let mut counts: HashedMap<usize> = HashedMap::default();
        for line in lines {
            let count = memchr::memchr_iter(separator, line.text.as_bytes()).count();
            *counts.entry(count as u64).or_default() += 1;
        }
        let common = counts
            .iter()
            .max_by_key(|(count, lines)| (**lines, **count));
        let Some((separators, rows)) = common else {
            return false;
        };
        // The times of a log stand before its text; those of a table stand in its cells.
        let all_packed = || lines.iter().all(|line| is_packed(line.text, separator));
        if stamped >= 0.5 && *rows == lines.len() && all_packed() {
            let has_heads = *separators >= 1 && lines[0].stamp.is_none();
            return *separators >= 2 || has_heads;
        }
        // Sentences have commas as well, and those of a log may all have the same number.
        let is_told = stamped >= 0.5 && matches!(separator, b',' | b';');
        *separators >= 2 && rows * 100 >= lines.len() * 85 && stamped < 0.5
            || *separators >= 3 && rows * 100 >= lines.len() * 95 && !is_told
    })
}

/// Whether no space follows a separator, unlike in a sentence, and no cell is a
/// sentence.
fn is_packed(text: &str, separator: u8) -> bool {
    let mut cells = text.as_bytes().split(|byte| *byte == separator);
    cells.all(|cell| cell.first() != Some(&b' ') && memchr::memchr_iter(b' ', cell).count() <= 2)
}

/// Whether a line looks like source code: by its end, or by a keyword at its
/// beginning.
fn is_source(text: &str) -> bool {
    const BEGINNINGS: &[&str] = &[
        "//", "/*", "*/", "* ", "#include", "import ", "from ", "use ", "def ", "fn ", "pub ",
        "let ", "const ", "return", "end", "@", "class ", "func ", "var ", "if ", "for ",
    ];
    let text = text.trim();
    text.ends_with(['{', '}', ';', ',', '('])
        || BEGINNINGS
            .iter()
            .any(|beginning| text.starts_with(beginning))
}

/// Whether a line is an entry of a listing: a file's mode, a number and a colon, or
/// a branch of a drawn tree.
fn is_listed(text: &str) -> bool {
    let text = text.trim_start();
    let is_mode = |byte: &u8| b"dlrwxst-bcpS".contains(byte);
    if text.starts_with(['├', '└', '│']) {
        return true;
    }
    let bytes = text.as_bytes();
    let digits = bytes
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    digits > 0 && bytes.get(digits) == Some(&b':')
        || bytes.len() > 10 && bytes[..10].iter().all(is_mode)
}
