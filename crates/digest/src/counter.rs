//! Counters and bars: `7/35`, `42%`, `[=====>    ]`.

/// A progress counter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Counter {
    pub(crate) value: f64,
    /// The total, if given. A percentage has none.
    pub(crate) total: Option<f64>,
}

impl Counter {
    /// The first counter in a line.
    pub(crate) fn find(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let mut from = 0;
        while let Some(found) = memchr::memchr2(b'/', b'%', &bytes[from..]) {
            let at = from + found;
            let counter = if bytes[at] == b'%' {
                number_before(text, at).map(|value| Self { value, total: None })
            } else {
                number_before(text, at)
                    .zip(number_after(text, at + 1))
                    .map(|(value, total)| Self {
                        value,
                        total: Some(total),
                    })
            };
            if counter.is_some() {
                return counter;
            }
            from = at + 1;
        }
        None
    }
}

fn number_before(text: &str, end: usize) -> Option<f64> {
    let bytes = text.as_bytes();
    let end = if end > 0 && bytes[end - 1] == b' ' {
        end - 1
    } else {
        end
    };
    let digits = bytes[..end]
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_digit() || **byte == b'.')
        .count();
    let start = end - digits;
    let is_inside =
        start > 0 && (bytes[start - 1].is_ascii_alphanumeric() || bytes[start - 1] == b'_');
    if is_inside {
        return None;
    }
    text.get(start..end)?.parse().ok()
}

fn number_after(text: &str, start: usize) -> Option<f64> {
    let rest = text.get(start..)?;
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    let length = rest
        .bytes()
        .take_while(|byte| byte.is_ascii_digit() || *byte == b'.')
        .count();
    let is_inside = rest
        .as_bytes()
        .get(length)
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'/'));
    if is_inside {
        return None;
    }
    rest[..length].parse().ok()
}

/// Whether a line has a run of ten drawing characters.
pub(crate) fn has_bar(text: &str) -> bool {
    const LONG: usize = 10;
    let runs = text.as_bytes().chunk_by(|left, right| left == right);
    let mut runs = runs.filter(|run| run.len() >= LONG);
    if runs.any(|run| b"#=-.>*".contains(&run[0])) {
        return true;
    }
    ["━", "█", "▓", "░"]
        .iter()
        .any(|drawn| !text.is_ascii() && text.contains(&drawn.repeat(LONG)))
}
