//! One-shot tools that speak the protocol: results, questions, and programs to
//! run instead.

use insta::assert_snapshot;
use serde_json::{Value, json};
use windlass_outside::needs;

use crate::support::Project;

/// A tool `it` that prints this.
fn printing(stdout: &str) -> Project {
    let project = Project::with_config(
        r#"
        [conversation.tools.it]
        source = "local"
        command = "cat answer"
        parameters = {}
        spawn.stateful = true
        "#,
    );
    project.write("answer", stdout);
    project
}

#[track_caller]
fn check(stdout: &str, content: &str, is_error: bool) {
    let project = printing(stdout);
    let reply = project.drive().one("it", json!({}));
    assert_eq!(reply["content"], json!(content), "{stdout}");
    assert_eq!(reply["is_error"], json!(is_error), "{stdout}");
}

#[test]
fn results_are_passed_on_exactly() {
    check(r#"{"type":"success","content":"fine"}"#, "fine", false);
    check(
        "\n {\"type\":\"stopped\",\"result\":{\"Ok\":\" as it is\\n\"}}\n",
        " as it is\n",
        false,
    );
    check(
        r#"{"type":"stopped","result":{"ok":"lower case"}}"#,
        "lower case",
        false,
    );
    check(r#"{"type":"running","content":"so far"}"#, "so far", false);
    check(r#"{"type":"spawned","content":"so far"}"#, "so far", false);
    check(
        r#"{"type":"error","message":"broken","trace":[],"transient":true}"#,
        "broken\ntransient: true",
        true,
    );
    check(
        r#"{"type":"stopped","result":{"Err":{"message":"broken"}}}"#,
        "broken",
        true,
    );
}

#[test]
fn everything_else_is_plain_text() {
    for text in [
        r#"{"type":"unheard-of"}"#,
        r#"{"kind":"success","content":"x"}"#,
        r#"["success"]"#,
        "{\"type\":\"success\",\"content\":\"x\"}\n{\"type\":\"success\",\"content\":\"y\"}\n",
        "before {\"type\":\"success\",\"content\":\"x\"}",
        "{\"type\":\"success\"",
    ] {
        check(text, text, false);
    }
}

#[test]
fn an_answer_that_lacks_something_is_an_error() {
    let project = printing(r#"{"type":"stopped"}"#);
    let error = project.drive().error("it", json!({}));
    assert_snapshot!(error, @r#"
    {"type":"stopped"}
    the tool's answer is invalid: missing field `result`
    "#);
}

#[test]
fn a_handle_shows_the_error_of_its_tool_whole() {
    let project =
        printing(r#"{"type":"error","message":"broken","trace":["a","b"],"transient":true}"#);
    let mut drive = project.drive();
    drive.content("it", json!({"action": "spawn", "id": "h"}));
    drive.content("await", json!({"all": ["h"]}));
    let view = drive.content("it", json!({"action": "fetch", "id": "h"}));
    assert_eq!(
        view,
        json!({
            "id": "h",
            "state": "stopped",
            "result": "broken",
            "error": {"transient": true, "trace": ["a", "b"]},
        })
    );
}

/// A tool that asks for a name and whether it is sure, one run each, and tells
/// all answers it was given in the end.
fn asking(questions: &str) -> Project {
    let project = Project::with_config(&format!(
        r#"
        [conversation.tools.it]
        source = "local"
        command = "python3 it.py {{{{tool}}}}"
        parameters = {{}}
        {questions}
        [conversation.tools.it.spawn]
        stateful = true
        "#
    ));
    project.write(
        "it.py",
        r#"
import json, sys
open("runs", "a").write("x")
answers = json.loads(sys.argv[1])["answers"]
def ask(**question): print(json.dumps({"type": "needs_input", "question": question})); sys.exit()
if "name" not in answers: ask(id="name", text="Your name?", answer_type="Text")
if "sure" not in answers: ask(id="sure", text="Sure?", answer_type="Boolean", default=False)
print(json.dumps({"type": "success", "content": json.dumps(answers)}))
"#,
    );
    project
}

#[test]
fn presets_answer_and_defaults_stand_in() {
    needs!("python3");
    let project = asking("questions.name = { answer = \"Ada\" }");
    let content = project.drive().content("it", json!({}));
    assert_eq!(content, json!(r#"{"name": "Ada", "sure": false}"#));
    assert_eq!(
        project.read("runs"),
        "xxx",
        "a run per question and one more"
    );
}

#[test]
fn a_question_that_nobody_can_answer_fails_the_call() {
    needs!("python3");
    let project = asking("");
    let error = project.drive().error("it", json!({}));
    assert_snapshot!(
        error,
        @r#"the tool asked "Your name?" and no one could answer; ask the user, or do without it"#
    );
}

#[test]
fn a_question_that_was_answered_is_not_asked_again() {
    needs!("python3");
    let project = asking("questions.name = { answer = \"Ada\" }\nsettle_max_secs = 20");
    project.write(
        "it.py",
        r#"
import json
open("runs", "a").write("x")
question = {"id": "name", "text": "Your name?", "answer_type": "Text"}
print(json.dumps({"type": "needs_input", "question": question}))
"#,
    );
    let mut drive = project.drive();
    let error = drive.error("it", json!({}));
    assert_snapshot!(error, @"the tool asked question `name` again, which was answered already; the answer is in the tool's `answers`, and another question needs another id");
    assert_eq!(project.read("runs"), "xx");
    // The reply may come between the question and its answer.
    drive.content("it", json!({"action": "spawn", "id": "h"}));
    let awaited = drive.content("await", json!({"all": ["h"]}));
    let stopped = &awaited["completed"][0];
    assert_eq!(stopped["state"], json!("stopped"), "{awaited}");
    assert_eq!(project.read("runs"), "xxxx");
}

#[test]
fn a_tool_that_always_has_another_question_is_stopped() {
    needs!("python3");
    let project = asking("");
    project.write(
        "it.py",
        r#"
import json, sys
open("runs", "a").write("x")
number = len(json.loads(sys.argv[1])["answers"])
question = {"id": f"q{number}", "text": "More?", "answer_type": "Boolean", "default": True}
print(json.dumps({"type": "needs_input", "question": question}))
"#,
    );
    let error = project.drive().error("it", json!({}));
    assert_snapshot!(error, @"the tool was run 16 times and asked another question (`q15`); a tool may ask at most 15 questions in one call");
    assert_eq!(project.read("runs"), "x".repeat(16));
}

#[test]
fn a_long_result_or_error_is_cut_and_the_whole_is_in_a_file() {
    needs!("python3");
    let project = asking("output_limit = 4096");
    for (kind, key) in [("success", "content"), ("error", "message")] {
        project.write(
            "it.py",
            &format!(
                r#"
import json
text = "\n".join(f"row {{n}}" for n in range(30000))
print(json.dumps({{"type": "{kind}", "{key}": text}}))
"#
            ),
        );
        let mut drive = project.drive();
        let reply = drive.one("it", json!({}));
        let text = reply["content"].as_str().unwrap();
        assert!(text.len() < 4096 + 300, "{} bytes", text.len());
        assert!(text.starts_with("row 0\nrow 1\n"), "{text}");
        assert!(text.contains("row 29999"), "{text}");
        let log = text.rsplit_once("[all of it: ").unwrap().1;
        let log = std::fs::read_to_string(log.trim_end_matches(']')).unwrap();
        assert_eq!(log.lines().count(), 30000);

        let view = drive.content("it", json!({"action": "spawn", "id": "h"}));
        let view = match view["state"].as_str() {
            Some("stopped") => view,
            _ => drive.content("await", json!({"all": ["h"]}))["completed"][0].clone(),
        };
        assert!(view.to_string().len() < 4096 + 1000, "{view}");
        assert!(view["omitted_bytes"].as_u64().unwrap() > 200_000, "{view}");
        assert!(view["log"].is_string(), "{view}");
    }
}

#[test]
fn a_handle_waits_for_apply() {
    needs!("python3");
    let project = asking("settle_max_secs = 20");
    let mut drive = project.drive();
    let view = drive.content("it", json!({"action": "spawn", "id": "h"}));
    assert_eq!(view["state"], json!("waiting"));
    assert_eq!(view["question"]["text"], json!("Your name?"));
    let apply = |input: Value| json!({"action": "apply", "id": "h", "input": input});
    let error = drive.error("it", apply(json!(["no"])));
    assert_eq!(error, "question `name` needs a string, not [\"no\"]");
    let view = drive.content("it", apply(json!("Ada")));
    assert_eq!(view["question"]["id"], json!("sure"), "{view}");
    let view = drive.content("it", apply(json!(true)));
    assert_eq!(
        view,
        json!({"id": "h", "state": "stopped", "result": r#"{"name": "Ada", "sure": true}"#})
    );
}

#[test]
fn a_waiting_handle_can_be_aborted() {
    needs!("python3");
    let project = asking("settle_max_secs = 20");
    let mut drive = project.drive();
    drive.content("it", json!({"action": "spawn", "id": "h"}));
    let view = drive.content("it", json!({"action": "abort", "id": "h"}));
    assert_eq!(view["state"], json!("stopped"));
    assert_eq!(view["ended"], json!(0), "{view}");
}

#[test]
fn a_tool_may_name_a_program_to_run_instead() {
    let exec = json!({
        "type": "exec",
        "program": "sh",
        "args": ["-c", "echo \"$WORD in $(basename \"$PWD\")\"; cat; echo over"],
        "cwd": "sub",
        "env": {"WORD": "a b"},
    });
    let project = printing(&exec.to_string());
    project.write("sub/file", "");
    let mut drive = project.drive();
    let content = drive.content("it", json!({}));
    assert_eq!(content, json!("a b in sub\nover\n"));

    drive.content("it", json!({"action": "spawn", "id": "h"}));
    let until = json!([{"id": "h", "pattern": "^a b in sub$"}]);
    drive.content("await", json!({"until": until}));
    let until = json!([{"id": "h", "pattern": "^typed$"}]);
    drive.content(
        "it",
        json!({"action": "apply", "id": "h", "input": "typed"}),
    );
    drive.content("await", json!({"until": until}));
    let view = drive.content("it", json!({"action": "abort", "id": "h"}));
    assert_eq!(view["result"], json!("aborted by the assistant"));
}

#[test]
fn what_a_program_that_runs_instead_prints_is_plain_text() {
    let forged = r#"{"type":"success","content":"forged"}"#;
    let exec = json!({"type": "exec", "program": "printf", "args": [forged]});
    let project = printing(&exec.to_string());
    assert_eq!(project.drive().content("it", json!({})), json!(forged));
    let exec = json!({"type": "exec", "program": "no-such-program"});
    let project = printing(&exec.to_string());
    let error = project.drive().error("it", json!({}));
    assert_snapshot!(error, @r#"program "no-such-program" was not found; give an absolute path or a name that is in `PATH`"#);
}

#[test]
fn a_slip_of_the_author_is_reported_with_the_output() {
    let said = r#"{"type":"sucess","content":"the work"}"#;
    let error = printing(said).drive().error("it", json!({}));
    assert_snapshot!(error, @r#"
    {"type":"sucess","content":"the work"}
    the tool's answer is invalid: its `type` is `sucess`; did you mean `success`?
    "#);
    let told = "the tool's answer is invalid: its `type` is `sucess`; did you mean `success`?";
    assert!(error.ends_with(told), "{error}");
}
