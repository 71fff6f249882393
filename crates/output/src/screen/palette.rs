//! The default colours, reported unless the program has set others.
//!
//! They are xterm's: light text on black, sixteen colours, a cube and a ramp of
//! greys.

use alacritty_terminal::vte::ansi::{NamedColor, Rgb};

/// The colour at an index of the emulator: 256 of the palette, then the terminal's own.
pub(super) fn colour(index: usize) -> Rgb {
    match index {
        0..16 => SIXTEEN[index],
        16..232 => {
            let cube = index - 16;
            rgb(level(cube / 36), level(cube / 6 % 6), level(cube % 6))
        }
        232..256 => {
            let grey = u8::try_from(8 + 10 * (index - 232)).unwrap_or(u8::MAX);
            rgb(grey, grey, grey)
        }
        _ if index == NamedColor::Background as usize => SIXTEEN[0],
        _ => SIXTEEN[7],
    }
}

const SIXTEEN: [Rgb; 16] = [
    rgb(0x00, 0x00, 0x00),
    rgb(0xcd, 0x00, 0x00),
    rgb(0x00, 0xcd, 0x00),
    rgb(0xcd, 0xcd, 0x00),
    rgb(0x00, 0x00, 0xee),
    rgb(0xcd, 0x00, 0xcd),
    rgb(0x00, 0xcd, 0xcd),
    rgb(0xe5, 0xe5, 0xe5),
    rgb(0x7f, 0x7f, 0x7f),
    rgb(0xff, 0x00, 0x00),
    rgb(0x00, 0xff, 0x00),
    rgb(0xff, 0xff, 0x00),
    rgb(0x5c, 0x5c, 0xff),
    rgb(0xff, 0x00, 0xff),
    rgb(0x00, 0xff, 0xff),
    rgb(0xff, 0xff, 0xff),
];

const fn rgb(r: u8, g: u8, b: u8) -> Rgb {
    Rgb { r, g, b }
}

fn level(step: usize) -> u8 {
    [0x00, 0x5f, 0x87, 0xaf, 0xd7, 0xff][step]
}
