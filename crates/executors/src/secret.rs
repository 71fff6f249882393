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

/// Characters that stand for typed ones.
const MASKS: [char; 8] = ['*', '•', '●', '·', '▪', '■', '⚹', '✱'];

/// The request for a secret that this line is, for a program that takes keys and edits its line itself: without the
/// characters that stand for what was typed already.
///
/// Here a line counts only if it asks for a secret in so many words: most programs that take keys do something else.
pub(crate) fn request(line: &str) -> Option<&str> {
    /// Marks that lines begin with in which somebody is asked for something.
    const BEGINNINGS: [&str; 4] = ["? ", "🔐", "✔", "[?]"];
    const ENDS: [char; 13] = [
        ':', '：', '?', '>', '›', '»', '❯', '…', '=', ')', ']', '-', '→',
    ];
    /// These words say that the line is about a secret, and does not ask for one.
    const ABOUT: [&str; 35] = [
        "name",
        "names",
        "id",
        "file",
        "path",
        "type",
        "length",
        "manager",
        "managers",
        "expiry",
        "expiration",
        "store",
        "count",
        "limit",
        "policy",
        "url",
        "endpoint",
        "address",
        "was",
        "has",
        "changed",
        "updated",
        "saved",
        "reset",
        "incorrect",
        "wrong",
        "mismatch",
        "accepted",
        "forgot",
        "show",
        "choose",
        "select",
        "pick",
        "error",
        "failed",
    ];
    let line = line.trim();
    let stem = line.trim_end_matches(MASKS).trim_end();
    if stem.is_empty() || stem.chars().count() > 200 {
        return None;
    }
    let lower = stem.to_ascii_lowercase();
    let words: Vec<&str> = lower
        .split(|it: char| !it.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let names = words.iter().enumerate().any(|(place, word)| {
        let before = place.checked_sub(1).and_then(|place| words.get(place));
        let is_key = *word == "key"
            && before.is_some_and(|before| {
                ["api", "access", "private", "secret", "auth", "encryption"].contains(before)
            });
        let is_secret = [
            "pin",
            "secret",
            "token",
            "otp",
            "credential",
            "credentials",
            "apikey",
        ];
        is_key
            || is_secret.contains(word)
            || ["password", "passwd", "passphrase", "passcode", "passwort"]
                .iter()
                .any(|beginning| word.starts_with(beginning))
    });
    let is_about = words.iter().any(|word| ABOUT.contains(word));
    let is_choice = lower.contains("y/n") || lower.contains("yes/no");
    let asks = stem.ends_with(ENDS) || BEGINNINGS.iter().any(|mark| stem.starts_with(mark));
    (names && asks && !is_about && !is_choice).then_some(stem)
}

/// Text that was typed into a program that edits its line itself.
#[derive(Debug)]
pub(crate) struct TypedText {
    /// The text.
    pub(crate) text: String,
    /// The line that the cursor stood in.
    pub(crate) line: String,
    /// How much the program had written.
    pub(crate) before: u64,
}

impl TypedText {
    /// Whether the program has hidden it: the text is nowhere in what it wrote since, and that begins, behind the line as it
    /// was, with one mask for each character.
    pub(crate) fn is_masked(&self, written: &[u8]) -> bool {
        let (typed, written) = (visible(self.text.as_bytes()), visible(written));
        let length = typed.chars().count();
        if length == 0 || written.contains(&typed) {
            return false;
        }
        let line = visible(self.line.as_bytes());
        let stem = line.trim_end_matches(MASKS);
        let mut rest = written.as_str();
        while let Some(left) = rest.strip_prefix(stem).filter(|_| !stem.is_empty()) {
            rest = left;
        }
        let first = rest.chars().next().filter(|first| MASKS.contains(first));
        first.is_some_and(|mask| {
            let masks = written.chars().filter(|it| *it == mask).count();
            masks >= length && !typed.contains(mask)
        })
    }
}

/// The visible characters of bytes for a terminal, without blanks.
fn visible(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut rest = text.chars().peekable();
    let mut seen = String::new();
    while let Some(character) = rest.next() {
        if character == '\x1b' {
            if rest.next_if_eq(&'[').is_some() {
                while rest.next_if(|it| !('@'..='~').contains(it)).is_some() {}
            }
            rest.next();
        } else if !character.is_whitespace() && !character.is_control() {
            seen.push(character);
        }
    }
    seen
}

#[cfg(test)]
#[path = "secret_tests.rs"]
mod tests;
