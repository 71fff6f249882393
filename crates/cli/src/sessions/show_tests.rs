use super::*;

#[test]
fn a_file_is_shown_by_its_path_where_it_has_one() {
    let line = |url: &str| {
        let file = json!({
            "type": "file", "id": "prt_1", "sessionID": "ses_1", "messageID": "msg_1",
            "mime": "image/png", "url": url,
        });
        file_line(&serde_json::from_value(file).unwrap())
    };
    let shown = [
        line("file:///tmp/1.png"),
        line("file:///tmp/a%20b"),
        line("https://x/y"),
    ];
    let places: Vec<&str> = shown
        .iter()
        .map(|line| line.strip_prefix("image/png  ").unwrap())
        .collect();
    assert_eq!(places, ["/tmp/1.png", "file:///tmp/a%20b", "https://x/y"]);
}

fn part(state: &Value) -> CallLine {
    let part = json!({
        "type": "tool", "id": "prt_1", "sessionID": "ses_1", "messageID": "msg_1",
        "callID": "c", "tool": "shell", "state": state,
    });
    CallLine::of(&serde_json::from_value(part).unwrap())
}

fn shown(call: &CallLine) -> String {
    let global = crate::args::Global {
        config: Vec::new(),
        set: Vec::new(),
        directory: None,
        json: false,
        color: crate::args::ColorChoice::Never,
    };
    call.lines(false, Printer::new(&global)).join("\n")
}

#[test]
fn a_build_that_exited_with_101_has_failed() {
    let view = json!({
        "id": "build", "state": "stopped", "content": "error: no\n1\n2\n3\n4\n",
        "result": "exited with code 101", "error": {"transient": false}, "exit_code": 101,
    });
    let call = part(&json!({
        "status": "completed", "input": {}, "output": view.to_string(), "title": "cargo build",
        "metadata": {"action": "spawn", "handle": "build"}, "time": {"start": 0, "end": 1500},
    }));
    assert_eq!(call.outcome, CallOutcome::Failed);
    assert_eq!(
        shown(&call),
        "  ✗ shell spawn build cargo build (exit 101, 1.5s)\n      error: no\n      1\n      2\n      3\n      \
         … 1 more line; `--full` shows it"
    );
}

#[test]
fn an_await_tells_how_each_ended() {
    let reply = json!({"completed": [
        {"id": "a", "state": "stopped", "result": "fine"},
        {"id": "b", "state": "stopped", "result": "bad", "signal": "SIGKILL", "error": {}},
    ]});
    let call = part(&json!({
        "status": "completed", "input": {}, "output": reply.to_string(), "title": "await",
        "metadata": {}, "time": {"start": 0, "end": 3},
    }));
    assert_eq!(
        shown(&call),
        "  ✗ shell await (SIGKILL, 3ms)\n      fine\n      bad"
    );
}

#[test]
fn a_call_that_went_well_says_so() {
    let call = part(&json!({
        "status": "completed", "input": {}, "output": "{\"state\": \"odd\"}\n", "title": "cat file",
        "metadata": {}, "time": {"start": 0, "end": 20_000},
    }));
    assert_eq!(
        shown(&call),
        "  ✓ shell cat file (20s)\n      {\"state\": \"odd\"}"
    );
}
