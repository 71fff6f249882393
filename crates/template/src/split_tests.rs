use super::*;

#[track_caller]
fn check(line: &str, words: &[&str]) {
    let split = split_line(line).unwrap();
    let shown: Vec<String> = split
        .iter()
        .map(|word| word.replace(WORD_BREAK, "·"))
        .collect();
    assert_eq!(shown, words, "{line}");
}

#[test]
fn words_are_split_as_a_shell_would() {
    check("  a 'b c' \"d e\" f\\ g ", &["a", "b c", "d e", "f g"]);
    check("a '' \"\"", &["a", "", ""]);
    check("a\"b\"'c'", &["abc"]);
    check(r#"a "\$\"\\ \n" '\n'"#, &["a", r#"$"\ \n"#, r"\n"]);
    check("$HOME * > x | y", &["$HOME", "*", ">", "x", "|", "y"]);
    check("a # b {{c}}\nd e#f", &["a", "d", "e#f"]);
}

#[test]
fn templates_stay_whole() {
    check(
        "x --a={{ tool['b c'] }}-{{tool}} '{{ d }} e'",
        &["x", "--a={{ tool['b c'] }}-{{tool}}", "{{ d }} e"],
    );
    check(r#"{{ "}} '" }} b"#, &[r#"{{ "}} '" }}"#, "b"]);
    check("{# a 'b #} c", &["{# a 'b #}", "c"]);
    check(
        "{% raw %}{{ a b }}{% endraw %} c",
        &["{% raw %}{{ a b }}{% endraw %}", "c"],
    );
}

#[test]
fn a_block_is_one_entry_with_breaks() {
    check(
        "x {% if a == \"b c\" %}--p {{ a }} 'd e'{% else %} f{% endif %} y",
        &[
            "x",
            "{% if a == \"b c\" %}--p·{{ a }}·d e{% else %}·f{% endif %}",
            "y",
        ],
    );
    check(
        "{% set a = 1 %} {% for b in c %}{{b}} {% endfor %}",
        &["{% set a = 1 %}", "{% for b in c %}{{b}}·{% endfor %}"],
    );
}

#[test]
fn open_ends_are_reported() {
    for (line, error) in [
        ("x 'a", SplitError::OpenQuote),
        ("x \"a", SplitError::OpenQuote),
        ("x \\", SplitError::OpenQuote),
        ("x {{ a", SplitError::OpenTemplate),
        ("x {% if a %} b", SplitError::OpenTemplate),
        ("x {% raw %} b", SplitError::OpenTemplate),
        ("x \0", SplitError::ZeroByte),
    ] {
        assert_eq!(split_line(line), Err(error), "{line:?}");
    }
}
