//! Whether a program that reads a line without echo wants a secret.
//!
//! Start at [`is_wanted`]. A program that writes lines and then hides what is typed always does. One that draws a screen may
//! have switched the echo off for good, and wait for no more than Return.

/// Words that a request for a secret begins a word with, and those that it uses as they are.
const BEGINNINGS: [&str; 7] = [
    "pass",
    "secret",
    "token",
    "credential",
    "phrase",
    "pwd",
    "auth",
];
const WORDS: [&str; 6] = ["pin", "otp", "code", "login", "answer", "hidden"];

/// Judges by the line that the cursor was put on by position; `None` if the program has come there by writing lines.
///
/// A line that nobody can be sure about counts as a request for a secret: what is typed by mistake can be seen later, and
/// what was shown by mistake cannot be hidden.
pub(crate) fn is_wanted(placed_line: Option<&str>) -> bool {
    let Some(line) = placed_line else {
        return true;
    };
    // Words of other languages are not in the lists.
    if line.chars().any(|it| it.is_alphabetic() && !it.is_ascii()) {
        return true;
    }
    let line = line.to_ascii_lowercase();
    let mut words = line.split(|it: char| !it.is_ascii_alphanumeric());
    words.any(|word| {
        WORDS.contains(&word)
            || BEGINNINGS
                .iter()
                .any(|beginning| word.starts_with(beginning))
    })
}

#[cfg(test)]
#[path = "secret_tests.rs"]
mod tests;
