//! Keys of pagers and editors that run no commands.
//!
//! Every key that is not known to be harmless may run a command. The first key
//! of a command counts as the command, so that it cannot be sent in pieces.

use windlass_runtime::SubjectPattern;

use super::shown;
use crate::commands::unknown;

/// Keys that move, in their escaped form.
const MOVES: [&str; 20] = [
    "\x1b[A",
    "\x1b[B",
    "\x1b[C",
    "\x1b[D",
    "\x1b[F",
    "\x1b[H",
    "\x1bOA",
    "\x1bOB",
    "\x1bOC",
    "\x1bOD",
    "\x1bOF",
    "\x1bOH",
    "\x1b[2~",
    "\x1b[3~",
    "\x1b[5~",
    "\x1b[6~",
    "\x1b[1~",
    "\x1b[4~",
    "\x1b[200~",
    "\x1b[201~",
];

/// Keys of `less` and `more` that move, repeat a search, show help, or quit.
const PAGER_KEYS: &str =
    " \r\nqQjkJKeyYdDuUfFbBgGhHnNrRzwW<>0123456789\x02\x03\x04\x05\x06\x0c\x0e\x10\x15\x16\x19\x1a";

/// Commands of `vim` that write, quit and move.
const VIM_LINES: [&str; 24] = [
    "w",
    "w!",
    "wq",
    "wq!",
    "x",
    "x!",
    "q",
    "q!",
    "qa",
    "qa!",
    "wa",
    "wa!",
    "wqa",
    "wqa!",
    "xa",
    "noh",
    "set nu",
    "set number",
    "set nonu",
    "set paste",
    "set nopaste",
    "u",
    "red",
    "$",
];

/// Keys of `vim` in normal mode that are complete commands: they move, delete,
/// copy and undo.
const VIM_KEYS: &str =
    " \r\n\x1bhjklwWbBeE0123456789$^GuxXDYpPnNHMLJ%;,{}()\x02\x03\x04\x05\x06\x0c\x12\x15\x19";

/// Keys of `vim` that start insert mode.
const VIM_INSERTS: &str = "iIaAoOCsSR";

/// Motions after an operator such as `d`.
const VIM_MOTIONS: &str = "hjklwWbBeE0$^G{}%";

/// The commands that these keys would run in a pager.
pub(super) fn of_pager(bytes: &[u8]) -> Vec<SubjectPattern> {
    let text = String::from_utf8_lossy(bytes);
    let mut rest = text.as_ref();
    while let Some(key) = rest.chars().next() {
        if let Some(left) = after_move(rest) {
            rest = left;
        } else if key == '/' || key == '?' {
            // A search, up to its end; only plain text cannot leave it early.
            let (search, left) = line(&rest[1..]);
            if search.chars().any(char::is_control) {
                return vec![unknown(&shown(bytes))];
            }
            rest = left;
        } else if PAGER_KEYS.contains(key) {
            rest = &rest[key.len_utf8()..];
        } else {
            return vec![unknown(&shown(bytes))];
        }
    }
    Vec::new()
}

/// The commands that these keys would run in `vim`.
pub(super) fn of_vim(bytes: &[u8], is_inserting: bool) -> Vec<SubjectPattern> {
    let text = String::from_utf8_lossy(bytes);
    if is_harmless_in_vim(&text, is_inserting) {
        Vec::new()
    } else {
        vec![unknown(&shown(bytes))]
    }
}

fn is_harmless_in_vim(text: &str, mut is_inserting: bool) -> bool {
    let mut rest = text;
    while let Some(key) = rest.chars().next() {
        if let Some(left) = after_move(rest) {
            rest = left;
            continue;
        }
        rest = &rest[key.len_utf8()..];
        if is_inserting {
            match key {
                '\x1b' | '\x03' => is_inserting = false,
                '\r' | '\n' | '\t' | '\x7f' | '\x08' | '\x17' | '\x15' => {}
                key if key.is_control() => return false,
                _ => {}
            }
        } else if key == ':' {
            let Some((command, left)) = rest.split_once(['\r', '\n']) else {
                return false;
            };
            let command = command.trim();
            let is_number = !command.is_empty() && command.bytes().all(|it| it.is_ascii_digit());
            if !is_number && !VIM_LINES.contains(&command) {
                return false;
            }
            // The following input is not read by vim any more.
            let leaves = command.contains(['q', 'x']);
            if leaves && !left.trim().is_empty() {
                return false;
            }
            rest = left;
        } else if key == '/' || key == '?' {
            let Some((search, left)) = rest.split_once(['\r', '\n']) else {
                return false;
            };
            if search.chars().any(char::is_control) {
                return false;
            }
            rest = left;
        } else if key == 'Z' {
            return matches!(rest, "Z" | "Q");
        } else if "dyc<>".contains(key) {
            let Some(left) = after_motion(key, rest) else {
                return false;
            };
            is_inserting = key == 'c';
            rest = left;
        } else if key == 'g' {
            let Some(left) = rest.strip_prefix(['g', 'j', 'k', 'e', '_']) else {
                return false;
            };
            rest = left;
        } else if key == 'r' {
            let Some(left) = rest.strip_prefix(|it: char| !it.is_control()) else {
                return false;
            };
            rest = left;
        } else if VIM_INSERTS.contains(key) {
            is_inserting = true;
        } else if !VIM_KEYS.contains(key) {
            return false;
        }
    }
    true
}

/// The keys after an operator's motion, if the motion is complete and known. An
/// incomplete operator changes the meaning of the next keys.
fn after_motion(operator: char, keys: &str) -> Option<&str> {
    let keys = keys.trim_start_matches(|key: char| key.is_ascii_digit() && key != '0');
    let after = |key: char| VIM_MOTIONS.contains(key) || key == operator;
    keys.strip_prefix(after)
        .or_else(|| keys.strip_prefix("gg"))
        .or_else(|| {
            let object = keys.strip_prefix(['i', 'a'])?;
            object.strip_prefix([
                'w', 'W', 's', 'p', 'b', 'B', 't', '"', '\'', '(', ')', '[', ']', '{', '}',
            ])
        })
}

/// The commands that these keys would run in an editor that inserts text.
pub(super) fn of_editor(bytes: &[u8]) -> Vec<SubjectPattern> {
    /// Save, quit, search, cut and move.
    const KEYS: &str = "\r\n\t\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0e\x0f\x10\x13\x17\x18\x19\x7f";
    let text = String::from_utf8_lossy(bytes);
    let mut rest = text.as_ref();
    while let Some(key) = rest.chars().next() {
        if let Some(left) = after_move(rest) {
            rest = left;
        } else if key.is_control() && !KEYS.contains(key) {
            return vec![unknown(&shown(bytes))];
        } else {
            rest = &rest[key.len_utf8()..];
        }
    }
    Vec::new()
}

fn after_move(text: &str) -> Option<&str> {
    MOVES.iter().find_map(|keys| text.strip_prefix(keys))
}

/// The rest of a line, and the text after it.
fn line(text: &str) -> (&str, &str) {
    text.split_once(['\r', '\n']).unwrap_or((text, ""))
}
