use super::*;

fn pattern(text: &str) -> HostPattern {
    HostPattern::parse(text).expect(text)
}

#[test]
fn a_star_covers_hosts_below_and_not_the_host_itself() {
    let below = pattern("*.example.com");
    assert!(below.matches("a.example.com", 443));
    assert!(below.matches("A.B.Example.com.", 443));
    assert!(!below.matches("example.com", 443));
    assert!(!below.matches("badexample.com", 443));
    assert!(!below.matches("example.com.evil.net", 443));
}

#[test]
fn a_port_limits_a_pattern_to_it() {
    let registry = pattern("127.0.0.1:4873");
    assert!(registry.matches("127.0.0.1", 4873));
    assert!(!registry.matches("127.0.0.1", 22));
    assert!(pattern("[::1]:80").matches("::1", 80));
    assert!(!pattern("[::1]:80").matches("::1", 81));
    assert!(pattern("::1").matches("::1", 81));
}

#[test]
fn nonsense_is_no_pattern() {
    for text in [
        "",
        "a b",
        "*x.com",
        "a.*.com",
        "http://a.com",
        "a:b",
        "[::1]x",
    ] {
        assert_eq!(HostPattern::parse(text), None, "{text}");
    }
}

#[test]
fn a_wider_pattern_covers_a_narrower_one() {
    let check = |wide: &str, narrow: &str| pattern(wide).covers(&pattern(narrow));
    assert!(check("*", "a.com"));
    assert!(check("*", "*.a.com"));
    assert!(check("*.a.com", "*.b.a.com"));
    assert!(check("*.a.com", "b.a.com:443"));
    assert!(!check("b.a.com:443", "b.a.com"));
    assert!(!check("*.a.com", "a.com"));
    assert!(!check("*.b.a.com", "*.a.com"));
    assert!(!check("a.com", "*"));
}
