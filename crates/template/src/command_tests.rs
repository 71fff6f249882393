use serde_json::json;
use windlass_protocol::{Action, Arguments, Parameters};

use super::*;

fn parameters() -> Parameters {
    let mut parameters = Parameters::exactly(
        [
            ("dir", json!({"type": "string"})),
            ("must", json!({"type": "string"})),
            ("files", json!({"type": "array"})),
            ("level", json!({"type": "string", "default": "low"})),
            ("deep", json!({"type": "object"})),
        ],
        &["must"],
    );
    parameters.filled.push("level".to_owned());
    parameters
}

fn with<T>(words: &[&str], shell: bool, then: impl FnOnce(&CommandTemplate<'_>) -> T) -> T {
    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    then(&CommandTemplate {
        program: &words[0],
        args: &words[1..],
        shell,
    })
}

fn faults(words: &[&str], shell: bool) -> Vec<String> {
    let parameters = parameters();
    let known = KnownNames {
        parameters: Some(&parameters),
        options: &Arguments::new(),
    };
    let faults = with(words, shell, |command| command.check(&known));
    faults.iter().map(ToString::to_string).collect()
}

fn advice(words: &[&str], shell: bool) -> Vec<TemplateAdvice> {
    let parameters = parameters();
    let known = KnownNames {
        parameters: Some(&parameters),
        options: &Arguments::new(),
    };
    with(words, shell, |command| command.advice(&known))
}

fn render(
    words: &[&str],
    shell: bool,
    arguments: &serde_json::Value,
) -> Result<Vec<String>, String> {
    let context = Context {
        action: Action::Run,
        root: "/r".into(),
        workspace_id: None,
        conversation_id: None,
        handle_id: None,
    };
    let tool = json!({"name": "it", "arguments": arguments, "answers": {}, "options": {}});
    let words = with(words, shell, |command| command.render(&tool, &context));
    words.map_err(|error| error.to_string())
}

#[track_caller]
fn check(words: &[&str], arguments: &serde_json::Value, expected: &[&str]) {
    assert_eq!(render(words, false, arguments).unwrap(), expected);
}

const DIR: &str = "{{tool.arguments.dir}}";

#[test]
fn an_argument_goes_with_the_value_that_was_not_given() {
    let none = json!({});
    check(
        &["p", "--dir={{tool.arguments.dir}}", "end"],
        &none,
        &["p", "end"],
    );
    check(&["p", DIR, "end"], &none, &["p", "end"]);
    check(&["p", DIR], &json!({"dir": ""}), &["p", ""]);
    check(&["p", DIR], &json!({"dir": null}), &["p"]);
    check(&["p", "{{tool.arguments.dir | upper}}"], &none, &["p"]);
    check(&["p", "{{tool.arguments.dir | raw}}"], &none, &["p"]);
    check(&["p", "{{'a' ~ tool.arguments.dir}}"], &none, &["p"]);
    check(
        &["p", "{{tool.arguments.dir | upper}}"],
        &json!({"dir": null}),
        &["p"],
    );
    check(&["p", "{{tool.arguments.deep.a.b}}"], &none, &["p"]);
    check(
        &[
            "p",
            "{% for f in tool.arguments.files %}{{f}}{% endfor %}/*",
        ],
        &none,
        &["p"],
    );
    for filtered in [
        "{{tool.arguments.files | join(',')}}",
        "{{tool.arguments.files | length}}",
        "{{tool.arguments.files | list}}",
        "{{tool.arguments.files | first}}",
        "{{tool.arguments.dir | string}}",
        "{{tool.arguments.dir[:3]}}",
        "{{'a' | replace('a', tool.arguments.dir)}}",
        "{% if tool.name %}{{tool.arguments.files | join(',')}}{% endif %}",
        "{% if tool.name %}{{tool.arguments.files | sort | list}}{% endif %}",
        "{{tool.arguments.dir == 'a'}}",
        "{{tool.arguments.dir | default(tool.arguments.must)}}",
        "{% set a = tool.arguments.files %}{{a | join(',')}}",
    ] {
        check(&["p", filtered, "end"], &none, &["p", "end"]);
        let line = format!("p {filtered} end");
        assert!(render(&[&line], true, &none).is_err(), "{filtered}");
    }
    check(
        &["p", "{{tool.arguments.files | map('upper') | join(',')}}"],
        &json!({"files": ["a", "b"]}),
        &["p", "A,B"],
    );
    check(
        &["p", "{{tool.arguments.dir | default(tool.arguments.must)}}"],
        &json!({"dir": "x"}),
        &["p", "x"],
    );
    check(
        &[
            "p",
            "{% set a = tool.arguments.dir %}{% if a %}{{a}}{% else %}no{% endif %}",
        ],
        &none,
        &["p", "no"],
    );
    assert_eq!(
        render(&[DIR, "x"], false, &none).unwrap_err(),
        "the tool's command needs `dir`, which was not given"
    );
}

#[test]
fn a_template_may_say_what_a_missing_value_is() {
    let none = json!({});
    check(
        &["p", "{{tool.arguments.dir | default('x y')}}"],
        &none,
        &["p", "x y"],
    );
    check(
        &["p", "{{tool.arguments.dir | default('')}}"],
        &none,
        &["p", ""],
    );
    check(
        &["p", "{{tool.arguments.dir | default}}"],
        &json!({"dir": null}),
        &["p", ""],
    );
    check(&["p", "{{tool.arguments.dir or 'x'}}"], &none, &["p", "x"]);
    check(
        &["p", "{{tool.arguments.deep.a.b | default('x')}}"],
        &none,
        &["p", "x"],
    );
    check(
        &["p", "{{tool.arguments.deep.a.b | default('x')}}"],
        &json!({"deep": null}),
        &["p", "x"],
    );
    check(
        &[
            "p",
            "{% if tool.arguments.deep.a.b %}yes{% else %}no{% endif %}",
        ],
        &none,
        &["p", "no"],
    );
    check(
        &[
            "p",
            "{% if tool.arguments.dir is defined %}yes{% else %}no{% endif %}",
        ],
        &none,
        &["p", "no"],
    );
    check(
        &["p", "{{tool.arguments.dir if tool.arguments.dir}}"],
        &none,
        &["p"],
    );
}

#[test]
fn a_block_gives_as_many_words_as_it_has() {
    let line = "p {% if tool.arguments.dir %}--dir {{tool.arguments.dir}}{% endif %} \
                {% for f in tool.arguments.files | default([]) %}{{ f }} {% endfor %} end";
    let words = crate::split_line(line).unwrap();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    check(&words, &json!({}), &["p", "end"]);
    let given = json!({"dir": "a b", "files": ["c d", "", "e"]});
    check(
        &words,
        &given,
        &["p", "--dir", "a b", "c d", "", "e", "end"],
    );
    let one = "{% if tool.arguments.dir %}--dir={{tool.arguments.dir}}{% endif %}";
    check(&["p", one], &json!({}), &["p"]);
    check(&["p", one], &json!({"dir": "-x"}), &["p", "--dir=-x"]);
}

#[test]
fn a_shell_line_is_refused_for_a_value_that_was_not_given() {
    let line = "rm -rf {{tool.arguments.dir}}/*";
    let error = render(&[line], true, &json!({})).unwrap_err();
    assert_eq!(error, "the tool's command needs `dir`, which was not given");
    assert!(render(&[line], true, &json!({"dir": null})).is_err());
    let each = "rm -rf {% for f in tool.arguments.files %}{{f}}{% endfor %}/*";
    assert!(render(&[each], true, &json!({})).is_err());
    let words = render(
        &["ls {{tool.arguments.dir | default('.')}}"],
        true,
        &json!({}),
    );
    assert_eq!(words.unwrap(), ["ls ."]);
    let guarded = "ls{% if tool.arguments.dir %} {{tool.arguments.dir}}{% endif %}";
    assert_eq!(render(&[guarded], true, &json!({})).unwrap(), ["ls"]);
}

#[test]
fn under_a_shell_every_value_is_one_word_unless_it_is_raw() {
    let hostile = "'; touch x; $(touch x) `x` \" \\ \n#";
    let given = json!({"dir": hostile, "files": [hostile, "b"], "deep": {"a": hostile}});
    for (template, expected) in [
        ("{{tool.arguments.dir}}", vec![hostile.to_owned()]),
        ("a{{tool.arguments.dir}}b", vec![format!("a{hostile}b")]),
        ("{{tool.arguments.dir | safe}}", vec![hostile.to_owned()]),
        (
            "{{tool.arguments.dir | upper}}",
            vec![hostile.to_uppercase()],
        ),
        ("{{tool.arguments.files}}", vec![given["files"].to_string()]),
        ("{{tool.arguments.deep}}", vec![given["deep"].to_string()]),
        (
            "{% for f in tool.arguments.files %}{{f}} {% endfor %}",
            vec![hostile.to_owned(), "b".to_owned()],
        ),
        (
            "{% set a %}{{tool.arguments.files[1]}}{% endset %}{{a}}",
            vec!["b".to_owned()],
        ),
        (
            "{{(tool.arguments.dir | raw) ~ ''}}",
            vec![hostile.to_owned()],
        ),
    ] {
        let words = render(&[template], true, &given).unwrap();
        assert_eq!(shlex::split(&words[0]).unwrap(), expected, "{template}");
    }
    let words = render(
        &["ls {{tool.arguments.dir | raw}}"],
        true,
        &json!({"dir": "a $b"}),
    );
    assert_eq!(words.unwrap(), ["ls a $b"]);
}

#[test]
fn a_value_with_a_zero_byte_is_refused() {
    // The marks of a block's words and of an empty value begin with one too.
    for value in ["a\0c", "a\0b", "a\0e", "\0b", "\0e", "\0"] {
        for shell in [false, true] {
            for template in [
                DIR,
                "{% set x %}{{tool.arguments.dir}}{% endset %}{{x}}",
                "{% if tool.arguments.dir %}-d {{tool.arguments.dir}}{% endif %}",
                "{{tool.arguments | items | first | last}}",
            ] {
                let error = render(&["p", template], shell, &json!({"dir": value})).unwrap_err();
                assert!(error.contains("NUL byte"), "{value:?} {template}: {error}");
            }
        }
    }
    let words = render(&["p", "{{tool.arguments}}"], false, &json!({"dir": "a\0b"}));
    assert_eq!(words.unwrap(), ["p", r#"{"dir":"a\u0000b"}"#]);
}

#[test]
fn a_template_in_quotes_of_a_shell_line_is_a_fault() {
    assert_eq!(
        faults(&["echo '{{tool.arguments.dir}}'"], true),
        [
            "has the template `{{tool.arguments.dir}}` inside single quotes; values are quoted \
             automatically, so write it outside the quotes"
        ]
    );
    for line in [
        "echo \"a {{tool.arguments.dir}}\"",
        "echo # {{tool.arguments.dir}}",
        "cat <<END\n{{tool.arguments.dir}}\nEND",
        "echo `ls {{tool.arguments.dir}}`",
        "{% for f in tool.arguments.files %}'{{f}}'{% endfor %}",
        "{% if tool.arguments.dir %}echo '{% endif %}{{tool.arguments.must}}",
        "{% for f in tool.arguments.files %}'{% endfor %}",
        "'{{tool.arguments.dir | default('x')}}'",
        "'{{tool.arguments.dir | upper}}'",
        "'{{(tool.arguments.dir | raw) ~ 'x'}}'",
    ] {
        assert_ne!(faults(&[line], true), [""; 0], "{line}");
        assert_eq!(faults(&[line], false), [""; 0], "{line}");
    }
    for line in [
        "echo $(ls {{tool.arguments.dir}}) \"$(ls {{tool.arguments.dir}})\"",
        "echo '{{tool.arguments.dir | raw}}'",
        "echo {% if tool.arguments.dir %}'a'{% else %}\"b\"{% endif %} {{tool.arguments.must}}",
        "{% raw %}'{{x}}'{% endraw %}",
    ] {
        assert_eq!(faults(&[line], true), [""; 0], "{line}");
    }
    assert_ne!(faults(&["echo", "'a", DIR, "b'"], true), [""; 0]);
}

#[test]
fn unknown_filters_tests_functions_and_methods_are_faults() {
    for (template, expected) in [
        (
            "{{tool | uper}}",
            "uses the filter `uper`, which is unknown; did you mean `upper`?",
        ),
        (
            "{% if tool is defind %}{% endif %}",
            "uses the test `defind`, which is unknown; did you mean `defined`?",
        ),
        (
            "{{env('HOME')}}",
            "uses the function `env`, which is unknown; use a filter, such as `{{ x | join(',') }}`",
        ),
        (
            "{{tool.arguments.dir.upper()}}",
            "uses the method `tool.arguments.dir.upper()`, which is unknown; write it as a filter, `| upper`, if there is one",
        ),
    ] {
        assert_eq!(faults(&["p", template], false), [expected], "{template}");
    }
    assert_ne!(faults(&["p", "{{ tool"], false), [""; 0]);
    assert_ne!(faults(&["p", "{% include 'x' %}"], false), [""; 0]);
}

#[test]
fn an_author_is_warned_of_words_that_a_missing_value_leaves() {
    let flag = TemplateAdvice::LonelyFlag {
        flag: "--dir".to_owned(),
        name: "tool.arguments.dir".to_owned(),
    };
    assert_eq!(advice(&["p", "--dir", DIR], false), [flag]);
    for words in [
        ["p", "--dir", "{{tool.arguments.must}}"],
        ["p", "--dir", "{{tool.arguments.level}}"],
        ["p", "--dir", "{{tool.arguments.dir | default('')}}"],
        ["p", "--", DIR],
        ["p", "dir", DIR],
        ["p", "-v=1", DIR],
    ] {
        assert_eq!(advice(&words, false), [], "{words:?}");
    }
    let moves_up = TemplateAdvice::MovesUp {
        name: "tool.arguments.dir".to_owned(),
        next: "tool.arguments.must".to_owned(),
    };
    let must = "{{tool.arguments.must}}";
    assert_eq!(advice(&["cp", "-r", "--", DIR, must], false), [moves_up]);
    let with_default = "{{tool.arguments.dir | default('')}}";
    for words in [
        ["cp", with_default, must],
        ["cp", must, DIR],
        ["cp", DIR, "--to={{tool.arguments.must}}"],
    ] {
        assert_eq!(advice(&words, false), [], "{words:?}");
    }
    let shell = advice(&["ls {{tool.arguments.dir}}"], true);
    assert!(matches!(&shell[..], [TemplateAdvice::NeededByShell { .. }]));
    assert_eq!(advice(&["ls {{tool.arguments.deep.a}}"], true).len(), 1);
    let guarded = "ls{% if tool.arguments.dir %} {{tool.arguments.dir}}{% endif %}";
    assert_eq!(advice(&[guarded], true), []);
}

#[test]
fn the_context_is_used_where_a_template_names_it() {
    let uses = |program: &str| {
        let command = CommandTemplate {
            program,
            args: &[],
            shell: false,
        };
        command.uses_context()
    };
    assert!(uses("p-{{ context.action }}"));
    assert!(!uses("context-{{ tool.name }}"));
}
