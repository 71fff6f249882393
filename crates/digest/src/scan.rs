//! Finds trouble in bytes that are not split into lines, at gigabytes per
//! second.
//!
//! It is a filter: the rules for trouble judge the line that it finds. It knows
//! the most common words of trouble and misses the others.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use aho_corasick::packed::{Config, Searcher};

/// Up to 32 patterns are found by the fastest searcher. A first letter that is
/// often a capital is omitted.
const PATTERNS: [&str; 32] = [
    "error",
    "Error",
    "ERR",
    "fail",
    "Fail",
    "FAIL",
    "fatal",
    "Fatal",
    "FATAL",
    "panic",
    "PANIC",
    "xception",
    "raceback",
    "arning",
    "warn",
    "WARN",
    "bort",
    "enied",
    "killed",
    "Killed",
    "OOM",
    "efused",
    "imed out",
    "ritical",
    "CRIT",
    "crash",
    "annot",
    "orrupt",
    "SEVERE",
    "eadlock",
    "nreachable",
    "nvalid",
];

/// The searcher of this machine, if its processor has the instructions.
static PACKED: LazyLock<Option<Searcher>> =
    LazyLock::new(|| Config::new().builder().extend(PATTERNS).build());
/// The searcher of any other machine.
static AUTOMATON: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(PATTERNS).ok());

/// The offset of the first word that may report trouble.
pub fn find_trouble(bytes: &[u8]) -> Option<usize> {
    if let Some(searcher) = &*PACKED {
        return searcher.find(bytes).map(|found| found.start());
    }
    let found = AUTOMATON.as_ref()?.find(bytes);
    found.map(|found| found.start())
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
