use super::*;

#[track_caller]
fn check(printed: &str, shown: &str) {
    let whole = SafeText::default().push(printed.as_bytes());
    assert_eq!(String::from_utf8_lossy(&whole), shown, "{printed:?}");
    let mut pieces = SafeText::default();
    let bytes = printed.bytes().flat_map(|byte| pieces.push(&[byte]));
    let bytes: Vec<u8> = bytes.collect();
    assert_eq!(bytes, whole, "{printed:?} in pieces");
}

#[test]
fn text_and_colours_pass() {
    check("plain ä 漢 🦀\r\n\ttext", "plain ä 漢 🦀\r\n\ttext");
    check(
        "\x1b[1;31mred\x1b[0m \x1b[38:5:9mmore\x1b[m",
        "\x1b[1;31mred\x1b[0m \x1b[38:5:9mmore\x1b[m",
    );
    check("©®", "©®");
}

#[test]
fn what_acts_on_the_terminal_does_not() {
    check("a\x1b]52;c;aGk=\x07b", "ab");
    check("a\x1b]0;title\x1b\\b", "ab");
    check("a\x1bP+q544e\x1b\\b", "ab");
    check("a\x1b_apc\x1b\\b\x1b^pm\x1b\\c\x1bXsos\x1b\\d", "abcd");
    check("a\x1bcb", "ab");
    check("a\x1b[2Jb\x1b[6nc\x1b[?1049hd", "abcd");
    check("a\x1b[>4;2mb", "ab");
    check("a\x1b(0b\x1b#8c", "abc");
    check("a\x07\x08\x0e\x7f\0b", "ab");
    check("a\u{9b}2Jb\u{9d}52;c;x\u{9c}c\x07d", "abd");
}

#[test]
fn a_sequence_that_never_ends_swallows_no_more_than_its_string() {
    check("a\x1b]0;open", "a");
    check("a\x1b]0;open\x1b[31mred", "a\x1b[31mred");
    check("a\x1b", "a");
    let long = format!("\x1b[{}mx", "1;".repeat(500));
    check(&long, "x");
}
