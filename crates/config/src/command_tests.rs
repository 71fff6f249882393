use super::*;

fn check(line: &str, words: &[&str]) {
    let command = CommandConfig::split(line).unwrap();
    let mut got = vec![command.program.as_str()];
    got.extend(command.args.iter().map(String::as_str));
    assert_eq!(got, words, "{line}");
    assert!(!command.shell);
}

#[test]
fn words_are_split_as_a_shell_would() {
    check("ls -la", &["ls", "-la"]);
    check(
        "  grep 'a b' \"c d\" e\\ f ",
        &["grep", "a b", "c d", "e f"],
    );
    check("echo $HOME * > out", &["echo", "$HOME", "*", ">", "out"]);
    check("printf ''", &["printf", ""]);
}

#[test]
fn templates_stay_together() {
    check(
        "my-tools {{context}} {{tool}}",
        &["my-tools", "{{context}}", "{{tool}}"],
    );
    check("x {{ tool.name }}", &["x", "{{ tool.name }}"]);
    check(
        "x --a={{ tool['b c'] }}-{{tool}} '{{ d }} e'",
        &["x", "--a={{ tool['b c'] }}-{{tool}}", "{{ d }} e"],
    );
}

#[test]
fn a_comment_takes_only_its_own_templates() {
    check("x # {{a}}\n {{b}}", &["x", "{{b}}"]);
}

#[test]
fn what_cannot_be_split_says_why() {
    for (line, error) in [
        ("", CommandError::Empty),
        ("   ", CommandError::Empty),
        ("''", CommandError::Empty),
        ("x 'a", CommandError::OpenQuote),
        ("x {{tool", CommandError::OpenTemplate),
        ("x\0y", CommandError::ZeroByte),
    ] {
        assert_eq!(CommandConfig::split(line), Err(error), "{line:?}");
    }
}

#[test]
fn a_template_is_found_in_any_word() {
    let has = |line| CommandConfig::split(line).unwrap().has_template();
    assert!(has("x {{tool}}"));
    assert!(has("{{tool.arguments.program}} x"));
    assert!(!has("my-tool-binary"));
}
