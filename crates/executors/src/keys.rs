//! Keys as a terminal sends them.
//!
//! Names are those on a keyboard, with `ctrl-`, `alt-` and `shift-` before
//! them; a single character is itself. The bytes are xterm's, since that is
//! the terminal that programs are told they have.

use windlass_protocol::InputError;

/// How the program wants its keys.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct KeyModes {
    /// Arrows, Home and End come in their application form.
    pub(crate) application_cursor: bool,
    /// Pasted text is marked as such.
    pub(crate) bracketed_paste: bool,
}

/// The keys that have a name, each with what it sends.
const NAMED: [(&str, Key); 33] = [
    ("enter", Key::Text("\r")),
    ("return", Key::Text("\r")),
    ("tab", Key::Text("\t")),
    ("space", Key::Text(" ")),
    ("esc", Key::Text("\x1b")),
    ("escape", Key::Text("\x1b")),
    ("backspace", Key::Text("\x7f")),
    ("eof", Key::Text("\x04")),
    ("up", Key::Cursor('A')),
    ("down", Key::Cursor('B')),
    ("right", Key::Cursor('C')),
    ("left", Key::Cursor('D')),
    ("end", Key::Cursor('F')),
    ("home", Key::Cursor('H')),
    ("insert", Key::Tilde(2)),
    ("delete", Key::Tilde(3)),
    ("pageup", Key::Tilde(5)),
    ("pagedown", Key::Tilde(6)),
    ("f1", Key::Function('P')),
    ("f2", Key::Function('Q')),
    ("f3", Key::Function('R')),
    ("f4", Key::Function('S')),
    ("f5", Key::Tilde(15)),
    ("f6", Key::Tilde(17)),
    ("f7", Key::Tilde(18)),
    ("f8", Key::Tilde(19)),
    ("f9", Key::Tilde(20)),
    ("f10", Key::Tilde(21)),
    ("f11", Key::Tilde(23)),
    ("f12", Key::Tilde(24)),
    ("ins", Key::Tilde(2)),
    ("del", Key::Tilde(3)),
    ("bs", Key::Text("\x7f")),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
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

/// The bytes that a key sends. An error names keys that come near.
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

/// The bytes of typed text, submitted with Enter where `enter` says so.
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

fn named_key(key: Key, modifiers: Modifiers, modes: KeyModes) -> Vec<u8> {
    let number = modifiers.number();
    match key {
        Key::Text("\t") if modifiers.shift => b"\x1b[Z".to_vec(),
        Key::Text(" ") if modifiers.ctrl => vec![0],
        Key::Text(text) => {
            let mut bytes = if modifiers.alt {
                vec![b'\x1b']
            } else {
                Vec::new()
            };
            bytes.extend_from_slice(text.as_bytes());
            bytes
        }
        Key::Cursor(letter) if modifiers.any() => format!("\x1b[1;{number}{letter}").into_bytes(),
        Key::Cursor(letter) if modes.application_cursor => format!("\x1bO{letter}").into_bytes(),
        Key::Cursor(letter) => format!("\x1b[{letter}").into_bytes(),
        Key::Function(letter) if modifiers.any() => format!("\x1b[1;{number}{letter}").into_bytes(),
        Key::Function(letter) => format!("\x1bO{letter}").into_bytes(),
        Key::Tilde(code) if modifiers.any() => format!("\x1b[{code};{number}~").into_bytes(),
        Key::Tilde(code) => format!("\x1b[{code}~").into_bytes(),
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
