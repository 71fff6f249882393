//! Determines whether the parser is between sequences, which its API does not
//! expose.
//!
//! Start at [`is_ground`]. An escape always starts a new sequence, so only the
//! last one matters.

use memchr::{memchr, memrchr};

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;

/// Whether the next byte is text, or a control character of its own. If that is not easily said, it is not so.
pub(super) fn is_ground(before: bool, bytes: &[u8]) -> bool {
    let Some(last) = memrchr(ESCAPE, bytes) else {
        return before;
    };
    let ends = |rest: &[u8], within: std::ops::Range<u8>, ends: std::ops::RangeInclusive<u8>| {
        let end = rest.iter().find(|byte| !within.contains(byte));
        end.is_some_and(|byte| ends.contains(byte))
    };
    match &bytes[last + 1..] {
        [b'[', rest @ ..] => ends(rest, b' '..b'@', b'@'..=b'~'),
        [b']', rest @ ..] => memchr(BELL, rest).is_some(),
        // What these begin is ended by another escape.
        [b'P' | b'X' | b'^' | b'_', ..] => false,
        rest => ends(rest, b' '..b'0', b'0'..=b'~'),
    }
}

#[cfg(test)]
#[path = "ground_tests.rs"]
mod tests;
