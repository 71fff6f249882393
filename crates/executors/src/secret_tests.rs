use super::*;

fn wanted(text: &str, is_placed: bool) -> bool {
    let text = text.to_owned();
    is_wanted(&CursorLine { text, is_placed })
}

#[test]
fn a_line_that_hides_what_is_typed_wants_a_secret() {
    for line in [
        "Password:",
        "Enter value:",
        "?",
        "",
        "Enter your PIN and press return:",
    ] {
        assert!(wanted(line, false), "{line}");
    }
}

#[test]
fn a_line_that_wants_a_key_pressed_does_not() {
    for line in [
        "Push <RETURN>",
        "should look the same. Push <RETURN>",
        "Press any key to continue . . .",
        "[hit enter]",
    ] {
        assert!(!wanted(line, false), "{line}");
    }
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
        assert!(wanted(line, true), "{line}");
    }
    for line in [
        "Push <RETURN>",
        "****************",
        "",
        "-- More --",
        "spinning",
    ] {
        assert!(!wanted(line, true), "{line}");
    }
}
