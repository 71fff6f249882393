use super::*;

fn passed(parts: &[&[u8]]) -> Vec<u8> {
    let mut guard = Guard::default();
    let mut passed = Vec::new();
    for part in parts {
        guard.feed(part, |bytes| passed.extend_from_slice(bytes));
    }
    passed
}

#[test]
fn everything_short_passes() {
    let bytes = b"plain \x1b]0;title\x07 and \x1b]8;;link\x1b\\ and \x1bPdevice\x1b\\";
    assert_eq!(passed(&[bytes]), bytes);
}

#[test]
fn a_long_command_is_cut_and_what_follows_is_not() {
    for end in [&b"\x07"[..], b"\x1b\\", b"\x18", b"\x1a"] {
        let long = vec![b'x'; 100_000];
        let bytes = passed(&[b"\x1b", b"]0;", &long, &long, end, b"after"]);
        assert!(bytes.len() < 5000);
        assert!(bytes.ends_with(&[end, b"after"].concat()));
    }
}

#[test]
fn long_text_and_long_device_strings_pass() {
    let long = vec![b'x'; 100_000];
    assert_eq!(passed(&[&long]), long);
    assert_eq!(passed(&[b"\x1bP", &long, b"\x1b\\"]).len(), long.len() + 4);
}

#[test]
fn a_character_that_is_cut_waits_for_its_rest() {
    assert_eq!(passed(&[b"a\xe6\x97"]), b"a");
    assert_eq!(passed(&[b"a\xe6", b"\x97", b"\xa5b"]), "a日b".as_bytes());
    assert_eq!(passed(&[b"\xff\xe6x"]), b"\xff\xe6x");
}
