//! Colours that a program sets, resets and queries (OSC 4, 5, 10 to 19, 104,
//! 105, 110 to 119).
//!
//! Start at [`Palette::command`]. `palette` has the default colours.

use alacritty_terminal::vte::ansi::{NamedColor, Rgb};

use super::palette;
use super::replies::Replies;

/// The number of indexed colours, and of special ones: bold, underlined,
/// blinking, reversed and italic text.
const INDEXED: usize = 256;
const SPECIAL: usize = 5;

/// The first of the ten colours that are set by a command of their own, and of those that reset them.
const DYNAMIC: usize = 10;
const DYNAMIC_RESET: usize = 110;
const DYNAMIC_COUNT: usize = 10;

/// The colours that a program has set.
#[derive(Debug, Default)]
pub(super) struct Palette {
    /// By index, then the special ones, then the dynamic ones. Few programs set any.
    set: Vec<(usize, Rgb)>,
}

impl Palette {
    /// Carries out a command about colours, and answers it with the same ending.
    pub(super) fn command(&mut self, params: &[&[u8]], ending: &str, replies: &mut Replies) {
        let Some((code, rest)) = params.split_first() else {
            return;
        };
        match number(code) {
            Some(4) => self.pairs(4, 0, rest, ending, replies),
            Some(5) => self.pairs(5, INDEXED, rest, ending, replies),
            Some(104) => self.reset_each(0, INDEXED, rest),
            Some(105) => self.reset_each(INDEXED, SPECIAL, rest),
            Some(code) if (DYNAMIC..DYNAMIC + DYNAMIC_COUNT).contains(&code) => {
                for (code, colour) in (code..DYNAMIC + DYNAMIC_COUNT).zip(rest) {
                    let index = INDEXED + SPECIAL + code - DYNAMIC;
                    self.one(index, colour, &code.to_string(), ending, replies);
                }
            }
            Some(code) if (DYNAMIC_RESET..DYNAMIC_RESET + DYNAMIC_COUNT).contains(&code) => {
                self.reset(INDEXED + SPECIAL + code - DYNAMIC_RESET);
            }
            _ => {}
        }
    }

    pub(super) fn clear(&mut self) {
        self.set.clear();
    }

    /// Sets or reports colours, given as pairs of an index and a colour.
    fn pairs(
        &mut self,
        code: usize,
        base: usize,
        rest: &[&[u8]],
        ending: &str,
        replies: &mut Replies,
    ) {
        for pair in rest.chunks_exact(2) {
            let Some(index) = number(pair[0]) else {
                continue;
            };
            if base + index < INDEXED + SPECIAL {
                let prefix = format!("{code};{index}");
                self.one(base + index, pair[1], &prefix, ending, replies);
            }
        }
    }

    fn one(
        &mut self,
        index: usize,
        colour: &[u8],
        prefix: &str,
        ending: &str,
        replies: &mut Replies,
    ) {
        if colour == b"?" {
            let Rgb { r, g, b } = self.get(index);
            replies.push(format_args!(
                "\x1b]{prefix};rgb:{r:02x}{r:02x}/{g:02x}{g:02x}/{b:02x}{b:02x}{ending}"
            ));
        } else if let Some(colour) = parse(colour) {
            self.reset(index);
            self.set.push((index, colour));
        }
    }

    fn get(&self, index: usize) -> Rgb {
        let set = self.set.iter().find(|&&(known, _)| known == index);
        set.map_or_else(|| original(index), |&(_, colour)| colour)
    }

    fn reset_each(&mut self, base: usize, count: usize, rest: &[&[u8]]) {
        if rest.iter().all(|index| index.is_empty()) {
            self.set
                .retain(|(index, _)| !(base..base + count).contains(index));
        }
        for index in rest.iter().filter_map(|index| number(index)) {
            if base + index < INDEXED + SPECIAL {
                self.reset(base + index);
            }
        }
    }

    fn reset(&mut self, index: usize) {
        self.set.retain(|&(known, _)| known != index);
    }
}

/// A colour that no program has set.
fn original(index: usize) -> Rgb {
    const BACKGROUND: usize = INDEXED + SPECIAL + 1;
    match index {
        0..INDEXED => palette::colour(index),
        BACKGROUND => palette::colour(NamedColor::Background as usize),
        _ => palette::colour(NamedColor::Foreground as usize),
    }
}

fn number(digits: &[u8]) -> Option<usize> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// A colour as X11 writes it: `#rgb` with one to four digits each, `rgb:r/g/b`, or `rgbi:` with fractions.
fn parse(text: &[u8]) -> Option<Rgb> {
    let text = std::str::from_utf8(text).ok()?;
    if let Some(digits) = text.strip_prefix('#') {
        return parse_hash(digits);
    }
    if let Some(levels) = text.strip_prefix("rgb:") {
        return three(levels, |level| {
            let most = 16_u32.checked_pow(u32::try_from(level.len()).ok()?)? - 1;
            let level = u32::from_str_radix(level, 16).ok()?;
            (0xf..=0xffff).contains(&most).then(|| level * 255 / most)
        });
    }
    let levels = text.strip_prefix("rgbi:")?;
    three(levels, |level| {
        let level: f64 = level.parse().ok()?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the value is between 0 and 255"
        )]
        (0.0..=1.0)
            .contains(&level)
            .then(|| (level * 255.0).round() as u32)
    })
}

/// The digits of each level are its first ones: `#fff` is `f0f0f0`.
fn parse_hash(digits: &str) -> Option<Rgb> {
    if !digits.is_ascii() || !matches!(digits.len(), 3 | 6 | 9 | 12) {
        return None;
    }
    let width = digits.len() / 3;
    let level = |index: usize| {
        let part = &digits[index * width..(index + 1) * width];
        let level = u32::from_str_radix(part, 16).ok()?;
        let level = if width == 1 {
            level << 4
        } else {
            level >> (4 * (width - 2))
        };
        u8::try_from(level).ok()
    };
    Some(Rgb {
        r: level(0)?,
        g: level(1)?,
        b: level(2)?,
    })
}

fn three(levels: &str, parse: impl Fn(&str) -> Option<u32>) -> Option<Rgb> {
    let mut levels = levels
        .split('/')
        .map(|level| u8::try_from(parse(level)?).ok());
    let (r, g, b) = (levels.next()??, levels.next()??, levels.next()??);
    levels.next().is_none().then_some(Rgb { r, g, b })
}
