//! The pattern language of permission rules.
//!
//! `?` is one character and `*` any number of them, neither of them a `/`;
//! `**` is any number of any characters. A `*` or `**` that is the last word
//! of a pattern stands for any further words, or none: `git status *` covers
//! `git status` and `git status -s src/lib.rs`. A lone `*` covers anything.
//! There is no way to write a literal `*` or `?`.
//!
//! A text may hold [`UNKNOWN`] for what is not known of it. Only what stands
//! for any characters covers that; [`may_cover`] says what could.

use crate::subject::UNKNOWN;

/// Whether the pattern matches the whole text.
pub(crate) fn covers(pattern: &str, text: &str) -> bool {
    if is_everything(pattern) {
        return true;
    }
    match last_word_is_open(pattern) {
        Some(words) => {
            // The further words may begin at any space.
            matches(words, text)
                || text
                    .match_indices(' ')
                    .any(|(space, _)| matches(words, &text[..space]))
        }
        None => matches(pattern, text),
    }
}

/// Whether the pattern matches the text for at least one value of each
/// [`UNKNOWN`].
pub(crate) fn may_cover(pattern: &str, text: &str) -> bool {
    if is_everything(pattern) {
        return true;
    }
    let (words, open) = match last_word_is_open(pattern) {
        Some(words) => (words, true),
        None => (pattern, false),
    };
    let tokens = tokens(words);
    let mut reached = start(&tokens);
    for letter in text.chars() {
        if open && letter == ' ' && reached[tokens.len()] {
            return true;
        }
        reached = if letter == UNKNOWN {
            // Whatever follows the first place can be made true.
            let first = reached.iter().position(|reached| *reached);
            let first = first.unwrap_or(reached.len());
            if open && first < reached.len() {
                return true;
            }
            (0..reached.len()).map(|place| place >= first).collect()
        } else {
            step(&tokens, &reached, letter)
        };
    }
    reached[tokens.len()]
}

/// Whether the pattern matches everything.
pub(crate) fn is_everything(pattern: &str) -> bool {
    matches!(pattern, "*" | "**")
}

/// Whether the pattern has no wildcard.
pub(crate) fn is_literal(pattern: &str) -> bool {
    !pattern.contains(['*', '?'])
}

fn last_word_is_open(pattern: &str) -> Option<&str> {
    pattern
        .strip_suffix(" **")
        .or_else(|| pattern.strip_suffix(" *"))
}

enum PatternToken {
    Letter(char),
    One,
    Run,
    Any,
}

fn tokens(pattern: &str) -> Vec<PatternToken> {
    let mut letters = pattern.chars().peekable();
    let mut tokens = Vec::new();
    while let Some(letter) = letters.next() {
        tokens.push(match letter {
            '?' => PatternToken::One,
            '*' if letters.next_if_eq(&'*').is_some() => PatternToken::Any,
            '*' => PatternToken::Run,
            letter => PatternToken::Letter(letter),
        });
    }
    tokens
}

/// Matches by tracking all reachable positions of the pattern per character,
/// which bounds the time.
fn matches(pattern: &str, text: &str) -> bool {
    let tokens = tokens(pattern);
    let mut reached = start(&tokens);
    for letter in text.chars() {
        reached = step(&tokens, &reached, letter);
    }
    reached[tokens.len()]
}

/// The positions reached before the first character.
fn start(tokens: &[PatternToken]) -> Vec<bool> {
    let mut reached = vec![false; tokens.len() + 1];
    reached[0] = true;
    skip_empty(tokens, &mut reached);
    reached
}

/// The positions reached after one more character.
fn step(tokens: &[PatternToken], reached: &[bool], letter: char) -> Vec<bool> {
    let mut next = vec![false; tokens.len() + 1];
    for (place, token) in tokens.iter().enumerate() {
        if !reached[place] {
            continue;
        }
        match token {
            PatternToken::Letter(wanted) => next[place + 1] |= *wanted == letter,
            PatternToken::One => next[place + 1] |= !matches!(letter, '/' | UNKNOWN),
            PatternToken::Run => next[place] |= !matches!(letter, '/' | UNKNOWN),
            PatternToken::Any => next[place] = true,
        }
    }
    skip_empty(tokens, &mut next);
    next
}

/// Adds the positions after empty `*` and `**`.
fn skip_empty(tokens: &[PatternToken], reached: &mut [bool]) {
    for (place, token) in tokens.iter().enumerate() {
        if reached[place] && matches!(token, PatternToken::Run | PatternToken::Any) {
            reached[place + 1] = true;
        }
    }
}

#[cfg(test)]
#[path = "pattern_tests.rs"]
mod tests;
