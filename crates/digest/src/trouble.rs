//! Words of trouble, and the levels of logs.
//!
//! A troubled line and its neighbourhood are kept. The list prefers false
//! alarms: one costs a line, while a miss costs the reason of a failure.

use super::tokens::{LineToken, TokenClass};

const C_WORDS: &[&str] = &[
    "cannot",
    "can't",
    "conflict",
    "conflicts",
    "corrupt",
    "corrupted",
    "couldn't",
    "crash",
    "crashed",
    "critical",
    "crit",
];
const E_WORDS: &[&str] = &[
    "eacces",
    "eaddrinuse",
    "econnrefused",
    "econnreset",
    "emerg",
    "emfile",
    "enomem",
    "enospc",
    "eperm",
    "epipe",
    "err",
    "error",
    "errors",
    "etimedout",
    "evicted",
    "evicting",
    "exceeded",
    "exception",
    "exceptions",
    "exhausted",
    "expired",
];
const F_WORDS: &[&str] = &[
    "fail",
    "failed",
    "failing",
    "fails",
    "failure",
    "failures",
    "fatal",
    "forbidden",
];
const U_WORDS: &[&str] = &[
    "unable",
    "unauthorized",
    "unavailable",
    "uncaught",
    "undefined",
    "unexpected",
    "unhandled",
    "unhealthy",
    "unknown",
    "unreachable",
    "unreadable",
    "unrecoverable",
    "unresolved",
    "unsafe",
    "unsupported",
    "untrusted",
];

/// Words of trouble by their first letter, in lower case.
const fn words(first: u8) -> &'static [&'static str] {
    match first {
        b'a' => &["abort", "aborted", "aborting", "abnormally", "alert"],
        b'b' => &["backoff", "bad", "blocked", "broken"],
        b'c' => C_WORDS,
        b'd' => &[
            "deadlock",
            "deadlocked",
            "degraded",
            "denied",
            "deprecated",
            "deprecation",
            "discarded",
            "disconnected",
            "dropped",
        ],
        b'e' => E_WORDS,
        b'f' => F_WORDS,
        b'h' => &["hang", "hung"],
        b'i' => &[
            "illegal",
            "inaccessible",
            "incompatible",
            "inconsistent",
            "insufficient",
            "interrupted",
            "invalid",
        ],
        b'k' => &["killed"],
        b'l' => &["leak", "leaked", "lost"],
        b'm' => &["mismatch", "missing", "malformed"],
        b'o' => &["oom", "oomkilled", "overflow"],
        b'p' => &["panic", "panicked"],
        b'r' => &[
            "refused", "rejected", "retry", "retrying", "revoked", "rollback",
        ],
        b's' => &[
            "segfault",
            "segmentation",
            "severe",
            "sigabrt",
            "sigbus",
            "sigkill",
            "sigsegv",
            "skipping",
            "stale",
            "starved",
        ],
        b't' => &[
            "throttled",
            "throttling",
            "timeout",
            "timeouts",
            "traceback",
            "truncated",
        ],
        b'u' => U_WORDS,
        b'v' => &[
            "violation",
            "vulnerable",
            "vulnerability",
            "vulnerabilities",
        ],
        b'w' => &["warn", "warning", "warnings"],
        _ => &[],
    }
}

/// Pairs of words that mean trouble together.
const PAIRS: &[(&str, &str)] = &[
    ("timed", "out"),
    ("not", "found"),
    ("not", "ok"),
    ("no", "such"),
    ("gave", "up"),
    ("giving", "up"),
    ("core", "dumped"),
    ("reset", "by"),
    ("ran", "out"),
];

/// The length of the longest second word of a pair.
const LONGEST_SECOND: usize = 6;

/// Signs that are drawn beside trouble.
const SIGNS: &[char] = &['✗', '✕', '✖', '✘', '❌', '⚠'];

/// Reads the tokens of a line in order and decides whether it is troubled.
#[derive(Default)]
pub(crate) struct TroubleReader<'a> {
    previous: &'a str,
    /// A word of trouble that a following zero would cancel: `errors: 0`.
    pending: bool,
    found: bool,
}

impl<'a> TroubleReader<'a> {
    pub(crate) fn read(&mut self, token: &LineToken<'a>) {
        if self.pending && token.core != "0" {
            self.found = true;
        }
        self.pending = false;
        match token.class {
            TokenClass::Word => self.read_word(token.raw, token.core),
            TokenClass::Name => {
                let last = token.core.rsplit(['.', ':', '/', '$']).next();
                self.found |= last.is_some_and(is_error_type)
                    || leading_word(token.core).is_some_and(is_trouble);
            }
            TokenClass::Field => self.read_field(token.core),
            _ => {}
        }
        self.previous = token.core;
    }

    /// Whether trouble was found. Call it after the last token.
    pub(crate) fn finish(self) -> bool {
        self.found || self.pending
    }

    fn read_word(&mut self, raw: &str, core: &str) {
        let is_none = matches!(self.previous, "0" | "no" | "No" | "without");
        let word = core.split(['(', ')', '[', ':', '!', ',', '/']).next();
        if word.is_some_and(|word| is_trouble(word) || is_error_type(word)) && !is_none {
            if raw.ends_with([':', '=']) {
                self.pending = true;
            } else {
                self.found = true;
            }
        }
        if core.len() <= LONGEST_SECOND {
            self.found |= PAIRS.iter().any(|pair| {
                self.previous.eq_ignore_ascii_case(pair.0) && core.eq_ignore_ascii_case(pair.1)
            });
        }
        if !raw.is_ascii() {
            self.found |= raw.contains(SIGNS);
        }
    }

    fn read_field(&mut self, core: &str) {
        let Some((key, value)) = core.split_once('=') else {
            return;
        };
        let is_level = matches!(key, "level" | "lvl" | "severity");
        let value = value.trim_matches('"');
        if is_level {
            self.found |= is_trouble(value);
        } else if value.contains(' ') {
            self.found |= value
                .split(|c: char| !c.is_alphabetic())
                .any(|word| word.len() < 16 && is_trouble(word));
        } else if is_trouble(key) && !matches!(value, "" | "0" | "null" | "nil" | "none" | "false")
        {
            self.found = true;
        }
    }
}

/// Whether the word alone means trouble, in any capitalisation.
pub(crate) fn is_trouble(word: &str) -> bool {
    begins_trouble(word.as_bytes())
        && words(word.as_bytes()[0].to_ascii_lowercase())
            .iter()
            .any(|trouble| trouble.eq_ignore_ascii_case(word))
}

/// The first word of a name such as `Error(12)` or `FAILED[3]`.
fn leading_word(core: &str) -> Option<&str> {
    let end = core.find(|c: char| !c.is_ascii_alphabetic())?;
    let is_applied =
        core[end..].starts_with(['(', '[', ':', '!', ',']) && !core[end..].starts_with("::");
    is_applied.then_some(&core[..end])
}

/// Whether a word is the name of an error's type: `KeyError`.
fn is_error_type(word: &str) -> bool {
    (word.ends_with("Error") || word.ends_with("Exception")) && word.len() > 5
}

/// Whether a token is a level below a warning: `INFO`, `[debug]`, `level=info`.
pub(crate) fn is_low_level(token: &LineToken<'_>) -> bool {
    const LOW: &[&str] = &["info", "debug", "trace", "notice", "verbose", "fine"];
    const LETTERS: &[&str] = &["I", "D", "V", "i", "d"];
    let core = token.core;
    if core.len() > 7 && token.class != TokenClass::Field {
        return false;
    }
    let is_low = LOW.iter().any(|low| low.eq_ignore_ascii_case(core));
    if is_low {
        let is_upper = core.bytes().all(|byte| byte.is_ascii_uppercase());
        let is_set_apart = token.raw.len() > core.len();
        let is_capital = core.as_bytes()[0].is_ascii_uppercase();
        return is_upper || is_set_apart || is_capital;
    }
    if LETTERS.contains(&core) {
        return token.raw.len() == core.len() + 2;
    }
    token.class == TokenClass::Field
        && core.split_once('=').is_some_and(|(key, value)| {
            matches!(key, "level" | "lvl" | "severity")
                && LOW
                    .iter()
                    .any(|low| low.eq_ignore_ascii_case(value.trim_matches('"')))
        })
}

/// Whether a line may be troubled: some word begins like a word of trouble. A
/// word begins at a capital or after a character that is not a letter. This is
/// a filter, much faster than reading the line.
pub(crate) fn may_be_troubled(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut previous = 0_u8;
    for (at, byte) in bytes.iter().enumerate() {
        let is_start = !u8::is_ascii_alphabetic(&previous) || byte.is_ascii_uppercase();
        previous = *byte;
        if !is_start {
            continue;
        }
        if *byte >= 0xe2 || begins_trouble(&bytes[at..]) && is_beginning(&bytes[at..]) {
            return true;
        }
    }
    false
}

fn is_beginning(bytes: &[u8]) -> bool {
    let first = bytes[0].to_ascii_lowercase();
    let begins = |word: &str| {
        bytes
            .get(..word.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
    };
    words(first).iter().any(|word| begins(word)) || PAIRS.iter().any(|pair| begins(pair.0))
}

/// Whether two letters are the first of some word of trouble.
fn begins_trouble(bytes: &[u8]) -> bool {
    let [first, second, ..] = bytes else {
        return false;
    };
    let (first, second) = (first.to_ascii_lowercase(), second.to_ascii_lowercase());
    first.is_ascii_lowercase()
        && second.is_ascii_lowercase()
        && BEGINNINGS[(first - b'a') as usize] & 1 << (second - b'a') != 0
}

/// For each first letter, the second letters of words of trouble.
static BEGINNINGS: [u32; 26] = {
    let mut table = [0; 26];
    let mut first = 0;
    while first < 26 {
        let words = words(b'a' + first);
        let mut place = 0;
        while place < words.len() {
            table[first as usize] |= 1 << (words[place].as_bytes()[1] - b'a');
            place += 1;
        }
        first += 1;
    }
    let mut place = 0;
    while place < PAIRS.len() {
        let word = PAIRS[place].0.as_bytes();
        table[(word[0] - b'a') as usize] |= 1 << (word[1] - b'a');
        place += 1;
    }
    table
};
