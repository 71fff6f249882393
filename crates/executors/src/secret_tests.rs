use super::*;

#[test]
fn lines_that_hide_what_is_typed_want_a_secret() {
    assert!(is_wanted(None));
}

#[test]
fn a_place_on_a_drawn_screen_wants_one_if_it_says_so() {
    for line in [
        "Password:",
        "  Enter passphrase for key: ",
        "Your PIN?",
        "token> ",
        "Пароль:",
        "一次性代码:",
    ] {
        assert!(is_wanted(Some(line)), "{line}");
    }
    for line in [
        "Push <RETURN>",
        "Press any key to continue",
        "****************",
        "",
        "-- More --",
        "spinning",
    ] {
        assert!(!is_wanted(Some(line)), "{line}");
    }
}
