//! Words of success that are set apart at an end of a line: `… ok`, `PASS x`.

use super::tokens::{LineToken, TokenClass};

/// Words of success if they are set apart.
const APART: &[&str] = &[
    "ok",
    "done",
    "passed",
    "pass",
    "cached",
    "success",
    "succeeded",
    "complete",
    "completed",
    "unchanged",
    "up-to-date",
];
/// Capitals set a word apart by themselves.
const CAPITALS: &[&str] = &[
    "OK",
    "PASS",
    "PASSED",
    "SUCCESS",
    "SUCCEEDED",
    "DONE",
    "UP-TO-DATE",
    "CACHED",
    "FROM-CACHE",
    "NO-SOURCE",
];
/// Words that qualify a success: the line is more than routine.
const RESERVATIONS: &[&str] = &[
    "skip", "skipped", "todo", "flaky", "slow", "ignored", "retry", "try", "xfail", "xpass",
    "xpassed",
];
/// Signs of success at the beginning of a line.
const SIGNS: &[char] = &['✓', '✔', '√', '✅'];

/// The word of success of a line, if it has one at either end.
pub(crate) fn word_of_success(text: &str) -> Option<&str> {
    at_start(text.trim_start()).or_else(|| at_end(text.trim_end()))
}

/// Whether a word qualifies a success.
pub(crate) fn is_reservation(word: &str) -> bool {
    RESERVATIONS
        .iter()
        .any(|reservation| reservation.eq_ignore_ascii_case(word))
}

/// Reads the tokens of a line for an HTTP request and its status.
#[derive(Default)]
pub(crate) struct HttpExchange {
    has_method: bool,
    has_good_status: bool,
}

impl HttpExchange {
    pub(crate) fn read(&mut self, token: &LineToken<'_>) {
        match token.class {
            TokenClass::Word => {
                self.has_method |= matches!(
                    token.core,
                    "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS"
                );
            }
            TokenClass::Number => {
                let is_status = token.core.len() == 3 && token.core.starts_with(['2', '3']);
                self.has_good_status |= is_status && token.raw.len() == 3;
            }
            _ => {}
        }
    }

    /// Whether the request was successful.
    pub(crate) fn is_answered(&self) -> bool {
        self.has_method && self.has_good_status
    }
}

fn at_start(text: &str) -> Option<&str> {
    let first = text.as_bytes().first()?;
    match first {
        b'P' | b'o' | b'O' | b'-' => {
            let rest = text.trim_start_matches("--- ");
            let end = rest.find([' ', ':', '\t'])?;
            let word = &rest[..end];
            matches!(word, "PASS" | "PASSED" | "OK" | "ok").then_some(word)
        }
        b'[' => {
            let (word, _) = text[1..].split_once(']')?;
            let word = word.trim();
            matches!(word, "PASS" | "PASSED" | "OK" | "ok").then_some(word)
        }
        128.. => {
            let sign = text.chars().next()?;
            let length = sign.len_utf8();
            (SIGNS.contains(&sign) && text[length..].starts_with(' ')).then(|| &text[..length])
        }
        _ => None,
    }
}

fn at_end(text: &str) -> Option<&str> {
    let rest = before_measure(text);
    let rest = rest.trim_end_matches([']', ')', '.', '!', ' ', '\t']);
    let start = rest
        .rfind([' ', '\t', '[', '(', '.', ':', '…'])
        .map_or(0, |at| {
            at + rest[at..].chars().next().map_or(1, char::len_utf8)
        });
    let (before, word) = rest.split_at(start);
    if word.len() < 2 || word.len() > 10 || before.is_empty() {
        return None;
    }
    let is_apart = ["..", "…", ":", ": ", ".. ", "… ", "\t", "- ", "  ", "["]
        .iter()
        .any(|mark| before.ends_with(mark));
    let is_success = if is_apart {
        APART.iter().any(|apart| apart.eq_ignore_ascii_case(word))
    } else {
        before.ends_with(' ') && CAPITALS.contains(&word)
    };
    is_success.then_some(word)
}

/// The text before a duration or a percentage at its end: `ok (0.12s)`, `PASSED
/// [ 50%]`.
fn before_measure(text: &str) -> &str {
    let Some(inner) = text.strip_suffix([']', ')']) else {
        // A measure is one word or two: `0.12s`, `0.12 sec`.
        let mut starts = text.rmatch_indices(' ').map(|(start, _)| start).take(2);
        let start = starts.find(|start| is_measure(text[*start..].trim()));
        return start.map_or(text, |start| &text[..start]);
    };
    let Some(open) = inner.rfind(['[', '(']) else {
        return text;
    };
    if is_measure(inner[open + 1..].trim()) {
        text[..open].trim_end()
    } else {
        text
    }
}

fn is_measure(text: &str) -> bool {
    let text = text.strip_prefix("in ").unwrap_or(text);
    super::tokens::after_number(text).is_some_and(|unit| {
        matches!(
            unit.trim(),
            "%" | "s" | "sec" | "secs" | "seconds" | "ms" | "us" | "µs" | "ns" | "m"
        )
    })
}
