use super::*;

#[track_caller]
fn check(line: &str, commands: &[&str]) {
    assert_eq!(simple_commands(line), commands, "{line}");
}

#[test]
fn a_line_is_split_into_simple_commands() {
    check("ls", &["ls"]);
    check("  ls -l  ", &["ls -l"]);
    check("a && b || c; d | e & f", &["a", "b", "c", "d", "e", "f"]);
    check("a\nb\n\n", &["a", "b"]);
    check("a;;b", &["a", "b"]);
}

#[test]
fn quotes_hold_words_together() {
    check(
        "echo 'a; b' \"c && d\" e\\;f",
        &["echo 'a; b' \"c && d\" e\\;f"],
    );
    check("echo 'it'\\''s'; ls", &["echo 'it'\\''s'", "ls"]);
    check("echo \"a \\\" ; b\"; ls", &["echo \"a \\\" ; b\"", "ls"]);
}

#[test]
fn joined_streams_stay_with_their_command_and_other_redirections_are_left_whole() {
    check("make 2>&1 | tail; ls", &["make 2>&1", "tail", "ls"]);
    check("echo one > ~/.bashrc; ls", &["echo one > ~/.bashrc; ls"]);
    check("make >& log", &["make >& log"]);
    check("sort < names", &["sort < names"]);
}

#[test]
fn what_may_hide_something_is_left_whole() {
    for line in [
        "echo $(touch x)",
        "echo `touch x`",
        "echo \"$(touch x)\"",
        "echo \"`touch x`\"",
        "echo $HOME; ls",
        "(cd x; ls)",
        "{ ls; }",
        "ls # comment; rm",
        "cat <<EOF\nrm\nEOF",
        "f() { ls; }",
        "echo 'open",
        "echo \"open",
        "echo open\\",
        "",
    ] {
        check(line, &[line]);
        assert!(!is_simple(line), "{line}");
    }
}

#[test]
fn the_program_and_its_subcommand_are_remembered() {
    for (command, rule) in [
        ("ls", "ls *"),
        ("ls -l", "ls *"),
        ("git status", "git status *"),
        ("git status -s x", "git status *"),
        ("git -C x status", "git *"),
        ("cargo test-all --release", "cargo test-all *"),
        ("cat README.md", "cat *"),
        ("cat 'x y'", "cat *"),
    ] {
        assert_eq!(remembered(command), rule, "{command}");
    }
}
