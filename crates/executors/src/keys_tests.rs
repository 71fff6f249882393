use super::*;

fn check(name: &str) -> String {
    match key(name, KeyModes::default()) {
        Ok(bytes) => String::from_utf8(bytes)
            .unwrap()
            .escape_default()
            .to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn keys_are_what_xterm_sends() {
    let keys = [
        "enter",
        "tab",
        "shift-tab",
        "esc",
        "backspace",
        "space",
        "ctrl-space",
        "eof",
        "up",
        "ctrl-left",
        "home",
        "end",
        "pageup",
        "shift-pagedown",
        "delete",
        "f1",
        "ctrl-f1",
        "f5",
        "F12",
        "ctrl-c",
        "ctrl-x",
        "ctrl-\\",
        "ctrl-]",
        "ctrl-_",
        "ctrl-?",
        "alt-x",
        "ctrl-alt-x",
        "alt-enter",
        "j",
        "J",
        "shift-j",
        "é",
        "-",
        "ctrl-[",
        "alt--",
    ];
    let sent: Vec<String> = keys
        .iter()
        .map(|name| format!("{name} {}", check(name)))
        .collect();
    assert_eq!(
        sent.join("\n"),
        "enter \\r\n\
         tab \\t\n\
         shift-tab \\u{1b}[Z\n\
         esc \\u{1b}\n\
         backspace \\u{7f}\n\
         space  \n\
         ctrl-space \\u{0}\n\
         eof \\u{4}\n\
         up \\u{1b}[A\n\
         ctrl-left \\u{1b}[1;5D\n\
         home \\u{1b}[H\n\
         end \\u{1b}[F\n\
         pageup \\u{1b}[5~\n\
         shift-pagedown \\u{1b}[6;2~\n\
         delete \\u{1b}[3~\n\
         f1 \\u{1b}OP\n\
         ctrl-f1 \\u{1b}[1;5P\n\
         f5 \\u{1b}[15~\n\
         F12 \\u{1b}[24~\n\
         ctrl-c \\u{3}\n\
         ctrl-x \\u{18}\n\
         ctrl-\\ \\u{1c}\n\
         ctrl-] \\u{1d}\n\
         ctrl-_ \\u{1f}\n\
         ctrl-? \\u{7f}\n\
         alt-x \\u{1b}x\n\
         ctrl-alt-x \\u{1b}\\u{18}\n\
         alt-enter \\u{1b}\\r\n\
         j j\n\
         J J\n\
         shift-j J\n\
         é \\u{e9}\n\
         - -\n\
         ctrl-[ \\u{1b}\n\
         alt-- \\u{1b}-"
    );
}

#[test]
fn arrows_follow_the_application_form() {
    let modes = KeyModes {
        application_cursor: true,
        ..KeyModes::default()
    };
    assert_eq!(key("up", modes).unwrap(), b"\x1bOA");
    assert_eq!(key("ctrl-up", modes).unwrap(), b"\x1b[1;5A");
}

#[test]
fn an_unknown_key_is_answered_with_similar_ones() {
    assert_eq!(
        check("pgup"),
        "there is no key `pgup`; similar keys are pageup, up, bs, del; ctrl-, alt- and shift- can \
         precede a key or a single character"
    );
    assert!(check("hyper-x").starts_with("there is no key `hyper-x`"));
    assert!(check("ctrl-é").starts_with("there is no key"));
    assert!(check("").starts_with("there is no key"));
}

#[test]
fn text_is_submitted_once() {
    let plain = |input, enter| text(input, enter, KeyModes::default());
    assert_eq!(plain("y", true), b"y\r");
    assert_eq!(plain("y\n", true), b"y\r");
    assert_eq!(plain("y", false), b"y");
    assert_eq!(plain("a\nb", true), b"a\rb\r");
    assert_eq!(plain("", true), b"\r");
}

#[test]
fn several_lines_are_pasted_where_the_program_asked_for_it() {
    let modes = KeyModes {
        bracketed_paste: true,
        ..KeyModes::default()
    };
    assert_eq!(text("a\nb\n", true, modes), b"\x1b[200~a\nb\x1b[201~\r");
    assert_eq!(text("one line", true, modes), b"one line\r");
    assert_eq!(
        text("a\x1b[201~\nb", false, modes),
        b"\x1b[200~a\nb\x1b[201~"
    );
}

#[test]
fn more_than_one_character_is_no_key() {
    assert!(check("jj").starts_with("there is no key `jj`"));
    assert!(check("ctrl-jj").starts_with("there is no key `ctrl-jj`"));
    assert!(check("ctrl-").starts_with("there is no key `ctrl-`"));
}
