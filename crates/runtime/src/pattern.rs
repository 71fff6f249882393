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

/// The pattern covers all of the text.
pub(crate) fn covers(pattern: &str, text: &str) -> bool {
    if is_everything(pattern) {
        return true;
    }
    match last_word_is_open(pattern) {
        Some(words) => {
            // Wherever a space stands, the further words may begin.
            matches(words, text)
                || text
                    .match_indices(' ')
                    .any(|(space, _)| matches(words, &text[..space]))
        }
        None => matches(pattern, text),
    }
}

/// The pattern covers the text for at least one text in the place of each
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

/// The pattern covers anything whatever.
pub(crate) fn is_everything(pattern: &str) -> bool {
    matches!(pattern, "*" | "**")
}

/// The pattern has no wildcard and covers nothing but itself.
pub(crate) fn is_literal(pattern: &str) -> bool {
    !pattern.contains(['*', '?'])
}

fn last_word_is_open(pattern: &str) -> Option<&str> {
    pattern
        .strip_suffix(" **")
        .or_else(|| pattern.strip_suffix(" *"))
}

enum Token {
    Letter(char),
    One,
    Run,
    Any,
}

fn tokens(pattern: &str) -> Vec<Token> {
    let mut letters = pattern.chars().peekable();
    let mut tokens = Vec::new();
    while let Some(letter) = letters.next() {
        tokens.push(match letter {
            '?' => Token::One,
            '*' if letters.next_if_eq(&'*').is_some() => Token::Any,
            '*' => Token::Run,
            letter => Token::Letter(letter),
        });
    }
    tokens
}

/// Keeps, letter by letter, which places of the pattern could be reached, so
/// that no pattern takes long.
fn matches(pattern: &str, text: &str) -> bool {
    let tokens = tokens(pattern);
    let mut reached = start(&tokens);
    for letter in text.chars() {
        reached = step(&tokens, &reached, letter);
    }
    reached[tokens.len()]
}

/// The places that are reached before the first letter.
fn start(tokens: &[Token]) -> Vec<bool> {
    let mut reached = vec![false; tokens.len() + 1];
    reached[0] = true;
    skip_empty(tokens, &mut reached);
    reached
}

/// The places that are reached by one more letter.
fn step(tokens: &[Token], reached: &[bool], letter: char) -> Vec<bool> {
    let mut next = vec![false; tokens.len() + 1];
    for (place, token) in tokens.iter().enumerate() {
        if !reached[place] {
            continue;
        }
        match token {
            Token::Letter(wanted) => next[place + 1] |= *wanted == letter,
            Token::One => next[place + 1] |= !matches!(letter, '/' | UNKNOWN),
            Token::Run => next[place] |= !matches!(letter, '/' | UNKNOWN),
            Token::Any => next[place] = true,
        }
    }
    skip_empty(tokens, &mut next);
    next
}

/// `*` and `**` may stand for nothing.
fn skip_empty(tokens: &[Token], reached: &mut [bool]) {
    for (place, token) in tokens.iter().enumerate() {
        if reached[place] && matches!(token, Token::Run | Token::Any) {
            reached[place + 1] = true;
        }
    }
}

#[cfg(test)]
#[path = "pattern_tests.rs"]
mod tests;
