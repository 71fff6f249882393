//! Decides whether a program that reads a line without echo wants a secret.
//!
//! Start at [`is_wanted`]. A program may disable echo permanently and only wait
//! for Return, as `vttest` does after each page. That is not a request for a
//! secret.

use windlass_output::CursorLine;

/// Prefixes of words, and whole words, that occur in requests for a secret.
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

/// Words of a line that asks for a key press, one of each list.
const VERBS: [&str; 4] = ["press", "push", "hit", "strike"];
const KEYS: [&str; 5] = ["return", "enter", "key", "space", "spacebar"];

/// Decides by the line of the cursor.
///
/// Every line is a request for a secret, with two exceptions: it asks for a key
/// press, or the program draws a screen and the line names no secret. In doubt
/// the answer is yes: an unnecessary question is harmless, a secret that was
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

/// Characters that mask typed ones.
const MASKS: [char; 8] = ['*', '•', '●', '·', '▪', '■', '⚹', '✱'];

/// The request for a secret in this line, without mask characters, for a
/// program that reads keys and edits its line itself.
///
/// The line must ask for a secret explicitly: most programs that read keys do
/// something else.
pub(crate) fn request(line: &str) -> Option<&str> {
    /// Prefixes of lines with a prompt.
    const BEGINNINGS: [&str; 4] = ["? ", "🔐", "✔", "[?]"];
    const ENDS: [char; 13] = [
        ':', '：', '?', '>', '›', '»', '❯', '…', '=', ')', ']', '-', '→',
    ];
    /// Words that show that the line mentions a secret but does not ask for
    /// one.
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

/// Text typed into a program that edits its line itself.
#[derive(Debug)]
pub(crate) struct TypedText {
    pub(crate) text: String,
    /// The line of the cursor at that time.
    pub(crate) line: String,
    /// The size of the output at that time.
    pub(crate) before: u64,
}

impl TypedText {
    /// Whether the program masked the text: its later output does not contain
    /// the text, and starts, after the line, with one mask character per typed
    /// one.
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
