//! Tools with `io = "state"`: a JSON value per line, both ways.

use insta::assert_snapshot;
use serde_json::{Value, json};
use windlass_outside::needs;

use crate::support::{Drive, Project, call};

/// A tool that runs this Python; `say` prints a line, `hear` reads one.
fn project(body: &str) -> Project {
    let project = Project::with_config(
        r#"
        [conversation.tools.talk]
        source = "local"
        command = "python3 talk.py"
        grace_secs = 20
        settle_max_secs = 20
        parameters = {}
        spawn = { stateful = true, io = "state" }
        "#,
    );
    let helpers = "import json, sys\n\
        def say(**state): print(json.dumps(state), flush=True)\n\
        def hear(): return json.loads(sys.stdin.readline())\n";
    project.write("talk.py", &format!("{helpers}{body}"));
    project
}

#[track_caller]
fn talk(drive: &mut Drive, action: &str) -> Value {
    drive.content("talk", json!({"action": action, "id": "it"}))
}

#[track_caller]
fn apply(drive: &mut Drive, input: Value) -> Value {
    drive.content(
        "talk",
        json!({"action": "apply", "id": "it", "input": input}),
    )
}

#[test]
fn contents_questions_and_a_result() {
    needs!("python3");
    let project = project(
        r#"
say(type="running", content="one")
say(type="running", content="two")
heard = hear()
assert heard == {"type": "apply", "input": {"any": ["json"]}}, heard
say(type="waiting", content="almost", question={"id": "sure", "text": "Sure?", "answer_type": "Boolean"})
heard = hear()
assert heard == {"type": "answer", "question": "sure", "answer": True}, heard
say(type="stopped", result={"Ok": "exactly this \n"})
"#,
    );
    let mut drive = project.drive();
    let view = talk(&mut drive, "spawn");
    assert_eq!(
        view,
        json!({"id": "it", "state": "running", "content": "one\ntwo"})
    );
    let view = apply(&mut drive, json!({"any": ["json"]}));
    let question = json!({"id": "sure", "text": "Sure?", "answer_type": "Boolean"});
    assert_eq!(
        view,
        json!({"id": "it", "state": "waiting", "content": "almost", "question": question})
    );
    let again = talk(&mut drive, "fetch");
    assert_eq!(
        again,
        json!({"id": "it", "state": "waiting", "question": question})
    );
    let error = drive.error(
        "talk",
        json!({"action": "apply", "id": "it", "input": "perhaps"}),
    );
    assert_eq!(
        error,
        "question `sure` needs true or false, not \"perhaps\""
    );
    assert_eq!(
        talk(&mut drive, "fetch")["state"],
        json!("waiting"),
        "the question stays"
    );
    let view = apply(&mut drive, json!("yes"));
    assert_eq!(
        view,
        json!({"id": "it", "state": "stopped", "result": "exactly this \n"})
    );
}

#[test]
fn everything_that_was_said_before_it_settled_is_reported() {
    needs!("python3");
    let project = project(
        r#"
lines = [json.dumps({"type": "running", "content": f"part {number}"}) for number in range(20_000)]
print("\n".join(lines), flush=True)
hear()
"#,
    );
    let mut drive = project.drive();
    let view = talk(&mut drive, "spawn");
    assert!(view.to_string().contains("part 19999"), "{view}");
}

#[test]
fn an_await_does_not_wait_for_what_only_its_caller_can_give() {
    needs!("python3");
    let project = project(
        r#"
say(type="waiting", question={"id": "q", "text": "Which?", "answer_type": {"Select": {"options": ["a", "b"]}}})
say(type="stopped", result={"Ok": hear()["answer"]})
"#,
    );
    let mut drive = project.drive();
    let reply = drive.run([
        call("talk", json!({"action": "spawn", "id": "it"})),
        call("await", json!({"all": ["it"]})),
    ]);
    let awaited = &reply["replies"][1]["content"];
    assert_eq!(awaited["completed"], json!([]));
    assert_eq!(awaited["pending"][0]["state"], json!("waiting"));
    assert_eq!(awaited["pending"][0]["question"]["id"], json!("q"));
    let view = apply(&mut drive, json!("b"));
    assert_eq!(view["result"], json!("b"));
}

#[test]
fn a_bad_result_is_passed_on_whole() {
    needs!("python3");
    let project = project(
        r#"
say(type="running", content="before")
say(type="stopped", result={"err": {"message": "no network", "trace": ["outer", "inner"], "transient": True}})
"#,
    );
    let mut drive = project.drive();
    let spawned = talk(&mut drive, "spawn");
    assert_eq!(
        spawned,
        json!({
            "id": "it",
            "state": "stopped",
            "result": "no network",
            "content": "before",
            "error": {"transient": true, "trace": ["outer", "inner"]},
        })
    );
    let reply = drive.one("talk", json!({}));
    assert_eq!(
        reply["content"],
        json!("before\nno network\ntransient: true\ncaused by: outer\ncaused by: inner")
    );
    assert_eq!(
        reply["error"],
        json!({"transient": true, "trace": ["outer", "inner"]})
    );
    assert_eq!(reply["is_error"], json!(true));
}

#[test]
fn stray_lines_are_content_and_stderr_is_not() {
    needs!("python3");
    let project = project(
        r#"
print("a stray line", flush=True)
print("noise", file=sys.stderr, flush=True)
print('{"type": "unheard-of"}', flush=True)
say(type="running", content="meant")
hear()
"#,
    );
    let mut drive = project.drive();
    let view = talk(&mut drive, "spawn");
    assert_eq!(
        view["content"],
        json!("a stray line\n{\"type\": \"unheard-of\"}\nmeant")
    );
}

#[test]
fn an_exit_without_a_last_state_is_reported_by_its_code() {
    needs!("python3");
    let project = project("say(type=\"running\", content=\"up\")\nsys.exit(\"it broke\")\n");
    let mut drive = project.drive();
    let view = talk(&mut drive, "spawn");
    assert_eq!(
        view,
        json!({
            "id": "it",
            "state": "stopped",
            "result": "exited with code 1: it broke",
            "content": "up",
            "exit_code": 1,
            "error": {"transient": false},
        })
    );
}

#[test]
fn a_clean_exit_without_a_last_state_has_the_contents_as_its_result() {
    needs!("python3");
    let project = project("say(type=\"running\", content=\"all there is\")\n");
    let mut drive = project.drive();
    let view = talk(&mut drive, "spawn");
    assert_eq!(
        view,
        json!({"id": "it", "state": "stopped", "result": "all there is"})
    );
}

#[test]
fn an_abort_is_reported_first() {
    needs!("python3");
    let project = project(
        r#"
say(type="running", content="up")
heard = hear()
say(type="running", content="cleaned up after " + heard["type"])
"#,
    );
    let mut drive = project.drive();
    talk(&mut drive, "spawn");
    let view = talk(&mut drive, "abort");
    assert_eq!(view["state"], json!("stopped"));
    assert_eq!(view["result"], json!("aborted by the assistant"), "{view}");
    assert_eq!(view["content"], json!("cleaned up after abort"), "{view}");
}

#[test]
fn the_last_word_of_an_aborted_tool_is_its_result() {
    needs!("python3");
    let partial = project(
        r#"
say(type="running", content="up")
assert hear() == {"type": "abort"}
say(type="stopped", result={"Ok": "partial: 17 rows"})
"#,
    );
    let mut drive = partial.drive();
    talk(&mut drive, "spawn");
    let view = talk(&mut drive, "abort");
    assert_eq!(view["state"], json!("stopped"));
    assert_eq!(view["result"], json!("partial: 17 rows"), "{view}");
    assert_eq!(view["aborted"], json!("aborted by the assistant"), "{view}");
    assert_eq!(view["error"], json!(null), "{view}");

    let failed = project(
        r#"
say(type="waiting", question={"id": "q", "text": "Go on?", "answer_type": "Boolean"})
assert hear() == {"type": "abort"}
say(type="stopped", result={"Err": {"message": "undone", "trace": ["half way"], "transient": True}})
"#,
    );
    let mut drive = failed.drive();
    talk(&mut drive, "spawn");
    let view = talk(&mut drive, "abort");
    assert_eq!(view["result"], json!("undone"), "{view}");
    assert_eq!(
        view["error"],
        json!({"transient": true, "trace": ["half way"]})
    );
    assert_eq!(view["aborted"], json!("aborted by the assistant"), "{view}");
}

#[test]
fn a_one_shot_that_is_out_of_time_may_still_say_what_it_has() {
    needs!("python3");
    let project = project(
        r#"
assert hear() == {"type": "abort"}
say(type="stopped", result={"Ok": "as far as page 3"})
"#,
    );
    let config = project.read(".windlass/config.toml");
    let config = config.replace("grace_secs = 20", "grace_secs = 20\ntimeout_secs = 0.5");
    project.write(".windlass/config.toml", &config);
    let error = project.drive().error("talk", json!({}));
    assert_eq!(error, "as far as page 3\ntimed out after 0.5 s");
}

#[test]
fn one_that_says_it_has_stopped_is_made_to() {
    needs!("python3");
    let project = Project::with_config(
        r#"
        [conversation.tools.talk]
        source = "local"
        command = "sh talk.sh"
        grace_secs = 0.2
        settle_max_secs = 20
        parameters = {}
        spawn = { stateful = true, io = "state" }
        "#,
    );
    project.write(
        "talk.sh",
        r#"echo '{"type":"stopped","result":{"Ok":"said"}}'; sleep 1000"#,
    );
    let mut drive = project.drive();
    talk(&mut drive, "spawn");
    let awaited = drive.content("await", json!({"all": ["it"]}));
    assert_eq!(
        awaited["completed"],
        json!([{"id": "it", "state": "stopped", "result": "said"}])
    );
}

#[test]
fn a_content_is_passed_on_as_it_came() {
    needs!("python3");
    let odd = "\u{1b}[1mbold\u{1b}[0m\r 10%\r100%\n\n  end \n";
    let project = project(&format!(
        "say(type=\"running\", content={})\nhear()\n",
        json!(odd)
    ));
    let mut drive = project.drive();
    assert_eq!(talk(&mut drive, "spawn")["content"], json!(odd));
}

#[test]
fn the_input_of_a_tool_that_reads_states_can_be_closed() {
    needs!("python3");
    let project = project(
        r#"
say(type="running", content="up")
rest = sys.stdin.read()
say(type="stopped", result={"Ok": "read " + rest})
"#,
    );
    let mut drive = project.drive();
    talk(&mut drive, "spawn");
    let keys = |key: &str| json!({"action": "apply", "id": "it", "keys": [key]});
    let error = drive.error("talk", keys("down"));
    assert_snapshot!(error, @"`down` cannot be sent to a tool that reads JSON lines; ctrl-c, ctrl-d and eof can");
    drive.content("talk", keys("eof"));
    let ended = drive.content("await", json!({"all": ["it"]}));
    assert_eq!(ended["completed"][0]["result"], json!("read "), "{ended}");
}

#[test]
fn aborting_a_tool_that_waits_withdraws_its_question() {
    needs!("python3");
    let asking = project(
        r#"
question = {"id": "q", "text": "Which?", "answer_type": "Text"}
say(type="waiting", question=question)
hear()
say(type="waiting", question=question)
"#,
    );
    let config = asking.read(".windlass/config.toml");
    let config = config.replace("grace_secs = 20", "grace_secs = 2\nrun = \"unattended\"");
    asking.write(".windlass/config.toml", &config);
    let mut drive = asking.drive_asking();
    let mut two_lines = |action: &str| {
        let arguments = json!({"action": action, "id": "it"});
        drive.send(&json!([call("talk", arguments)]));
        let (one, other) = (drive.next(), drive.next());
        if one["event"].is_string() { one } else { other }
    };
    let asked = two_lines("spawn");
    assert_eq!(asked["event"], json!("question"));
    let withdrawn = two_lines("abort");
    assert_eq!(
        withdrawn,
        json!({"event": "withdrawn", "ask": asked["ask"]})
    );
    let (rest, _) = drive.finish();
    assert_eq!(rest, Vec::<Value>::new());
}

#[test]
fn a_slip_of_the_author_is_reported_after_its_line() {
    needs!("python3");
    let project = project("say(type='runing', content='one')\nhear()\n");
    let view = talk(&mut project.drive(), "spawn");
    let content = view["content"].as_str().unwrap();
    assert!(content.contains("runing"), "{content}");
    assert!(content.ends_with("did you mean `running`?)"), "{content}");
}
