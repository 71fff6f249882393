use super::super::recording::bytes;
use super::*;

#[test]
fn plain_lines_are_whole_and_of_one_byte_a_character() {
    let check = |text: &str, plain: &str| {
        assert_eq!(plain_lines(&bytes(text)), bytes(plain).len(), "{text}");
    };
    check("one\\r\\ntwo\\r\\nthr", "one\\r\\ntwo\\r\\n");
    check("\\r\\n\\r\\n", "\\r\\n\\r\\n");
    check("one\\r\\ntwo\\nthree\\r\\n", "one\\r\\n");
    check("one\\r\\ntw\\ro\\r\\n", "one\\r\\n");
    check("one\\r\\ntwo\\r", "one\\r\\n");
    check("one\\r\\nt\\two\\r\\n", "one\\r\\n");
    check("one\\r\\ntwö\\r\\n", "one\\r\\n");
    check("one\\r\\n\\x7f\\r\\n", "one\\r\\n");
    check("", "");
}

#[test]
fn the_last_rows_are_left() {
    let check = |text: &str, before: &str| {
        assert_eq!(
            before_last(&bytes(text), 3, 4),
            bytes(before).len(),
            "{text}"
        );
    };
    check("a\\r\\nb\\r\\nc\\r\\nd\\r\\n", "a\\r\\n");
    check("a\\r\\nb\\r\\nc\\r\\n", "");
    check("a\\r\\nb\\r\\n", "");
    check("", "");
    // Lines of four, of five and of none.
    check("a\\r\\nb\\r\\nabcd\\r\\nabcd\\r\\n", "a\\r\\n");
    check("a\\r\\nb\\r\\nabcde\\r\\n", "a\\r\\n");
    check("a\\r\\nb\\r\\nabcdefghi\\r\\n", "a\\r\\nb\\r\\n");
    check("a\\r\\n\\r\\n\\r\\n\\r\\n", "a\\r\\n");
}
