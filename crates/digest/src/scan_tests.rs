use super::super::line::TextLine;
use super::{AUTOMATON, PATTERNS, find_trouble};

#[test]
fn words_of_trouble_are_found() {
    for line in [
        "2026-11-17 ERROR cannot open the store",
        "java.lang.IllegalStateException: closed",
        "Traceback (most recent call last):",
        "level=warn msg=\"clock skew\"",
        "Killed",
        "connection refused",
    ] {
        let found = find_trouble(line.as_bytes());
        assert!(found.is_some(), "{line}");
        assert!(TextLine::read(line, 1, 0).is_troubled(), "{line}");
    }
    assert_eq!(
        find_trouble(b"a mirror was filled from the catalogue"),
        None
    );
}

#[test]
fn both_searchers_find_every_pattern() {
    for pattern in PATTERNS {
        let text = format!("0123456789 abcdefgh ijklmn {pattern} opq");
        assert_eq!(find_trouble(text.as_bytes()), Some(27), "{pattern}");
        let automaton = AUTOMATON.as_ref().expect("the patterns are few");
        let found = automaton.find(&text).map(|found| found.start());
        assert_eq!(found, Some(27), "{pattern}");
    }
}
