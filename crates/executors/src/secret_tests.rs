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

#[test]
fn a_program_that_edits_its_line_asks_for_a_secret_in_so_many_words() {
    for (line, stem) in [
        ("Password: ", "Password:"),
        ("Password: ****", "Password:"),
        ("? Enter your password", "? Enter your password"),
        ("? Password › ***", "? Password ›"),
        ("[sudo] password for ann: ***", "[sudo] password for ann:"),
        (
            "🔐 Password: (press TAB for no echo)",
            "🔐 Password: (press TAB for no echo)",
        ),
        (
            "Enter passphrase for key 'x':",
            "Enter passphrase for key 'x':",
        ),
        ("API key: ••", "API key:"),
        ("PIN:", "PIN:"),
        ("? GitHub token (hidden)", "? GitHub token (hidden)"),
        ("? Token [input is masked]", "? Token [input is masked]"),
    ] {
        assert_eq!(request(line), Some(stem), "{line}");
    }
    for line in [
        "",
        "$",
        "Name:",
        "Save password? [y/N]",
        "Token name:",
        "Choose a password manager:",
        "? Which token type",
        "password = hunter2",
        "the password is hunter2",
        "def check(password):x",
        "> password",
        "Forgot password?",
        "Password updated.",
        "Select the secret store:",
    ] {
        assert_eq!(request(line), None, "{line}");
    }
}

#[test]
fn typed_text_is_masked_when_it_is_shown_as_one_character() {
    let is_masked = |text: &str, line: &str, written: &str| {
        let typed = TypedText {
            text: text.to_owned(),
            line: line.to_owned(),
            before: 0,
        };
        typed.is_masked(written.as_bytes())
    };
    assert!(is_masked("hunter2", "Key:", "*******\r\nWelcome"));
    assert!(is_masked("h", "> **", "*"));
    assert!(is_masked(
        "ab",
        "? Key:",
        "\x1b[2K\x1b[G? Key: *\x1b[2K\x1b[G? Key: **"
    ));
    assert!(!is_masked("ls -l", "$", "ls -l\r\n********"));
    assert!(!is_masked("ls", "$", "\x1b[32ml\x1b[0ms\r\n********"));
    assert!(!is_masked("dd", "", ""));
    assert!(!is_masked("***", "$", "***"));
    assert!(!is_masked("hunter2", "$", "**"));
    // A menu that is drawn again.
    assert!(!is_masked("j", "  two", "one\r\n* two"));
}
