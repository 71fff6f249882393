//! Replays recorded programs in tests.
//!
//! A recording consists of lines: `< ` with program output, `> ` with typed
//! text, and `.` for a read. Control characters are written as `\e`, `\r`,
//! `\n`, `\t`, `\b`, `\a` and `\x7f`.

use super::{Screen, ScreenReader, ScreenView};

/// The texts that an assistant reads from a recording on 24 rows of 80 columns,
/// one per read.
pub(super) fn replay(recording: &str) -> Vec<String> {
    let mut screen = Screen::new(24, 80);
    let mut reader = ScreenReader::default();
    let mut told = Vec::new();
    let mut look = |screen: &mut Screen| {
        let text = screen.read(&mut reader, ScreenView::New, usize::MAX).text;
        told.push(text);
    };
    for line in recording.lines() {
        if let Some(output) = line.strip_prefix("< ") {
            screen.feed(&bytes(output));
        } else if let Some(typed) = line.strip_prefix("> ") {
            look(&mut screen);
            screen.typed(&String::from_utf8(bytes(typed)).unwrap());
        } else {
            look(&mut screen);
        }
    }
    look(&mut screen);
    told
}

/// The looks, one below the other.
pub(super) fn replayed(recording: &str) -> String {
    replay(recording).join("\n======\n")
}

/// The bytes of a line of a recording.
pub(super) fn bytes(escaped: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut characters = escaped.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            bytes.extend(character.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        bytes.push(match characters.next().unwrap() {
            'e' => 0x1b,
            'r' => b'\r',
            'n' => b'\n',
            't' => b'\t',
            'b' => 0x08,
            'a' => 0x07,
            'x' => {
                let digits: String = characters.by_ref().take(2).collect();
                u8::from_str_radix(&digits, 16).unwrap()
            }
            other => u8::try_from(other).unwrap(),
        });
    }
    bytes
}
