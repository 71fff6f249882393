//! No bytes, sizes or looks do a screen any harm.
//!
//! A byte of 0xff takes the next two as a new size; 0xfe looks. Everything else is drawn.

#![no_main]

use libfuzzer_sys::fuzz_target;
use windlass_output::{Screen, ScreenReader, ScreenView};

fuzz_target!(|data: &[u8]| {
    let mut screen = Screen::new(24, 80);
    let mut reader = ScreenReader::default();
    let mut rest = data;
    while let Some(at) = rest.iter().position(|&byte| byte >= 0xfe) {
        screen.feed(&rest[..at]);
        let command = rest[at];
        rest = &rest[at + 1..];
        if command == 0xfe {
            let told = screen.read(&mut reader, ScreenView::New, 1000);
            assert!(told.text.len() <= 1000);
        } else if let [rows, cols, after @ ..] = rest {
            screen.resize((*rows).into(), (*cols).into());
            rest = after;
        }
    }
    screen.feed(rest);
});
