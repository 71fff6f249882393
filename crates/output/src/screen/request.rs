//! Device control strings: requests for a setting (DECRQSS) and for a terminal
//! capability (XTGETTCAP).
//!
//! Start at [`Emulator::answer_string`]. Every request gets a reply, so that no
//! program blocks. A reply never repeats unknown input.

use std::fmt::Write;

use super::emulator::{AttributeExtent, Emulator, Protection};
use super::erase::PROTECTED;
use super::rendition;

/// The maximum length of a request; longer strings are ignored.
const LIMIT: usize = 1024;

/// A string that the program is sending.
#[derive(Debug)]
pub(super) struct DeviceString {
    kind: RequestKind,
    text: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestKind {
    Setting,
    Capability,
}

impl DeviceString {
    /// A string that begins like this, if it is one that is answered.
    pub(super) fn begin(intermediates: &[u8], end: char) -> Option<Self> {
        let kind = match (intermediates, end) {
            (b"$", 'q') => RequestKind::Setting,
            (b"+", 'q') => RequestKind::Capability,
            _ => return None,
        };
        let text = Vec::new();
        Some(Self { kind, text })
    }

    pub(super) fn push(&mut self, byte: u8) {
        if self.text.len() <= LIMIT {
            self.text.push(byte);
        }
    }
}

impl Emulator {
    /// Answers a string that is over.
    pub(super) fn answer_string(&mut self, string: &DeviceString) {
        match string.kind {
            _ if string.text.len() > LIMIT => {}
            RequestKind::Setting => match self.setting(&string.text) {
                Some(setting) => self.replies.push(format_args!("\x1bP1$r{setting}\x1b\\")),
                None => self.replies.push(format_args!("\x1bP0$r\x1b\\")),
            },
            RequestKind::Capability => {
                for name in string.text.split(|&byte| byte == b';') {
                    self.answer_capability(name);
                }
            }
        }
    }

    /// A setting as the sequence that would choose it, without its beginning.
    fn setting(&self, name: &[u8]) -> Option<String> {
        let rows = self.row_count();
        let region = self.rows.region();
        Some(match name {
            b"m" => format!("{}m", rendition::parameters(&self.grid.cursor.template)),
            b"r" => format!("{};{}r", region.start + 1, region.end),
            b"s" => format!("{};{}s", self.columns.start + 1, self.columns.end),
            b"t" => format!("{rows}t"),
            b"*|" => format!("{rows}*|"),
            b"$|" => format!("{}$|", self.column_count()),
            b"\"p" => format!("6{};1\"p", self.level),
            b"\"q" => {
                let is_protected = self.grid.cursor.template.flags.contains(PROTECTED)
                    && self.protection == Protection::Selective;
                format!("{}\"q", u8::from(is_protected))
            }
            b" q" => format!("{} q", self.cursor_style.max(1)),
            b"*x" => {
                let extent = match self.attributes {
                    AttributeExtent::Unset => 0,
                    AttributeExtent::Stream => 1,
                    AttributeExtent::Rectangle => 2,
                };
                format!("{extent}*x")
            }
            b"$}" => "0$}".to_owned(),
            b"$~" => "0$~".to_owned(),
            _ => return None,
        })
    }

    fn answer_capability(&mut self, name: &[u8]) {
        let value = unhex(name).and_then(|name| capability(&name));
        match (value, std::str::from_utf8(name)) {
            (Some(value), Ok(name)) => {
                let mut digits = String::new();
                for byte in value.bytes() {
                    let _ = write!(digits, "{byte:02X}");
                }
                self.replies
                    .push(format_args!("\x1bP1+r{name}={digits}\x1b\\"));
            }
            _ => self.replies.push(format_args!("\x1bP0+r\x1b\\")),
        }
    }
}

fn unhex(digits: &[u8]) -> Option<Vec<u8>> {
    if digits.is_empty()
        || !digits.len().is_multiple_of(2)
        || !digits.iter().all(u8::is_ascii_hexdigit)
    {
        return None;
    }
    let digits = std::str::from_utf8(digits).ok()?;
    let bytes = (0..digits.len()).step_by(2);
    bytes
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).ok())
        .collect()
}

/// A capability by its name in terminfo or termcap: those of `xterm-256color` that programs ask for.
fn capability(name: &[u8]) -> Option<&'static str> {
    Some(match name {
        b"Co" | b"colors" => "256",
        b"TN" | b"name" => "xterm-256color",
        b"RGB" => "8/8/8",
        b"ku" | b"kcuu1" => "\x1bOA",
        b"kd" | b"kcud1" => "\x1bOB",
        b"kr" | b"kcuf1" => "\x1bOC",
        b"kl" | b"kcub1" => "\x1bOD",
        b"kh" | b"khome" => "\x1bOH",
        b"@7" | b"kend" => "\x1bOF",
        b"kP" | b"kpp" => "\x1b[5~",
        b"kN" | b"knp" => "\x1b[6~",
        b"kI" | b"kich1" => "\x1b[2~",
        b"kD" | b"kdch1" => "\x1b[3~",
        b"kb" | b"kbs" => "\x7f",
        b"kB" | b"kcbt" => "\x1b[Z",
        b"k1" | b"kf1" => "\x1bOP",
        b"k2" | b"kf2" => "\x1bOQ",
        b"k3" | b"kf3" => "\x1bOR",
        b"k4" | b"kf4" => "\x1bOS",
        b"k5" | b"kf5" => "\x1b[15~",
        b"k6" | b"kf6" => "\x1b[17~",
        b"k7" | b"kf7" => "\x1b[18~",
        b"k8" | b"kf8" => "\x1b[19~",
        b"k9" | b"kf9" => "\x1b[20~",
        b"k;" | b"kf10" => "\x1b[21~",
        b"F1" | b"kf11" => "\x1b[23~",
        b"F2" | b"kf12" => "\x1b[24~",
        b"%i" | b"kRIT" => "\x1b[1;2C",
        b"#4" | b"kLFT" => "\x1b[1;2D",
        b"#2" | b"kHOM" => "\x1b[1;2H",
        b"*7" | b"kEND" => "\x1b[1;2F",
        b"*4" | b"kDC" => "\x1b[3;2~",
        _ => return None,
    })
}
