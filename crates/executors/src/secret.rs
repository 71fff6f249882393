//! Whether a program that reads a line without echo wants a secret.
//!
//! Start at [`is_wanted`]. A program may have switched the echo off for good, and wait for no more than Return, as `vttest`
//! does at the end of each page. Then nobody is asked for a secret.

use windlass_output::CursorLine;

/// Words that begin like this stand in requests for a secret, and so do those that are exactly this.
const SECRET_BEGINNINGS: [&str; 7] = [
    "pass",
    "secret",
    "token",
    "credential",
    "phrase",
    "pwd",
    "auth",
];
const SECRET_WORDS: [&str; 6] = ["pin", "otp", "code", "login", "answer", "hidden"];

/// The words of a line that wants a key pressed, one of each.
const VERBS: [&str; 4] = ["press", "push", "hit", "strike"];
const KEYS: [&str; 5] = ["return", "enter", "key", "space", "spacebar"];

/// Judges by the line that the cursor is in.
///
/// Any line counts as a request for a secret, unless it wants a key pressed, or the program draws a screen and the line
/// names no secret. A line that nobody can be sure about counts too: a question too much can be seen, and a secret that was
/// shown cannot be hidden.
pub(crate) fn is_wanted(line: &CursorLine) -> bool {
    let CursorLine { text, is_placed } = line;
    // Words of other languages are not in the lists.
    if text.chars().any(|it| it.is_alphabetic() && !it.is_ascii()) {
        return true;
    }
    let text = text.to_ascii_lowercase();
    let words: Vec<&str> = text.split(|it: char| !it.is_ascii_alphanumeric()).collect();
    let names_secret = |word: &&str| {
        SECRET_WORDS.contains(word)
            || SECRET_BEGINNINGS
                .iter()
                .any(|beginning| word.starts_with(beginning))
    };
    let has_one_of = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let wants_key = has_one_of(&VERBS) && has_one_of(&KEYS);
    words.iter().any(names_secret) || !is_placed && !wants_key
}

#[cfg(test)]
#[path = "secret_tests.rs"]
mod tests;
