//! One line with all properties that the rules use, read in one pass.

use super::json_line::{JsonLine, JsonValues};
use super::stamp::{Stamp, is_calendar};
use super::success::{HttpExchange, is_reservation, word_of_success};
use super::tokens::{LineToken, TokenClass, Tokens, cores, hash, placed};
use super::trouble::{TroubleReader, is_low_level};

/// The maximum offset of a level in a line.
const LEVEL_REACH: usize = 90;
/// The number of tokens of a line among which words are counted.
pub(crate) const COUNTED_TOKENS: usize = 48;
/// The length up to which a line is read; the kind of a longer line depends on
/// its beginning.
const READ_LENGTH: usize = 4096;

/// One rendered line.
#[derive(Debug)]
pub(crate) struct TextLine<'a> {
    pub(crate) text: &'a str,
    /// Its number in the whole output, from 1.
    pub(crate) number: u64,
    /// Milliseconds since the start at which it was complete.
    pub(crate) at: u32,
    /// Equal for lines that differ in numbers, names and values only.
    pub(crate) kind: u64,
    pub(crate) indent: u16,
    /// The number of plain words among the first [`COUNTED_TOKENS`].
    pub(crate) words: u8,
    pub(crate) stamp: Option<Stamp>,
    pub(crate) traits: LineTraits,
    /// The number of bytes omitted from its middle.
    pub(crate) omitted: usize,
}

/// Properties of a line that are true or false.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LineTraits(u8);

impl LineTraits {
    pub(crate) const BLANK: Self = Self(1);
    pub(crate) const TROUBLED: Self = Self(2);
    pub(crate) const SUCCEEDED: Self = Self(4);
    pub(crate) const LOW_LEVEL: Self = Self(8);
    pub(crate) const JSON: Self = Self(16);
    /// Nothing but a time stamp.
    pub(crate) const BARE: Self = Self(32);

    pub(crate) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn set(&mut self, other: Self, is_set: bool) {
        if is_set {
            self.0 |= other.0;
        }
    }
}

impl<'a> TextLine<'a> {
    pub(crate) fn read(text: &'a str, number: u64, at: u32) -> Self {
        let indent = text.bytes().take_while(u8::is_ascii_whitespace).count();
        let mut line = Self {
            text,
            number,
            at,
            kind: 0,
            indent: u16::try_from(indent).unwrap_or(u16::MAX),
            words: 0,
            stamp: None,
            traits: LineTraits::default(),
            omitted: 0,
        };
        if indent == text.len() {
            line.traits.set(LineTraits::BLANK, true);
        } else if let Some(json) = JsonLine::read(text) {
            line.kind = json.kind;
            line.traits.set(LineTraits::JSON, true);
            line.traits.set(LineTraits::TROUBLED, json.is_troubled);
        } else {
            line.read_tokens();
        }
        line
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.traits.has(LineTraits::BLANK)
    }

    pub(crate) fn is_troubled(&self) -> bool {
        self.traits.has(LineTraits::TROUBLED)
    }

    /// Whether it is a line of a log: it has a time stamp.
    pub(crate) fn is_logged(&self) -> bool {
        self.stamp.is_some() || self.traits.has(LineTraits::JSON)
    }

    /// Its tokens, without the time stamp.
    pub(crate) fn tokens(&self) -> impl Iterator<Item = LineToken<'a>> + use<'a> {
        let [lead, rest] = self.around_stamp();
        Tokens::of(lead)
            .chain(Tokens::of(rest))
            .map(LineToken::read)
    }

    /// The text before and behind the time stamp.
    fn around_stamp(&self) -> [&'a str; 2] {
        let text = &self.text[..self.text.floor_char_boundary(READ_LENGTH)];
        match self.stamp {
            Some(stamp) => stamp.around(text),
            None => ["", text],
        }
    }

    /// Collects the texts that differ between lines of one kind: tokens without
    /// their punctuation, or the values of an object.
    pub(crate) fn collect_values(&self, values: &mut Vec<&'a str>) {
        if self.traits.has(LineTraits::JSON) {
            values.extend(JsonValues::of(self.text).map(|value| value.text));
        } else {
            let [lead, rest] = self.around_stamp();
            values.extend(cores(lead).chain(cores(rest)));
        }
    }

    fn read_tokens(&mut self) {
        self.stamp = Stamp::find(self.text);
        let success = match self.stamp {
            Some(_) => None,
            None => word_of_success(self.text),
        };
        let base = self.text.as_ptr() as usize;
        let mut trouble = TroubleReader::default();
        let (mut kind, mut first, mut count, mut is_low) = (0_u64, 0, 0, false);
        let mut exchange = HttpExchange::default();
        let mut is_reserved = false;
        for token in self.tokens() {
            let share = if self.stamp.is_some() && is_calendar(token.core) {
                1
            } else {
                token.hash
            };
            if count == 0 {
                first = share;
            }
            kind = kind.wrapping_add(placed(share, count));
            let place = token.raw.as_ptr() as usize - base;
            is_low |= place < LEVEL_REACH && is_low_level(&token);
            trouble.read(&token);
            exchange.read(&token);
            is_reserved |= success.is_some() && is_reservation(token.core);
            self.words += u8::from(token.class == TokenClass::Word && count < COUNTED_TOKENS);
            count += 1;
        }
        self.kind = kind ^ u64::from(self.stamp.is_some());
        let success = success.filter(|_| !is_reserved);
        let is_answered = self.stamp.is_none() && exchange.is_answered();
        self.traits
            .set(LineTraits::SUCCEEDED, success.is_some() || is_answered);
        if let Some(word) = success
            && count > 2
        {
            self.kind = first ^ hash(word.as_bytes()).rotate_left(17);
        }
        let is_troubled = success.is_none() && trouble.finish() || is_marked(self.text);
        self.traits.set(LineTraits::TROUBLED, is_troubled);
        self.traits.set(LineTraits::LOW_LEVEL, is_low);
        self.traits
            .set(LineTraits::BARE, self.stamp.is_some() && count == 0);
    }
}

/// Whether a line is marked as an error at its very beginning.
fn is_marked(text: &str) -> bool {
    text.starts_with("E  ")
}
