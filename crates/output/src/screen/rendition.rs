//! Graphic rendition: text attributes that a program sets (SGR) and queries.
//!
//! Start at [`choose`].

use std::fmt::Write;

use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::Params;
use alacritty_terminal::vte::ansi::{Color, NamedColor, Rgb};

use super::erase::PROTECTED;

const FOREGROUND: Color = Color::Named(NamedColor::Foreground);
const BACKGROUND: Color = Color::Named(NamedColor::Background);

/// Changes the attributes of the following text (SGR).
pub(super) fn choose(template: &mut Cell, params: &Params) {
    if params.is_empty() {
        return reset(template);
    }
    let mut params = params.iter();
    while let Some(param) = params.next() {
        match *param {
            [38] => set(&mut template.fg, colour(&mut params)),
            [48] => set(&mut template.bg, colour(&mut params)),
            [58] => template.set_underline_color(colour(&mut params)),
            [38, ref rest @ ..] => set(&mut template.fg, joined_colour(rest)),
            [48, ref rest @ ..] => set(&mut template.bg, joined_colour(rest)),
            [58, ref rest @ ..] => template.set_underline_color(joined_colour(rest)),
            [4, kind] => underline(template, kind),
            [number] => choose_one(template, number),
            _ => {}
        }
    }
}

/// Changes the attributes of a cell that has been written (DECCARA). Colours are unchanged.
pub(super) fn change(cell: &mut Cell, numbers: &[u16]) {
    for &number in numbers {
        match number {
            0 => cell.flags.remove(ATTRIBUTES),
            1 | 4 | 7 | 8 | 22 | 24 | 27 | 28 => choose_one(cell, number),
            _ => {}
        }
    }
}

/// Toggles attributes of a cell (DECRARA).
pub(super) fn reverse(cell: &mut Cell, numbers: &[u16]) {
    for &number in numbers {
        let flags = match number {
            0 => ATTRIBUTES,
            1 => Flags::BOLD,
            4 => Flags::UNDERLINE,
            7 => Flags::INVERSE,
            8 => Flags::HIDDEN,
            _ => continue,
        };
        cell.flags.toggle(flags);
    }
}

/// The SGR parameters that select these attributes.
pub(super) fn parameters(template: &Cell) -> String {
    let mut text = String::from("0");
    let has = |flag| template.flags.intersects(flag);
    for (flag, number) in [
        (Flags::BOLD, 1),
        (Flags::DIM, 2),
        (Flags::ITALIC, 3),
        (Flags::UNDERLINE, 4),
        (Flags::INVERSE, 7),
        (Flags::HIDDEN, 8),
        (Flags::STRIKEOUT, 9),
        (Flags::DOUBLE_UNDERLINE, 21),
    ] {
        if has(flag) {
            let _ = write!(text, ";{number}");
        }
    }
    for (flag, kind) in [
        (Flags::UNDERCURL, 3),
        (Flags::DOTTED_UNDERLINE, 4),
        (Flags::DASHED_UNDERLINE, 5),
    ] {
        if has(flag) {
            let _ = write!(text, ";4:{kind}");
        }
    }
    tell_colour(&mut text, template.fg, 30);
    tell_colour(&mut text, template.bg, 40);
    text
}

/// The attributes that a rectangle of cells can be given.
const ATTRIBUTES: Flags = Flags::BOLD
    .union(Flags::UNDERLINE)
    .union(Flags::INVERSE)
    .union(Flags::HIDDEN);

pub(super) fn reset(template: &mut Cell) {
    template.fg = FOREGROUND;
    template.bg = BACKGROUND;
    template.flags &= PROTECTED;
    template.set_underline_color(None);
}

fn choose_one(template: &mut Cell, number: u16) {
    let flags = &mut template.flags;
    match number {
        0 => reset(template),
        1 => flags.insert(Flags::BOLD),
        2 => flags.insert(Flags::DIM),
        3 => flags.insert(Flags::ITALIC),
        4 => underline(template, 1),
        7 => flags.insert(Flags::INVERSE),
        8 => flags.insert(Flags::HIDDEN),
        9 => flags.insert(Flags::STRIKEOUT),
        21 => underline(template, 2),
        22 => flags.remove(Flags::BOLD | Flags::DIM),
        23 => flags.remove(Flags::ITALIC),
        24 => flags.remove(Flags::ALL_UNDERLINES),
        27 => flags.remove(Flags::INVERSE),
        28 => flags.remove(Flags::HIDDEN),
        29 => flags.remove(Flags::STRIKEOUT),
        30..=37 => template.fg = named(number - 30),
        39 => template.fg = FOREGROUND,
        40..=47 => template.bg = named(number - 40),
        49 => template.bg = BACKGROUND,
        59 => template.set_underline_color(None),
        90..=97 => template.fg = named(number - 90 + 8),
        100..=107 => template.bg = named(number - 100 + 8),
        _ => {}
    }
}

fn underline(template: &mut Cell, kind: u16) {
    template.flags.remove(Flags::ALL_UNDERLINES);
    template.flags.insert(match kind {
        0 => Flags::empty(),
        2 => Flags::DOUBLE_UNDERLINE,
        3 => Flags::UNDERCURL,
        4 => Flags::DOTTED_UNDERLINE,
        5 => Flags::DASHED_UNDERLINE,
        _ => Flags::UNDERLINE,
    });
}

fn set(place: &mut Color, colour: Option<Color>) {
    if let Some(colour) = colour {
        *place = colour;
    }
}

/// A colour in separate parameters: `5;index` or `2;red;green;blue`.
fn colour<'a>(params: &mut impl Iterator<Item = &'a [u16]>) -> Option<Color> {
    let mut next = || params.next().map(|param| param[0]);
    match next()? {
        2 => rgb(next()?, next()?, next()?),
        5 => u8::try_from(next()?).ok().map(Color::Indexed),
        _ => None,
    }
}

/// A colour in one parameter: `5:index`, `2:red:green:blue`, or with the number of a colour space before red.
fn joined_colour(rest: &[u16]) -> Option<Color> {
    match *rest {
        [5, index] => u8::try_from(index).ok().map(Color::Indexed),
        [2, red, green, blue] | [2, _, red, green, blue, ..] => rgb(red, green, blue),
        _ => None,
    }
}

fn rgb(red: u16, green: u16, blue: u16) -> Option<Color> {
    let level = |number| u8::try_from(number).ok();
    Some(Color::Spec(Rgb {
        r: level(red)?,
        g: level(green)?,
        b: level(blue)?,
    }))
}

fn named(index: u16) -> Color {
    Color::Named(match index {
        0 => NamedColor::Black,
        1 => NamedColor::Red,
        2 => NamedColor::Green,
        3 => NamedColor::Yellow,
        4 => NamedColor::Blue,
        5 => NamedColor::Magenta,
        6 => NamedColor::Cyan,
        7 => NamedColor::White,
        8 => NamedColor::BrightBlack,
        9 => NamedColor::BrightRed,
        10 => NamedColor::BrightGreen,
        11 => NamedColor::BrightYellow,
        12 => NamedColor::BrightBlue,
        13 => NamedColor::BrightMagenta,
        14 => NamedColor::BrightCyan,
        _ => NamedColor::BrightWhite,
    })
}

/// Adds a colour to the numbers; `base` is the first of its eight.
fn tell_colour(text: &mut String, colour: Color, base: usize) {
    let _ = match colour {
        Color::Named(name) => match name as usize {
            index @ 0..8 => write!(text, ";{}", base + index),
            index @ 8..16 => write!(text, ";{}", base + 60 + index - 8),
            _ => Ok(()),
        },
        Color::Indexed(index) => write!(text, ";{}:5:{index}", base + 8),
        Color::Spec(Rgb { r, g, b }) => write!(text, ";{}:2::{r}:{g}:{b}", base + 8),
    };
}
