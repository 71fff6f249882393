use super::*;

fn check(text: &str, expected: &[&str]) {
    assert_eq!(render(text, 40, false), expected);
}

#[test]
fn blocks_are_spaced_and_paragraphs_wrapped() {
    check(
        "# Title\n\nSome *words* and `code`, and more of them\nthan fit.\n\n---\n",
        &[
            "Title",
            "",
            "Some words and code, and more of them",
            "than fit.",
            "",
            "────────────────────────────────────────",
        ],
    );
}

#[test]
fn lists_are_indented() {
    check(
        "- one\n- two words that are too long for the line\n  1. a\n  2. b\n\nEnd",
        &[
            "• one",
            "• two words that are too long for the",
            "  line",
            "  1. a",
            "  2. b",
            "",
            "End",
        ],
    );
}

#[test]
fn code_stays_unchanged() {
    check(
        "Run:\n\n```sh\ncargo   test\n\n# done\n```\n> quoted\n",
        &[
            "Run:",
            "",
            "sh",
            "  cargo   test",
            "  ",
            "  # done",
            "",
            "│ quoted",
        ],
    );
}

#[test]
fn tables_are_aligned() {
    check(
        "| a | b |\n|---|---|\n| long cell | x |\n",
        &["a          b", "long cell  x"],
    );
}

#[test]
fn colour_is_only_where_it_is_wanted() {
    assert_eq!(render("**b**", 40, true), ["\x1b[1mb\x1b[0m"]);
    assert_eq!(render("**b**", 40, false), ["b"]);
}

#[test]
fn only_whole_blocks_are_shown_for_good() {
    for (text, whole) in [
        ("half a paragraph", ""),
        ("one\n\ntwo", "one\n\n"),
        ("```\na\n\nb", ""),
        ("```\na\n\nb\n```\nrest", "```\na\n\nb\n```\n"),
        ("a\n\n```\n``\n", "a\n\n"),
    ] {
        assert_eq!(&text[..whole_blocks(text)], whole, "{text:?}");
    }
}

proptest::proptest! {
    #[test]
    fn nothing_panics_and_lines_fit(text in "[a-z`*#>|\\-\n 0-9.\\[\\]()äß]{0,200}") {
        let whole = whole_blocks(&text);
        proptest::prop_assert!(text.is_char_boundary(whole));
        render(&text, 30, true);
    }
}
