use windlass_process::InputReader;

use super::*;

fn listener(line: &str) -> InputReader {
    let mut words = line.split(' ').map(str::to_owned);
    InputReader {
        names: vec![words.next().unwrap()],
        args: words.collect(),
        is_foreground: true,
    }
}

/// What listens, in a word, and what these pieces, typed one after the other, would run; `…` is unknown.
fn judge(program: &str, pieces: &[&str]) -> Vec<String> {
    let listeners = [listener(program)];
    let listening = ReaderKind::to(Some(&listeners), Situation::default());
    let mut line = TypedLine::default();
    let mut found = Vec::new();
    for piece in pieces {
        let commands = line.commands(piece.as_bytes(), &listening);
        let patterns = commands.into_iter().flat_map(|commands| commands.patterns);
        found = patterns
            .map(|pattern| pattern.known.replace(UNKNOWN, "…"))
            .collect();
        line.note(piece.as_bytes());
    }
    found
}

#[track_caller]
fn check(program: &str, pieces: &[&str], commands: &[&str]) {
    assert_eq!(judge(program, pieces), commands, "{program}: {pieces:?}");
}

#[test]
fn a_line_that_is_typed_into_a_shell_is_read_as_one() {
    check("bash", &["ls -l\r"], &["ls -l"]);
    check(
        "bash -i",
        &["git 'push' && touch x\r"],
        &["git push", "touch x"],
    );
    check("sh -s", &["touch x\n"], &["touch x"]);
    check("bash --norc", &["\r"], &[]);
    check("bash", &["\x03"], &[]);
    check("zsh", &["ls\r"], &["…"]);
    check("ssh host", &["touch x\r"], &["touch x"]);
}

#[test]
fn a_line_is_known_that_comes_in_pieces() {
    check("bash", &["touch x"], &["touch x"]);
    check("bash", &["tou", "ch x"], &["touch x", "ch x"]);
    check(
        "bash",
        &["t", "o", "u", "ch x\r"],
        &["touch x", "ouch x", "uch x", "ch x"],
    );
    check("bash", &["ls\r", "pwd\r"], &["pwd"]);
    // Another program may have read the first piece.
    check("bash", &["y", "touch x\r"], &["ytouch x", "touch x"]);
    check("bash", &["touch x", "\r"], &["touch x"]);
}

#[test]
fn a_line_that_cannot_be_followed_is_unknown() {
    check("bash", &["\x1b[A"], &[]);
    check("bash", &["\x1b[A", "\r"], &["…"]);
    check("bash", &["tou\t", "\r"], &["…"]);
    check("bash", &["x\x7ftouch x\r"], &["…"]);
    check("bash", &["\x12tou", "\r"], &["…"]);
    check("bash", &["\x1b[A", "\x03", "ls\r"], &["ls"]);
    check("bash", &["\x0f"], &["…"]);
    check("bash", &["!!\r"], &["!!", "…"]);
    check("bash", &["!to\r"], &["!to", "…"]);
    check("bash", &["tou\\\r", "ch x\r"], &["ch x"]);
    assert!(judge("bash", &["tou\\\r"]).contains(&"…".to_owned()));
    assert!(judge("bash", &["echo 'a\r"]).contains(&"…".to_owned()));
    assert!(judge("bash", &["read -n1 a\r", "xtouch x\r"]).contains(&"…".to_owned()));
}

#[test]
fn lines_that_belong_together_are_read_together() {
    let loop_text = "for i in 1 2\rdo touch $i\rdone\r";
    let found = judge("bash", &[loop_text]);
    assert!(found.contains(&"touch …".to_owned()), "{found:?}");
    assert!(!found.contains(&"…".to_owned()), "{found:?}");
    let pasted = "\x1b[200~if true\nthen ls\nfi\x1b[201~\r";
    let found = judge("bash", &[pasted]);
    assert!(
        found.contains(&"ls".to_owned()) && !found.contains(&"…".to_owned()),
        "{found:?}"
    );
}

#[test]
fn text_for_a_program_that_runs_nothing_is_data() {
    for program in [
        "cat",
        "bash script.sh",
        "bash -c 'read x'",
        "sh -ec 'read x'",
        "python3 manage.py shell_plus",
        "python3 -c input()",
        "python3 -m http.server",
        "node index.js",
        "git add -p",
        "apt install x",
        "vim -Z file",
        "nano -R file",
        "busybox cat",
    ] {
        check(program, &["touch x\r"], &[]);
    }
}

#[test]
fn code_for_an_interpreter_is_unknown() {
    for program in [
        "python3",
        "python3.12 -q",
        "python3 -i setup.py",
        "python3 -m pdb x.py",
        "node",
        "node -i",
        "perl",
        "psql base",
        "gdb ./x",
        "ruby -",
        "python3 /dev/stdin",
    ] {
        check(program, &["x\r"], &["…"]);
        check(program, &["\r"], &[]);
    }
}

#[test]
fn keys_that_only_look_run_nothing() {
    for keys in [
        " ",
        "q",
        "G",
        "\x1b[B",
        "/pattern\r",
        "?!x\r",
        "5j",
        "h",
        "\x03",
    ] {
        check("less", &[keys], &[]);
    }
    for keys in [
        "!touch x\r",
        "!",
        "|",
        "v",
        "s",
        ":e x\r",
        "/a\x7f\x7f!x\r",
        "-",
        "\x1b",
        "E",
    ] {
        check("less", &[keys], &["…"]);
    }
}

#[test]
fn vim_writes_and_leaves_without_running_anything() {
    for keys in [
        "ihello: world! !x\x1b:wq\r",
        "dd",
        "5dd",
        "dw",
        "diw",
        "ciwword\x1b",
        "ggdG",
        ":q!\r",
        ":12\r",
        "ZZ",
        "/search\r",
        "onew line\x1b",
        "\x1b",
        "u",
        "rx",
    ] {
        check("vim file", &[keys], &[]);
    }
    for keys in [
        ":!touch x\r",
        ":",
        ":w !sh\r",
        ":r !touch x\r",
        "!!touch x\r",
        "diw!!touch x\r",
        "d",
        "ihello\x1b:!touch x\r",
        "i\x12=system('touch x')\r",
        "gx",
        "g",
        "K",
        "@a",
        ":q\rtouch x\r",
        "ZZtouch x\r",
        ":call system('x')\r",
    ] {
        check("vim file", &[keys], &["…"]);
    }
}

#[test]
fn an_editor_that_inserts_has_keys_that_run_commands() {
    check("nano x", &["text ! : \r\x0f\r\x18"], &[]);
    check("nano x", &["\x12\x18"], &["…"]);
    check("nano x", &["\x14"], &["…"]);
    check("emacs x", &["x"], &["…"]);
}

#[test]
fn a_shell_behind_the_foreground_reads_what_the_foreground_leaves() {
    let shell = InputReader {
        is_foreground: false,
        ..listener("bash")
    };
    let listeners = [shell, listener("sleep 5")];
    let to = |takes_one_line| {
        let situation = Situation {
            takes_one_line,
            ..Situation::default()
        };
        ReaderKind::to(Some(&listeners), situation)
    };
    assert_eq!(to(true), ReaderKind::Nobody);
    assert_eq!(to(false).name(), "bash");
}

#[test]
fn one_line_is_distinguished_from_several_and_from_keys() {
    assert!(is_one_line(b"yes\r"));
    assert!(is_one_line(b"y"));
    assert!(is_one_line(b"\r"));
    assert!(!is_one_line(b"a\rb\r"));
    assert!(!is_one_line(b"\x04touch x\r"));
    assert!(!is_one_line(b"\x1atouch x\r"));
}
