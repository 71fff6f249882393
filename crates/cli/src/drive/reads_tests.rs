use super::*;

#[test]
fn a_character_that_is_not_complete_waits_for_its_rest() {
    let text = "aé€😀".as_bytes();
    for end in 0..=text.len() {
        let whole = whole_characters(&text[..end]);
        assert!(
            std::str::from_utf8(&text[..whole]).is_ok(),
            "{end}: {whole}"
        );
        assert!(end - whole < 4, "{end}: {whole}");
    }
    assert_eq!(whole_characters(text), text.len());
    assert_eq!(whole_characters(b"ab\xff\xfe"), 4, "no character begins so");
}

#[test]
fn lines_are_reported_as_a_terminal_shows_them() {
    let shown = plain(b"\x1b[31mred\x1b[0m\r\n10%\r50%\rdone\n\nrest");
    assert_eq!(shown, "red\ndone\n\nrest");
    assert_eq!(whole_lines(b"a\nb"), 2);
    assert_eq!(whole_lines(b"ab"), 0);
}
