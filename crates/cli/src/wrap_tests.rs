use super::{fitted, hanging, message, wrapped};

#[test]
fn rows_are_broken_between_words() {
    assert_eq!(wrapped("one two three", 8), ["one two ", "three"]);
    assert_eq!(wrapped("", 8), [""]);
    assert_eq!(wrapped("exactly8 x", 8), ["exactly8 ", "x"]);
}

#[test]
fn a_word_that_is_too_long_is_broken() {
    assert_eq!(wrapped("a bbbbbbbbbb c", 4), ["a ", "bbbb", "bbbb", "bb c"]);
    assert_eq!(wrapped("你好你好", 4), ["你好", "你好"]);
}

#[test]
fn nothing_of_the_text_is_lost() {
    let text = "for i in  1 2;   do echo \"$i\";  done";
    for columns in 2..40 {
        assert_eq!(wrapped(text, columns).concat(), text);
    }
}

#[test]
fn rows_below_the_first_are_indented_alike() {
    assert_eq!(hanging("› ", "one two", 6), ["› one", "  two"]);
    assert_eq!(fitted("  one two", 6), ["  one", "  two"]);
    assert_eq!(
        fitted("\x1b[1mone two\x1b[0m", 3),
        ["\x1b[1mone two\x1b[0m"]
    );
}

#[test]
fn messages_are_broken_between_words_and_addresses_stay_whole() {
    assert_eq!(message("one two three", 8), "one two\nthree");
    assert_eq!(message("  one two\nx", 6), "  one\n  two\nx");
    assert_eq!(
        message("see http://127.0.0.1:1/#token=abc now", 12),
        "see\nhttp://127.0.0.1:1/#token=abc\nnow"
    );
    assert_eq!(message("\x1b[1mone two\x1b[0m", 3), "\x1b[1mone two\x1b[0m");
    assert_eq!(message("  --> file   key   ", 80), "  --> file   key   ");
}
