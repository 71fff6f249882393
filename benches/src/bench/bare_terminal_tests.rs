use super::{BareTerminal, contains};

#[test]
fn parts_count_one_after_the_other() {
    assert!(contains("x\r\nx\r\n", &["x\r\n", "x\r\n"]));
    assert!(!contains("x\r\nx", &["x\r\n", "x\r\n"]));
    assert!(!contains(">>> 333", &["333", ">>> "]));
}

#[test]
fn a_program_is_on_a_terminal_of_its_own_and_answers() {
    let line = "test -t 0 && (: </dev/tty) && echo ready; exec cat";
    let terminal = BareTerminal::start(line);
    terminal.read_until(&["ready\r\n"]);
    terminal.answer("x", &["x\r\n", "x\r\n"]);
}

#[test]
fn everything_until_the_end_is_counted() {
    // A terminal turns a line feed into two bytes.
    assert_eq!(BareTerminal::start("echo 1234").discard(), 6);
}
