use insta::assert_snapshot;
use serde_json::json;

use super::*;
use crate::{AnswerType, HandleId, PermissionId, Question, SessionId};

fn request(arguments: Value, patterns: &[&str], always: &[&str]) -> PermissionRequest {
    let tool = ("tool".to_owned(), json!("shell"));
    let metadata = [tool, ("arguments".to_owned(), arguments)];
    PermissionRequest {
        id: PermissionId::from_suffix("1"),
        session_id: SessionId::from_suffix("1"),
        permission: "shell".to_owned(),
        patterns: patterns.iter().map(|&it| it.to_owned()).collect(),
        metadata: metadata.into_iter().collect(),
        always: always.iter().map(|&it| it.to_owned()).collect(),
        tool: None,
    }
}

fn check(arguments: Value, patterns: &[&str], always: &[&str]) -> String {
    RequestRendering::of_permission(&request(arguments, patterns, always)).to_text()
}

fn command(text: &str) -> Vec<String> {
    RequestRendering::of_permission(&request(json!({"command": text}), &[], &[])).body
}

fn ask(text: &str, pre_amble: Option<&str>, handle: Option<&str>) -> String {
    RequestRendering::of_question(&question(text, pre_amble, handle)).to_text()
}

fn question(text: &str, pre_amble: Option<&str>, handle: Option<&str>) -> Ask {
    Ask {
        ask: "q_1".to_owned(),
        call: None,
        handle: handle.map(|id| HandleId::new(id).unwrap()),
        tool: "git".to_owned(),
        question: Question {
            id: "q".to_owned(),
            text: text.to_owned(),
            pre_amble: pre_amble.map(str::to_owned),
            answer_type: AnswerType::Boolean,
            default: None,
            secret: false,
        },
        content: None,
        form: None,
        rendering: None,
    }
}

#[test]
fn a_command_is_shown_exactly_with_its_operators() {
    let arguments = json!({
        "action": "spawn", "command": "cd x && make || echo no | tee log; true &",
        "cwd": "sub", "env": {"A": "1", "B": "two words"}, "terminal": true, "rows": 24,
    });
    let patterns = ["cd x", "make", "echo no", "tee log", "true"];
    assert_snapshot!(check(arguments, &patterns, &["make *", "tee *"]), @"
    Run `shell`?
      cd x && make || echo no | tee log; true &
    cwd: sub
    env:
      A=1
      B=two words
    terminal: yes
    rows: 24
    always would remember:
      make *
      tee *
    ");
}

#[test]
fn a_command_with_words_beside_it_is_shown_with_them() {
    let arguments = json!({"command": "push", "args": ["--force", "a b"]});
    assert_snapshot!(check(arguments, &["push --force a b"], &["push *"]), @r#"
    Run `shell`?
      push --force a b
    command: push
    args: ["--force","a b"]
    always would remember: push *
    "#);
}

#[test]
fn a_tool_that_is_known_by_its_arguments_shows_them_once() {
    let arguments = json!({"path": "x"});
    assert_eq!(
        check(arguments, &[r#"{"path":"x"}"#], &["*"]),
        "Run `shell`?\n  {\"path\":\"x\"}\nalways would remember: *"
    );
}

#[test]
fn the_tools_own_words_the_agent_the_host_and_the_sandbox_are_shown() {
    let mut request = request(json!({"command": "ls"}), &["ls"], &[]);
    for (key, value) in [
        ("display", "list\nthe folder"),
        ("agent", "helper"),
        ("host", "build.example"),
        ("sandbox", "no network"),
    ] {
        request.metadata.insert(key.to_owned(), json!(value));
    }
    assert_snapshot!(RequestRendering::of_permission(&request).to_text(), @"
    Agent `helper` wants to run `shell`. Run it?
      list
      the folder
      ls
    on host: build.example
    in sandbox: no network
    ");
}

#[test]
fn what_cannot_be_seen_is_made_visible() {
    let hidden = [
        "\u{1b}",
        "\r",
        "\u{7}",
        "\u{0}",
        "\u{7f}",
        "\u{9b}",
        "\u{202a}",
        "\u{202b}",
        "\u{202c}",
        "\u{202d}",
        "\u{202e}",
        "\u{2066}",
        "\u{2067}",
        "\u{2068}",
        "\u{2069}",
        "\u{200e}",
        "\u{200f}",
        "\u{61c}",
        "\u{200b}",
        "\u{200c}",
        "\u{200d}",
        "\u{2060}",
        "\u{feff}",
        "\u{ad}",
        "\u{a0}",
        "\u{3000}",
        "\u{2028}",
        "\u{2029}",
        "\u{85}",
        "\u{2800}",
        "\u{3164}",
        "\u{fe0f}",
        "\u{e0041}",
        "\u{180e}",
    ];
    for letter in hidden {
        let code = u32::from(letter.chars().next().unwrap());
        let shown = command(&format!("a{letter}b"));
        assert_eq!(shown, [format!("a\\u{{{code:x}}}b")], "{code:x}");
    }
}

#[test]
fn ordinary_text_of_any_script_stays_unchanged() {
    for text in [
        "größe",
        "日本語",
        "עברית",
        "العربية",
        "a\\nb",
        "🦀",
        "e\u{301}",
        "µ → ∞",
    ] {
        assert_eq!(command(text), [text]);
    }
    assert_eq!(command("a\tb"), ["a    b"]);
}

#[test]
fn the_lines_of_a_command_stay_lines() {
    assert_eq!(
        command("for x in *\ndo\n\n  y\r\ndone\n"),
        ["for x in *", "do", "", "  y", "done"]
    );
}

#[test]
fn nothing_in_a_request_passes_for_another_field_of_it() {
    let arguments = json!({
        "command": "evil\ncwd: /safe\nalways would remember: ls",
        "cwd": "/tmp\nenv: none",
        "env": {"A\nterminal": "x\nhost: here"},
        "note\ncwd": "forged\nRun `ls`?",
    });
    let shown = check(arguments, &[], &["evil\nalways would remember: ls"]);
    let starts: Vec<&str> = shown
        .lines()
        .filter(|line| !line.starts_with(' '))
        .collect();
    assert_eq!(
        starts,
        [
            "Run `shell`?",
            "cwd:",
            "env: A\\nterminal=x\\nhost: here",
            "note\\ncwd:",
            "always would remember: evil\\nalways would remember: ls",
        ]
    );
}

#[test]
fn a_tools_name_and_an_agents_name_stay_on_the_titles_line() {
    let mut request = request(json!({}), &["x"], &[]);
    request.permission = "a\n  ls\u{202e}".to_owned();
    request
        .metadata
        .insert("agent".to_owned(), json!("b\u{1b}[2J\nc"));
    assert_snapshot!(
        RequestRendering::of_permission(&request).title,
        @r"Agent `b\u{1b}[2J\nc` wants to run `a\n  ls\u{202e}`. Run it?"
    );
}

#[test]
fn blank_lines_push_nothing_out_of_the_window() {
    let text = format!("ls\n{}rm -rf x", "  \n".repeat(500));
    assert_eq!(command(&text), ["ls", "[500 blank lines]", "rm -rf x"]);
    let text = format!("ls\n{}", "\n".repeat(500));
    assert_eq!(command(&text), ["ls", "[500 blank lines]"]);
}

#[test]
fn spaces_push_nothing_out_of_the_window() {
    let text = format!("ls{}; rm -rf x", " ".repeat(300));
    assert_eq!(command(&text), ["ls[300 spaces]; rm -rf x"]);
    let text = format!("ls{}; rm -rf x", "\t".repeat(300));
    assert_eq!(command(&text), ["ls[1200 spaces]; rm -rf x"]);
    assert_eq!(command("a      b"), ["a      b"]);
}

#[test]
fn a_long_line_is_cut_and_says_by_how_much() {
    let text = format!("begin{}end", "x".repeat(10_000));
    let shown = command(&text).remove(0);
    assert!(
        shown.starts_with("beginx") && shown.ends_with("xend"),
        "{shown}"
    );
    assert!(shown.contains("x[9408 characters cut]x"), "{shown}");
}

#[test]
fn many_lines_are_cut_and_say_how_many() {
    let text: Vec<String> = (1..=1000).map(|number| format!("line {number}")).collect();
    let shown = command(&text.join("\n"));
    assert_eq!(shown.len(), LINES);
    assert_eq!(shown[12], "line 13");
    assert_eq!(shown[13], "[981 lines of 7762 characters cut]");
    assert_eq!(shown[14], "line 995");
    assert_eq!(shown[19], "line 1000");
}

#[test]
fn many_arguments_variables_and_patterns_are_cut_and_say_how_many() {
    let many = |count: usize| -> Arguments {
        (0..count)
            .map(|number| (format!("n{number}"), json!("x")))
            .collect()
    };
    let mut arguments = many(50);
    arguments.insert("env".to_owned(), Value::Object(many(40)));
    let always: Vec<String> = (0..33).map(|number| format!("a{number}")).collect();
    let always: Vec<&str> = always.iter().map(String::as_str).collect();
    let request = request(Value::Object(arguments), &["x"], &always);
    let shown = RequestRendering::of_permission(&request);
    assert_eq!(shown.fields.last().unwrap().lines, ["[21 arguments cut]"]);
    assert_eq!(shown.fields[0].lines.last().unwrap(), "[10 more cut]");
    assert_eq!(shown.always.last().unwrap(), "[3 more cut]");
}

#[test]
fn a_question_is_shown_by_the_same_rules() {
    assert_eq!(ask("Really?", None, None), "git asks: Really?");
    assert_snapshot!(
        ask(
            "Sure\u{202e}?\nyes",
            Some("first\n\n\n\u{1b}[2Jsecond"),
            Some("h")
        ),
        @r"
    git (h) asks:
      first
      [2 blank lines]
      \u{1b}[2Jsecond
      Sure\u{202e}?
      yes
    "
    );
}

#[test]
fn a_question_is_shown_with_all_of_what_it_is_about() {
    let hunk: Vec<String> = (1..=100).map(|line| format!("+line {line}")).collect();
    let mut asked = question("Stage it?", Some("2 of 3"), Some("h"));
    asked.content = Some(hunk.join("\n"));
    let shown = RequestRendering::of_question(&asked);
    assert_eq!(shown.lead[..100], hunk);
    assert_eq!(shown.lead[100..], ["2 of 3"]);
    asked.content = Some("+\u{202e}x\n".repeat(1000));
    let shown = RequestRendering::of_question(&asked);
    assert_eq!(shown.lead[0], "+\\u{202e}x");
    assert_eq!(shown.lead.len(), 201);
}

#[test]
fn a_request_without_anything_is_shown() {
    assert_eq!(check(json!(null), &[], &[]), "Run `shell`?");
}

#[test]
fn a_spawn_shows_its_handle_and_how_long_it_is_kept() {
    let mut request = request(json!({"command": "make"}), &["make"], &[]);
    let more = [
        ("action", json!("spawn")),
        ("handle", json!("build")),
        ("keep_secs", json!(7200)),
    ];
    for (key, value) in more {
        request.metadata.insert(key.to_owned(), value);
    }
    assert_snapshot!(RequestRendering::of_permission(&request).to_text(), @"
    Run `shell`?
      make
    as handle: build
    kept: it outlives this runtime by up to 2 h
    ");
    request.metadata.insert("keep_secs".to_owned(), json!(90));
    let shown = RequestRendering::of_permission(&request).to_text();
    assert!(shown.ends_with("up to 90 s"), "{shown}");
    // A call on a handle says so in its title.
    request.metadata.insert("action".to_owned(), json!("apply"));
    request.metadata.shift_remove("keep_secs");
    assert_eq!(
        RequestRendering::of_permission(&request).to_text(),
        "Run `shell` on handle `build`?\n  make"
    );
}
