//! Finds the time stamp near the beginning of a line.
//!
//! Time stamps that go forward distinguish a log from a listing.

/// A time stamp in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// The byte at which its token begins.
    start: u16,
    /// The byte after it.
    end: u16,
    /// Its seconds of the day, or since the start.
    pub(crate) seconds: u32,
}

/// The maximum offset of a time stamp in a line.
const REACH: usize = 100;
/// The maximum number of words before it: a date, a host, a level.
const WORDS_BEFORE: usize = 4;

impl Stamp {
    fn new(range: std::ops::Range<usize>, seconds: u32) -> Option<Self> {
        Some(Self {
            start: u16::try_from(range.start).ok()?,
            end: u16::try_from(range.end).ok()?,
            seconds,
        })
    }

    /// The text before the stamp and the text after it.
    pub(crate) fn around(self, text: &str) -> [&str; 2] {
        [&text[..self.start.into()], &text[self.end.into()..]]
    }

    pub(crate) fn find(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let reach = &bytes[..bytes.len().min(REACH)];
        if let Some(stamp) = Self::since_start(reach).or_else(|| Self::in_digits(reach)) {
            return Some(stamp);
        }
        let mut from = 0;
        while let Some(found) = memchr::memchr2(b':', b'.', &reach[from..]) {
            let separator = from + found;
            if let Some(stamp) = Self::at_separator(bytes, separator) {
                let lead = &bytes[..stamp.start.into()];
                return is_lead(lead).then_some(stamp);
            }
            from = separator + 1;
        }
        None
    }

    /// `10:00:00` whose first colon is at `separator`, or `10.00.00` after a
    /// date in the same token.
    fn at_separator(bytes: &[u8], separator: usize) -> Option<Self> {
        let mark = bytes[separator];
        let hour = separator.checked_sub(2)?;
        let clock = bytes.get(hour..hour + 8)?;
        let is_pair = |at: usize| clock[at].is_ascii_digit() && clock[at + 1].is_ascii_digit();
        if clock[5] != mark || !is_pair(0) || !is_pair(3) || !is_pair(6) {
            return None;
        }
        let before = &bytes[..hour];
        let start = before
            .iter()
            .rposition(u8::is_ascii_whitespace)
            .map_or(0, |at| at + 1);
        let prefix = &before[start..];
        let has_date = prefix.len() >= 8 && prefix[..4].iter().all(u8::is_ascii_digit);
        if mark == b'.' && !has_date {
            return None;
        }
        match prefix.last() {
            Some(b':') => {
                // The year of `[16/Nov/2026:10:00:00 +0000]`.
                let year = prefix.len().checked_sub(5)?;
                if !prefix[year..year + 4].iter().all(u8::is_ascii_digit) {
                    return None;
                }
            }
            Some(b'T' | b'_' | b'-' | b'[' | b'(' | b'<' | b'"' | b'|' | b'=') | None => {}
            Some(_) => return None,
        }
        let pair = |at: usize| u32::from(clock[at] - b'0') * 10 + u32::from(clock[at + 1] - b'0');
        let (hours, minutes, seconds) = (pair(0), pair(3), pair(6));
        if hours > 24 || minutes > 59 || seconds > 60 {
            return None;
        }
        let mut end = hour + 8;
        while bytes.get(end).is_some_and(|byte| {
            byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b':' | b'+' | b'Z')
        }) {
            end += 1;
        }
        Self::new(start..end, hours * 3600 + minutes * 60 + seconds)
    }

    /// `[    1.234567]`, seconds since the start of something.
    fn since_start(bytes: &[u8]) -> Option<Self> {
        let inner = bytes.strip_prefix(b"[")?;
        let padding = inner.iter().take_while(|byte| **byte == b' ').count();
        let close = memchr::memchr(b']', inner)?;
        let number = inner.get(padding..close)?;
        let point = memchr::memchr(b'.', number)?;
        let (whole, fraction) = (&number[..point], &number[point + 1..]);
        let is_number = |digits: &[u8]| digits.iter().all(u8::is_ascii_digit);
        if whole.is_empty() || fraction.len() < 3 || !is_number(whole) || !is_number(fraction) {
            return None;
        }
        let seconds = std::str::from_utf8(whole).ok()?.parse().ok()?;
        Self::new(0..close + 2, seconds)
    }

    /// `20261116 100000` or `261116 100000`, a date and a time of digits alone.
    fn in_digits(bytes: &[u8]) -> Option<Self> {
        let digits = |from: usize| {
            bytes[from..]
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count()
        };
        let date = digits(0);
        if !(6..=8).contains(&date) || bytes.get(date) != Some(&b' ') || digits(date + 1) != 6 {
            return None;
        }
        let end = date + 7;
        if bytes.get(end).is_some_and(|byte| *byte != b' ') {
            return None;
        }
        let pair = |at: usize| {
            u32::from(bytes[date + 1 + at] - b'0') * 10 + u32::from(bytes[date + 2 + at] - b'0')
        };
        let (hours, minutes, seconds) = (pair(0), pair(2), pair(4));
        let is_time = hours < 25 && minutes < 60 && seconds < 61;
        let seconds = hours * 3600 + minutes * 60 + seconds;
        is_time.then(|| Self::new(0..end, seconds)).flatten()
    }
}

/// Whether a text may precede a time stamp: a few words, no sentence.
fn is_lead(lead: &[u8]) -> bool {
    let words = lead
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    let mut count = 0;
    for word in words {
        count += 1;
        let ends_sentence = matches!(word.last(), Some(b'.' | b'!' | b'?'));
        let is_call = word
            .windows(2)
            .any(|pair| pair[0].is_ascii_alphanumeric() && pair[1] == b'(');
        if ends_sentence || is_call {
            return false;
        }
    }
    count <= WORDS_BEFORE
}

/// Whether a word is the name of a month or a weekday, short or long.
pub(crate) fn is_calendar(word: &str) -> bool {
    const NAMES: &[&str] = &[
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Mon",
        "Tue", "Wed", "Thu", "Fri", "Sat", "Sun",
    ];
    word.len() == 3 && NAMES.contains(&word)
}
