//! Encodes keys as a terminal sends them.
//!
//! Keys have the names on a keyboard, with optional `ctrl-`, `alt-` and
//! `shift-`; a single character represents itself. The encoding is xterm's,
//! which `TERM` announces.

use windlass_protocol::InputError;

/// The keyboard modes that the program has set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct KeyModes {
    /// Arrows, Home and End come in their application form.
    pub(crate) application_cursor: bool,
    /// Pasted text is marked as such.
    pub(crate) bracketed_paste: bool,
}

/// The named keys and their encodings.
const NAMED: [(&str, NamedKey); 33] = [
    ("enter", NamedKey::Text("\r")),
    ("return", NamedKey::Text("\r")),
    ("tab", NamedKey::Text("\t")),
    ("space", NamedKey::Text(" ")),
    ("esc", NamedKey::Text("\x1b")),
    ("escape", NamedKey::Text("\x1b")),
    ("backspace", NamedKey::Text("\x7f")),
    ("eof", NamedKey::Text("\x04")),
    ("up", NamedKey::Cursor('A')),
    ("down", NamedKey::Cursor('B')),
    ("right", NamedKey::Cursor('C')),
    ("left", NamedKey::Cursor('D')),
    ("end", NamedKey::Cursor('F')),
    ("home", NamedKey::Cursor('H')),
    ("insert", NamedKey::Tilde(2)),
    ("delete", NamedKey::Tilde(3)),
    ("pageup", NamedKey::Tilde(5)),
    ("pagedown", NamedKey::Tilde(6)),
    ("f1", NamedKey::Function('P')),
    ("f2", NamedKey::Function('Q')),
    ("f3", NamedKey::Function('R')),
    ("f4", NamedKey::Function('S')),
    ("f5", NamedKey::Tilde(15)),
    ("f6", NamedKey::Tilde(17)),
    ("f7", NamedKey::Tilde(18)),
    ("f8", NamedKey::Tilde(19)),
    ("f9", NamedKey::Tilde(20)),
    ("f10", NamedKey::Tilde(21)),
    ("f11", NamedKey::Tilde(23)),
    ("f12", NamedKey::Tilde(24)),
    ("ins", NamedKey::Tilde(2)),
    ("del", NamedKey::Tilde(3)),
    ("bs", NamedKey::Text("\x7f")),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NamedKey {
    Text(&'static str),
    /// `ESC [ X`, or `ESC O X` in the application form.
    Cursor(char),
    /// `ESC O X`, or `ESC [ 1 ; m X` with modifiers.
    Function(char),
    /// `ESC [ n ~`.
    Tilde(u8),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Modifiers {
    shift: bool,
    alt: bool,
    ctrl: bool,
}

impl Modifiers {
    /// xterm's number for them; 1 is none.
    fn number(self) -> u8 {
        1 + u8::from(self.shift) + 2 * u8::from(self.alt) + 4 * u8::from(self.ctrl)
    }

    fn any(self) -> bool {
        self != Self::default()
    }
}

/// The bytes of a key. An error suggests similar names.
pub(crate) fn key(name: &str, modes: KeyModes) -> Result<Vec<u8>, InputError> {
    let mut modifiers = Modifiers::default();
    let mut rest = name;
    // A lone `-` or the one in `ctrl--` is a key, not a separator.
    while let Some((word, after)) = rest.split_once('-').filter(|(_, after)| !after.is_empty()) {
        match word.to_ascii_lowercase().as_str() {
            "ctrl" | "control" | "c" => modifiers.ctrl = true,
            "alt" | "meta" | "m" => modifiers.alt = true,
            "shift" | "s" => modifiers.shift = true,
            _ => return Err(unknown(name)),
        }
        rest = after;
    }
    let mut characters = rest.chars();
    if let (Some(character), None) = (characters.next(), characters.next()) {
        return character_key(character, modifiers).ok_or_else(|| unknown(name));
    }
    let lower = rest.to_ascii_lowercase();
    let found = NAMED.iter().find(|(named, _)| *named == lower);
    let (_, key) = found.ok_or_else(|| unknown(name))?;
    Ok(named_key(*key, modifiers, modes))
}

/// The bytes of typed text, followed by Enter if `enter` is set.
pub(crate) fn text(text: &str, enter: bool, modes: KeyModes) -> Vec<u8> {
    let (body, submitted) = match text.strip_suffix('\n') {
        Some(body) if enter => (body, true),
        _ => (text, enter),
    };
    let mut bytes = Vec::with_capacity(body.len() + 16);
    if modes.bracketed_paste && body.contains('\n') {
        bytes.extend_from_slice(b"\x1b[200~");
        // Nothing in the text may end the paste early.
        bytes.extend_from_slice(body.replace("\x1b[201~", "").as_bytes());
        bytes.extend_from_slice(b"\x1b[201~");
    } else {
        bytes.extend(
            body.bytes()
                .map(|byte| if byte == b'\n' { b'\r' } else { byte }),
        );
    }
    if submitted {
        bytes.push(b'\r');
    }
    bytes
}

fn character_key(character: char, modifiers: Modifiers) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    if modifiers.alt {
        bytes.push(b'\x1b');
    }
    let character = if modifiers.shift {
        character.to_ascii_uppercase()
    } else {
        character
    };
    if modifiers.ctrl {
        bytes.push(control(character)?);
    } else {
        bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }
    Some(bytes)
}

fn control(character: char) -> Option<u8> {
    match character.to_ascii_uppercase() {
        letter @ '@'..='_' => Some(letter as u8 & 0x1f),
        ' ' => Some(0),
        '?' => Some(0x7f),
        _ => None,
    }
}

fn named_key(key: NamedKey, modifiers: Modifiers, modes: KeyModes) -> Vec<u8> {
    let number = modifiers.number();
    match key {
        NamedKey::Text("\t") if modifiers.shift => b"\x1b[Z".to_vec(),
        NamedKey::Text(" ") if modifiers.ctrl => vec![0],
        NamedKey::Text(text) => {
            let mut bytes = if modifiers.alt {
                vec![b'\x1b']
            } else {
                Vec::new()
            };
            bytes.extend_from_slice(text.as_bytes());
            bytes
        }
        NamedKey::Cursor(letter) if modifiers.any() => {
            format!("\x1b[1;{number}{letter}").into_bytes()
        }
        NamedKey::Cursor(letter) if modes.application_cursor => {
            format!("\x1bO{letter}").into_bytes()
        }
        NamedKey::Cursor(letter) => format!("\x1b[{letter}").into_bytes(),
        NamedKey::Function(letter) if modifiers.any() => {
            format!("\x1b[1;{number}{letter}").into_bytes()
        }
        NamedKey::Function(letter) => format!("\x1bO{letter}").into_bytes(),
        NamedKey::Tilde(code) if modifiers.any() => format!("\x1b[{code};{number}~").into_bytes(),
        NamedKey::Tilde(code) => format!("\x1b[{code}~").into_bytes(),
    }
}

fn unknown(name: &str) -> InputError {
    let bare = name.rsplit('-').next().unwrap_or(name).to_ascii_lowercase();
    let mut near: Vec<(usize, &str)> = NAMED
        .iter()
        .map(|(named, _)| (strsim::damerau_levenshtein(named, &bare), *named))
        .collect();
    near.sort_unstable();
    let near = near.into_iter().take(4).map(|(_, named)| named.to_owned());
    InputError::UnknownKey {
        key: name.to_owned(),
        near: near.collect(),
    }
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
