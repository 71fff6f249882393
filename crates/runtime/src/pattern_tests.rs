use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(pattern: &str, covered: &[&str], others: &[&str]) {
    for text in covered {
        assert!(covers(pattern, text), "{pattern} should cover {text}");
    }
    for text in others {
        assert!(!covers(pattern, text), "{pattern} should not cover {text}");
    }
}

#[test]
fn a_star_stays_within_a_folder_and_two_do_not() {
    check(
        "src/*.rs",
        &["src/a.rs", "src/.rs"],
        &["src/a/b.rs", "src/a.rs.bak"],
    );
    check("src/**.rs", &["src/a.rs", "src/a/b.rs"], &["lib/a.rs"]);
    check("a?c", &["abc", "a c"], &["ac", "a/c", "abbc"]);
}

#[test]
fn a_star_as_the_last_word_stands_for_any_further_words() {
    let covered = ["git status", "git status -s", "git status a/b c"];
    check(
        "git status *",
        &covered,
        &["git statusquo", "git push", "rm git status"],
    );
    check(
        "git * main *",
        &["git push main", "git push main --force"],
        &["git main"],
    );
}

#[test]
fn a_lone_star_covers_anything() {
    check("*", &["", "rm -rf /", "a\nb"], &[]);
}

#[test]
fn a_long_pattern_takes_no_longer_than_it_is_long() {
    let pattern = "*a".repeat(200);
    assert!(!covers(&pattern, &"a".repeat(199)));
    assert!(covers(&pattern, &"a".repeat(200)));
}

/// The same language, the slow and plain way.
fn plainly(pattern: &[char], text: &[char]) -> bool {
    match (pattern, text) {
        ([], []) => true,
        (['*', '*', rest @ ..], _) => (0..=text.len()).any(|cut| plainly(rest, &text[cut..])),
        (['*', rest @ ..], _) => (0..=text.len())
            .take_while(|cut| !text[..*cut].contains(&'/'))
            .any(|cut| plainly(rest, &text[cut..])),
        (['?', rest @ ..], [letter, more @ ..]) => *letter != '/' && plainly(rest, more),
        ([wanted, rest @ ..], [letter, more @ ..]) => wanted == letter && plainly(rest, more),
        _ => false,
    }
}

proptest! {
    #[test]
    fn it_agrees_with_the_plain_way(pattern in "[ab/*?]{0,8}", text in "[ab/]{0,8}") {
        let letters: Vec<char> = pattern.chars().collect();
        let plain = is_everything(&pattern) || plainly(&letters, &text.chars().collect::<Vec<_>>());
        prop_assert_eq!(covers(&pattern, &text), plain);
    }

    #[test]
    fn text_without_wildcards_covers_itself_alone(pattern in "[a-c /]{0,6}", text in "[a-c /]{0,6}") {
        prop_assert_eq!(covers(&pattern, &text), pattern == text);
        prop_assert!(is_literal(&pattern));
    }

    #[test]
    fn two_stars_cover_whatever_one_does(text in "[ab/ ]{0,8}", before in "[ab/ ]{0,3}", after in "[ab/ ]{0,3}") {
        if covers(&format!("{before}*{after}"), &text) {
            let wider = format!("{before}**{after}");
            prop_assert!(covers(&wider, &text));
        }
    }

    #[test]
    fn no_pattern_and_no_text_make_it_panic(pattern in ".*", text in ".*") {
        covers(&pattern, &text);
    }
}
