//! Keeps the characters of a stream whole.
//!
//! A chunk may end inside a character, and the other stream may be pushed
//! before the rest of it: the beginning is then kept back, so that the two
//! are never nested.

use std::borrow::Cow;

#[derive(Debug, Default)]
pub(super) struct WholeCharacters {
    kept: [u8; 3],
    length: u8,
}

impl WholeCharacters {
    /// The held bytes and the chunk, without an incomplete character at the end.
    pub(super) fn push<'chunk>(&mut self, chunk: &'chunk [u8]) -> Cow<'chunk, [u8]> {
        let mut bytes = match self.take().as_slice() {
            [] => Cow::Borrowed(chunk),
            kept => Cow::Owned([kept, chunk].concat()),
        };
        let beginning = bytes.len() - beginning_at_end(&bytes);
        let kept = &bytes[beginning..];
        self.kept[..kept.len()].copy_from_slice(kept);
        self.length = u8::try_from(kept.len()).expect("it is at most three");
        match &mut bytes {
            Cow::Borrowed(bytes) => *bytes = &bytes[..beginning],
            Cow::Owned(bytes) => bytes.truncate(beginning),
        }
        bytes
    }

    /// The number of held bytes.
    pub(super) fn len(&self) -> usize {
        usize::from(self.length)
    }

    /// Takes the held bytes at the end of the stream.
    pub(super) fn take(&mut self) -> Vec<u8> {
        let length = usize::from(std::mem::take(&mut self.length));
        self.kept[..length].to_vec()
    }
}

/// The length of an incomplete character at the end.
fn beginning_at_end(bytes: &[u8]) -> usize {
    for (index, &byte) in bytes.iter().rev().take(3).enumerate() {
        let length = match byte {
            0x80..=0xbf => continue,
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            _ => 0,
        };
        let here = index + 1;
        return if length > here { here } else { 0 };
    }
    0
}

#[cfg(test)]
#[path = "whole_tests.rs"]
mod tests;
