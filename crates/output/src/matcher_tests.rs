use super::*;

#[test]
fn a_long_unfinished_line_is_looked_at_when_it_has_grown() {
    let mut matcher = Matcher::new(Regex::new("never").unwrap());
    let mut unlooked = |bytes: &[u8]| {
        assert_eq!(matcher.feed(bytes), None);
        assert_eq!(matcher.look(), None);
        matcher.renderer.line().fresh()
    };
    assert_eq!(unlooked(&[b'x'; SHORT_LINE - 1]), 0);
    assert_eq!(unlooked(b"x"), 0, "a short line is always looked at");
    assert_eq!(unlooked(b"x"), 1);
    assert_eq!(unlooked(b"x"), 2);
    assert_eq!(unlooked(&[b'x'; SHORT_LINE / 8]), 0);
}

#[test]
fn a_long_line_is_looked_at_when_it_ends() {
    let pattern = Regex::new("needle").unwrap();
    for end in [&b"\n"[..], b""] {
        let mut matcher = Matcher::new(pattern.clone());
        matcher.feed(&[b'x'; 2 * SHORT_LINE]);
        assert_eq!(matcher.look(), None);
        matcher.feed(b"needle");
        assert_eq!(matcher.look(), None, "it has grown too little");
        assert!(matcher.feed(end).or_else(|| matcher.finish()).is_some());
    }
}
