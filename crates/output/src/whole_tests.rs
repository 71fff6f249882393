use super::*;

fn pushed(chunks: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut whole = WholeCharacters::default();
    let mut parts: Vec<_> = chunks
        .iter()
        .map(|chunk| whole.push(chunk).into_owned())
        .collect();
    parts.push(whole.take());
    parts
}

#[test]
fn a_beginning_waits_for_its_end() {
    assert_eq!(
        pushed(&[b"a\xe2\x82", b"\xacb"]),
        [&b"a"[..], "€b".as_bytes(), b""]
    );
    assert_eq!(
        pushed(&[b"\xf0", b"\x9f", b"\xa6", b"\x80"]),
        [&b""[..], b"", b"", "🦀".as_bytes(), b""]
    );
}

#[test]
fn what_is_no_beginning_does_not_wait() {
    for chunk in [
        &b"a"[..],
        b"\xff",
        b"\x80\x80\x80\x80",
        "é".as_bytes(),
        "🦀".as_bytes(),
        b"\xc1",
    ] {
        assert_eq!(pushed(&[chunk]), [chunk, b""]);
    }
}

#[test]
fn what_never_ends_is_not_lost() {
    assert_eq!(pushed(&[b"a\xe9"]), [&b"a"[..], b"\xe9"]);
    assert_eq!(pushed(&[b"\xe9", b"x"]), [&b""[..], b"\xe9x", b""]);
}
