use super::*;

#[track_caller]
fn check(before: &str, now: &str, expected: &str) {
    assert_eq!(render_change(7, before, now), expected);
}

#[test]
fn a_word_that_changed_is_reported_with_its_place() {
    check(
        "18096 root      20   0  714048 226660 102676 S  53.3   0.9   2:24.62 rustc",
        "18096 root      20   0  714048 226660 102676 S   6.7   0.9   2:24.62 rustc",
        "8:49│ 6.7",
    );
}

#[test]
fn words_that_are_far_apart_are_reported_each() {
    check(
        "top - 23:14:34 up  1:37,  0 user,  load average: 4.73, 2.58, 3.25",
        "top - 23:14:37 up  1:37,  0 user,  load average: 4.75, 2.58, 3.24",
        "8:7│23:14:37\n8:50│4.75, 2.58, 3.24",
    );
}

#[test]
fn a_row_that_grows_is_reported_from_where_it_does() {
    check(
        "a row with quite a few words in it that are told before",
        "a row with quite a few words in it that are told before and   after",
        "8:57│and   after",
    );
}

#[test]
fn what_saves_little_is_reported_whole() {
    let before = "one two three four five six seven eight nine ten";
    let now = "one too three for five sex seven ate nine ten";
    check(before, now, &format!("8│{now}"));
}

#[test]
fn a_short_row_is_reported_whole() {
    check(
        "line 3 of the text",
        "line 4 of the text",
        "8│line 4 of the text",
    );
}

#[test]
fn a_row_that_shrinks_is_reported_whole() {
    let now = "a row with quite a few words in it that are";
    check(&format!("{now} told"), now, &format!("8│{now}"));
}

#[test]
fn a_row_whose_columns_are_not_its_characters_is_reported_whole() {
    for character in ["日", "e\u{301}"] {
        let row =
            |word: &str| format!("{character} and quite a few words behind it, the last is {word}");
        let now = row("new");
        check(&row("old"), &now, &format!("8│{now}"));
    }
}
