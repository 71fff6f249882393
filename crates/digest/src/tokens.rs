//! Splits a line into tokens and classifies each: a word counts as itself; a
//! number, a name or a value counts as its class. Lines with equal classified
//! tokens are of one kind.

/// Classes of bytes, as bits.
mod byte_class {
    pub(super) const LETTER: u8 = 1;
    pub(super) const DIGIT: u8 = 2;
    /// Punctuation at the edge of a token, which belongs to the sentence.
    pub(super) const TRIMMED: u8 = 4;
    /// Joins the parts of a name.
    pub(super) const JOINT: u8 = 8;
    /// Separates the parts of a path.
    pub(super) const PATH: u8 = 16;
    pub(super) const EQUALS: u8 = 32;
    pub(super) const SPACE: u8 = 64;
    pub(super) const NOT_ASCII: u8 = 128;

    pub(super) static OF: [u8; 256] = {
        let mut table = [0; 256];
        let mut byte = 0_u8;
        loop {
            table[byte as usize] = match byte {
                b'a'..=b'z' | b'A'..=b'Z' => LETTER,
                b'0'..=b'9' => DIGIT,
                b':' => TRIMMED | JOINT,
                b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' | b',' | b';' | b'\''
                | b'"' | b'`' => TRIMMED,
                b'.' | b'_' | b'@' | b'-' => JOINT,
                b'/' | b'\\' => PATH,
                b'=' => EQUALS,
                b' ' => SPACE,
                0x80.. => NOT_ASCII,
                _ => 0,
            };
            if byte == u8::MAX {
                break;
            }
            byte += 1;
        }
        table
    };

    /// All classes that occur in a text.
    pub(super) fn in_text(text: &str) -> u8 {
        let classes = text.bytes().map(|byte| OF[byte as usize]);
        classes.fold(0, |all, class| all | class)
    }

    pub(super) fn is(byte: u8, class: u8) -> bool {
        OF[byte as usize] & class != 0
    }
}

/// Tokens of a text: runs without white space. A quoted run that contains
/// spaces is one token, and `[ 7/35]` is one too.
pub(crate) struct Tokens<'a> {
    rest: &'a str,
}

/// The class of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenClass {
    /// A plain word or punctuation; two kinds differ by it.
    Word,
    /// A number or a percentage.
    Number,
    /// A number with a unit.
    Quantity,
    /// A path, an identifier, a version: anything that names one thing.
    Name,
    /// `key=value` where the value varies.
    Field,
    /// A quoted text with spaces.
    Quote,
    /// A run of drawing characters, as of a progress bar.
    Bar,
}

/// A classified token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineToken<'a> {
    /// The token as written in the line.
    pub(crate) raw: &'a str,
    /// The token without the punctuation around it.
    pub(crate) core: &'a str,
    pub(crate) class: TokenClass,
    /// Equal for tokens that make no difference between kinds.
    pub(crate) hash: u64,
}

impl<'a> Tokens<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        Self { rest: text }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let padding = self.rest.bytes().take_while(u8::is_ascii_whitespace);
        let text = &self.rest[padding.count()..];
        if text.is_empty() {
            return None;
        }
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            match bytes[at] {
                b' ' | b'\t' | 0x0c | b'\r' | b'\n' => break,
                quote @ (b'"' | b'\'' | b'`') if at == 0 || !is_word(bytes[at - 1]) => {
                    at = closing_quote(bytes, at, quote).unwrap_or(at) + 1;
                }
                b'[' | b'(' => at = before_padded_digit(bytes, at) + 1,
                _ => at += 1,
            }
        }
        let (token, rest) = text.split_at(at.max(1).min(text.len()));
        self.rest = rest;
        Some(token)
    }
}

/// The position of the quote that closes the one at `open`.
fn closing_quote(bytes: &[u8], open: usize, quote: u8) -> Option<usize> {
    let from = open + 1;
    let until = bytes.len().min(from + 400);
    let mut at = from;
    while let Some(found) = memchr::memchr(quote, &bytes[at..until]) {
        let close = at + found;
        let escaped = bytes[close - 1] == b'\\';
        let ends_word = bytes.get(close + 1).is_none_or(|next| !is_word(*next));
        if !escaped && ends_word {
            return Some(close);
        }
        at = close + 1;
    }
    None
}

/// Skips the padding in `[  7/35]`, so that it is one token at every width.
fn before_padded_digit(bytes: &[u8], bracket: usize) -> usize {
    let padding = bytes[bracket + 1..]
        .iter()
        .take_while(|byte| **byte == b' ')
        .count();
    match bytes.get(bracket + 1 + padding) {
        Some(next) if padding > 0 && next.is_ascii_digit() => bracket + padding,
        _ => bracket,
    }
}

impl<'a> LineToken<'a> {
    pub(crate) fn read(raw: &'a str) -> Self {
        let classes = byte_class::in_text(raw);
        if classes == byte_class::LETTER {
            let core = raw;
            return Self {
                raw,
                core,
                class: TokenClass::Word,
                hash: hash(raw.as_bytes()),
            };
        }
        let core = core_of(raw);
        let (class, salt) = classify(raw, core, classes);
        let hash = match class {
            TokenClass::Word => hash(raw.as_bytes()),
            TokenClass::Bar => hash(b"bar"),
            _ => salt.wrapping_add(around(raw, core)),
        };
        Self {
            raw,
            core,
            class,
            hash,
        }
    }

    /// Whether it reads as a word: it has two letters in a row.
    pub(crate) fn is_spoken(&self) -> bool {
        self.class == TokenClass::Word
            && self
                .core
                .as_bytes()
                .windows(2)
                .any(|pair| pair.iter().all(u8::is_ascii_alphabetic))
    }
}

/// A token without the punctuation around it.
fn core_of(raw: &str) -> &str {
    let bytes = raw.as_bytes();
    let is_core = |byte: &u8| !byte_class::is(*byte, byte_class::TRIMMED);
    let start = bytes.iter().position(is_core).unwrap_or(bytes.len());
    let end = bytes.iter().rposition(is_core);
    let core = &raw[start..end.map_or(start, |end| end + 1)];
    // Padding inside of a bracket is no difference: `[ 99/400]` is like `[100/400]`.
    let core = core.trim_start_matches(' ');
    if core.as_bytes().first().is_some_and(|first| *first >= 0x80) {
        core.trim_matches(['‘', '’', '“', '”', '…'])
    } else {
        core
    }
}

/// A hash of the punctuation around a core.
fn around(raw: &str, core: &str) -> u64 {
    let start = core.as_ptr() as usize - raw.as_ptr() as usize;
    let end = start + core.len();
    // Padding inside of a bracket is no difference.
    let before = hash(raw[..start].trim_end().as_bytes());
    before.wrapping_mul(31) ^ hash(&raw.as_bytes()[end..])
}

fn classify(raw: &str, core: &str, classes: u8) -> (TokenClass, u64) {
    if core.is_empty() {
        return if is_bar(raw) {
            (TokenClass::Bar, 0)
        } else {
            (TokenClass::Word, 0)
        };
    }
    let bytes = core.as_bytes();
    if !bytes[0].is_ascii_alphanumeric() && is_bar(core) {
        return (TokenClass::Bar, 0);
    }
    let plain = byte_class::LETTER | byte_class::TRIMMED | byte_class::NOT_ASCII;
    if classes & !(plain | byte_class::JOINT) == 0 && !has_joint(bytes) {
        return (TokenClass::Word, 0);
    }
    if classes & byte_class::EQUALS != 0
        && bytes[0] != b'-'
        && let Some(equals) = memchr::memchr(b'=', bytes)
    {
        let (key, value) = (&core[..equals], &core[equals + 1..]);
        if key.ends_with(['<', '>', '~', '!', '=']) || value.starts_with('=') {
            return (TokenClass::Name, 3);
        }
        return (TokenClass::Field, field(key, value));
    }
    if classes & byte_class::SPACE != 0 && core.contains(' ') {
        return (TokenClass::Quote, 4);
    }
    if let Some(rest) = after_number(core) {
        if rest.is_empty() || rest == "%" {
            return (TokenClass::Number, 1);
        }
        if is_unit(rest) {
            return (TokenClass::Quantity, 2);
        }
    }
    if classes & (byte_class::DIGIT | byte_class::PATH) != 0 || has_joint(bytes) {
        (TokenClass::Name, 3)
    } else {
        (TokenClass::Word, 0)
    }
}

/// The kind of a `key=value`: by the key, and by a value that is a plain word.
/// A quoted value is read as words: in `msg="disk is full"` they are the
/// message.
fn field(key: &str, value: &str) -> u64 {
    let key = hash(key.as_bytes());
    if value.contains(' ') {
        let words = Tokens::of(core_of(value)).map(|word| LineToken::read(word).hash);
        return words.fold(key, |sum, word| sum.wrapping_mul(31).wrapping_add(word));
    }
    let varies = value
        .bytes()
        .any(|byte| byte.is_ascii_digit() || matches!(byte, b'/' | b'.' | b':' | b'-'));
    if varies {
        key
    } else {
        key.wrapping_mul(31)
            .wrapping_add(hash(core_of(value).as_bytes()))
    }
}

/// The rest of a text that begins with a number.
pub(crate) fn after_number(text: &str) -> Option<&str> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let first = digits.as_bytes().first()?;
    if !first.is_ascii_digit() {
        return None;
    }
    let end = digits
        .bytes()
        .position(|byte| !byte.is_ascii_digit() && byte != b'.' && byte != b',');
    Some(end.map_or("", |end| &digits[end..]))
}

fn is_unit(text: &str) -> bool {
    const UNITS: &[&str] = &[
        "ms", "s", "us", "µs", "ns", "m", "h", "min", "d", "b", "B", "x",
    ];
    let bytes = text.strip_suffix("/s").unwrap_or(text);
    let size = bytes.strip_suffix(['b', 'B']).unwrap_or(bytes);
    let size = size.strip_suffix('i').unwrap_or(size);
    UNITS.contains(&text) || matches!(size, "" | "k" | "K" | "M" | "G" | "T")
}

/// Whether punctuation inside of a token joins parts of a name: `a.b`, `a::b`.
fn has_joint(bytes: &[u8]) -> bool {
    let mut inner = bytes.windows(3);
    inner.any(|three| {
        byte_class::is(three[1], byte_class::JOINT)
            && is_word(three[0])
            && (is_word(three[2]) || three[2] == b':')
    })
}

/// The texts of tokens without the punctuation around them.
pub(crate) fn cores(text: &str) -> impl Iterator<Item = &str> {
    Tokens::of(text).map(core_of)
}

/// Whether a token is drawn: ten or more characters, none of them a letter.
fn is_bar(text: &str) -> bool {
    text.len() >= 10
        && text.chars().all(|character| !character.is_alphanumeric())
        && text.chars().count() >= 10
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// A fast hash of short byte strings. It need not resist an adversary.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut state = bytes.len() as u64 ^ FACTOR;
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let word = u64::from_le_bytes(chunk.try_into().expect("a chunk has eight bytes"));
        state = (state.rotate_left(23) ^ word).wrapping_mul(FACTOR);
    }
    let mut last = 0;
    for byte in chunks.remainder() {
        last = last << 8 | u64::from(*byte);
    }
    state = (state.rotate_left(23) ^ last).wrapping_mul(FACTOR);
    state ^ state >> 29
}

/// A token's contribution to the kind of its line: from its hash and its
/// position.
pub(crate) fn placed(hash: u64, place: usize) -> u64 {
    let mixed = (hash ^ (place as u64 + 1).wrapping_mul(0xff51_afd7_ed55_8ccd))
        .wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    mixed ^ mixed >> 32
}
