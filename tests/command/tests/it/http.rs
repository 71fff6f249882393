//! `windlass serve`: what can be asked over HTTP.

use insta::assert_snapshot;
use serde_json::{Value, json};
use windlass_outside::needs;

use crate::filtered::filtered;
use crate::http_support::Serve;
use crate::support::{Project, eventually};

const TRUSTED: fn() -> Value = || json!({"trusted": true});

fn cat(id: &str) -> Value {
    json!({"action": "spawn", "id": id, "command": "exec cat", "terminal": true, "rows": 10, "cols": 40})
}

/// The text of a screen, a line per row.
fn text(screen: &Value) -> String {
    let rows = screen["changed"].as_array().unwrap();
    let row = |row: &Value| {
        let runs = row["runs"].as_array().unwrap();
        let texts = runs.iter().map(|run| run["text"].as_str().unwrap());
        texts.collect::<String>()
    };
    rows.iter().map(row).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_session_is_begun_used_and_ended() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = serve.session(TRUSTED());

    let said = serve.call(&session, "shell", json!({"command": "echo hello"}));
    assert_eq!(said, json!("hello\n"));
    let batch = serve.post(
        &format!("{session}/calls"),
        json!({"batch": "b7", "calls": [{"id": "x", "tool": "nothing", "arguments": {}}]}),
    );
    assert_eq!(batch.json()["batch"], json!("b7"));
    assert_eq!(batch.json()["replies"][0]["is_error"], json!(true));

    let listed = serve.get("/sessions").json();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!(listed[0]["front_end"], json!("serve"));
    assert_eq!(listed[0]["root"], json!(project.root()));
    let shown = serve.get(&session).json();
    assert_eq!(shown["id"], listed[0]["id"]);

    serve.call(
        &session,
        "shell",
        json!({"action": "spawn", "id": "s", "command": "sleep 1000"}),
    );
    let ended = serve.post(&format!("{session}/turn_end"), json!({}));
    assert_eq!(ended.json()["ended"], json!(["s"]));

    assert_eq!(serve.delete(&session).status, 204);
    let gone = serve.get(&session);
    assert_eq!(gone.status, 410);
    assert_snapshot!(filtered(&gone.error()), @"session `ses_[id]` has ended; GET /api/v1/sessions lists those that are under way");
    assert_eq!(serve.get("/sessions").json(), json!([]));
}

#[test]
pub(crate) fn a_handle_is_watched_typed_into_and_ended() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = serve.session(TRUSTED());
    serve.call(&session, "shell", cat("c"));
    let handle = format!("{session}/handles/c");

    let info = serve.get(&handle).json();
    assert_eq!(info["state"], json!("running"));
    assert_eq!(info["terminal"], json!(true));
    let screen = serve.get(&format!("{handle}/screen")).json();
    assert_eq!((&screen["rows"], &screen["cols"]), (&json!(10), &json!(40)));

    let typed = json!({"typing": {"input": "hello"}});
    assert_eq!(serve.post(&format!("{handle}/input"), typed).status, 204);
    eventually("cat has answered", || {
        text(&serve.get(&format!("{handle}/screen")).json()).contains("hello\nhello")
    });
    let generation = serve.get(&format!("{handle}/screen")).json()["generation"].clone();
    let unchanged = serve
        .get(&format!("{handle}/screen?since={generation}"))
        .json();
    assert_eq!(unchanged["changed"], json!([]));
    // "Y28K" is "co\n".
    serve.post(&format!("{handle}/input"), json!({"bytes": "Y28K"}));
    eventually("only what changed is told", || {
        let screen = serve
            .get(&format!("{handle}/screen?since={generation}"))
            .json();
        text(&screen).contains("co") && !text(&screen).contains("hello")
    });

    assert_eq!(
        serve
            .post(
                &format!("{handle}/resize"),
                json!({"rows": 20, "cols": 100})
            )
            .status,
        204
    );
    assert_eq!(
        serve.get(&format!("{handle}/screen")).json()["rows"],
        json!(20)
    );
    assert_eq!(
        serve
            .post(&format!("{handle}/resize"), json!({"rows": 0, "cols": 100}))
            .status,
        422
    );

    let log = serve.get(&format!("{handle}/log?from=0&to=5"));
    assert_eq!(log.body, "hello");
    assert!(log.head.contains("windlass-log-start: 0"), "{log:?}");
    let found = serve.get(&format!("{handle}/search?pattern=%5Ehel")).json();
    assert_eq!(found["matches"].as_array().unwrap().len(), 2, "{found}");

    let aborted = serve.post(&format!("{handle}/abort"), json!({})).json();
    assert_eq!(aborted, json!({"ended": 1, "survivors": []}));
    let info = serve.get(&handle).json();
    assert_eq!(info["result"], json!("aborted by the user"));
    assert_eq!(
        serve
            .post(&format!("{handle}/input"), json!({"bytes": "Y28K"}))
            .status,
        409
    );
}

#[test]
pub(crate) fn a_person_takes_over_and_the_assistant_is_notified() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = serve.session(TRUSTED());
    serve.call(&session, "shell", cat("c"));
    let handle = format!("{session}/handles/c");
    let lock = serve.post(&format!("{handle}/lock"), json!({})).json()["lock"].clone();

    let refused = serve.call(
        &session,
        "shell",
        json!({"action": "apply", "id": "c", "input": "x"}),
    );
    assert!(
        refused.as_str().unwrap().contains("a person has taken"),
        "{refused}"
    );
    assert_eq!(serve.post(&format!("{handle}/lock"), json!({})).status, 409);
    let typed = json!({"typing": {"input": "mine"}});
    assert_eq!(serve.post(&format!("{handle}/input"), typed).status, 409);
    let typed = json!({"typing": {"input": "mine"}, "lock": lock});
    assert_eq!(serve.post(&format!("{handle}/input"), typed).status, 204);
    eventually("cat has answered", || {
        serve
            .get(&format!("{handle}/log"))
            .body
            .contains("mine\r\nmine")
    });
    let lock = lock.as_str().unwrap();
    assert_eq!(serve.delete(&format!("{handle}/lock/{lock}")).status, 204);

    let body = json!([{"tool": "shell", "arguments": {"command": "true"}}]);
    let reply = serve.post(&format!("{session}/calls"), body).json();
    let notice = reply["notices"][0]["text"].as_str().unwrap();
    assert!(notice.starts_with("a person typed into `c`"), "{reply}");
}

#[test]
fn permissions_are_asked_for_and_replied_to() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = serve.session(json!({}));
    let mut events = serve.events(&format!("{session}/events"), "");
    events.until(|event| event.name == "hello");
    std::thread::scope(|scope| {
        let command = json!({"command": "echo yes"});
        let call = scope.spawn(|| serve.call(&session, "shell", command));
        let asked = events.update("permission");
        let id = asked.data["request"]["id"].as_str().unwrap().to_owned();
        let listed = serve.get("/permissions").json();
        assert_eq!(listed[0]["id"], json!(id));
        assert_eq!(serve.get(&format!("{session}/permissions")).json(), listed);
        let replied = serve.post(&format!("/permissions/{id}"), json!({"reply": "once"}));
        assert_eq!(replied.status, 204, "{replied:?}");
        assert_eq!(call.join().unwrap(), json!("yes\n"));
        let again = serve.post(&format!("/permissions/{id}"), json!({"reply": "once"}));
        assert_eq!(again.status, 409, "{again:?}");
        let never = serve.post("/permissions/per_never", json!({"reply": "once"}));
        assert_eq!(never.status, 404, "{never:?}");

        let command = json!({"command": "echo no"});
        let call = scope.spawn(|| serve.call(&session, "shell", command));
        let asked = events.update("permission");
        let id = asked.data["request"]["id"].as_str().unwrap().to_owned();
        let body = json!({"reply": "reject", "message": "not now"});
        serve.post(&format!("{session}/permissions/{id}"), body);
        let said = call.join().unwrap();
        assert!(said.as_str().unwrap().contains("not now"), "{said}");
    });
    assert_eq!(serve.get("/permissions").json(), json!([]));
}

#[test]
pub(crate) fn a_secret_is_asked_for_and_answered_by_the_person() {
    needs!("python3");
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = serve.session(TRUSTED());
    let command = "python3 -c \"import getpass; print(len(getpass.getpass('Pass: ')))\"";
    let arguments = json!({"action": "spawn", "id": "p", "command": command, "terminal": true});
    serve.call(&session, "shell", arguments);
    let ask = || {
        serve.get("/questions").json()[0]["ask"]
            .as_str()
            .map(str::to_owned)
    };
    eventually("it asks", || ask().is_some());
    let id = ask().unwrap();
    let unfit = serve.post(&format!("/questions/{id}"), json!({"value": ["hunter2"]}));
    assert_eq!(unfit.status, 422);
    assert!(!unfit.body.contains("hunter2"), "{unfit:?}");
    let answered = serve.post(
        &format!("{session}/questions/{id}"),
        json!({"value": "hunter2"}),
    );
    assert_eq!(answered.status, 204, "{answered:?}");
    let awaited = serve.call(&session, "await", json!({"all": ["p"]}));
    let told = awaited.to_string();
    assert!(told.contains('7') && !told.contains("hunter2"), "{told}");
}

#[test]
fn events_resume_where_they_were_left() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = serve.session(TRUSTED());
    let path = format!("{session}/events");
    let mut events = serve.events(&path, "");
    events.until(|event| event.name == "hello");
    serve.call(&session, "shell", json!({"command": "echo one"}));
    let called = events.update("called");
    let replied = events.update("replied");
    assert!(replied.id.parse::<u64>().unwrap() > called.id.parse().unwrap());
    drop(events);

    serve.call(&session, "shell", json!({"command": "echo two"}));

    let mut again = serve.events(&path, &format!("last-event-id: {}\r\n", called.id));
    let mut numbers = Vec::new();
    again.until(|event| {
        if event.name == "update" {
            numbers.push(event.id.parse::<u64>().unwrap());
        }
        event.data["type"] == json!("replied") && event.id != replied.id
    });
    let first = called.id.parse::<u64>().unwrap() + 1;
    let all: Vec<u64> = (first..).take(numbers.len()).collect();
    assert_eq!(numbers, all, "nothing is missing and nothing comes twice");
    let bad = serve.ask(
        "GET",
        &format!("/api/v1{path}"),
        &format!(
            "host: {}\r\nauthorization: Bearer {}\r\nlast-event-id: x\r\n",
            serve.address, serve.token
        ),
        "",
    );
    assert_eq!(bad.status, 400);
}

#[test]
pub(crate) fn a_screen_is_streamed_as_it_changes() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = serve.session(TRUSTED());
    let mut events = serve.events(&format!("{session}/events?screens=*"), "");
    events.until(|event| event.name == "hello");
    serve.call(&session, "shell", cat("c"));
    let first = events.until(|event| event.name == "screen");
    assert_eq!(first.data["changed"].as_array().unwrap().len(), 10);
    serve.call(
        &session,
        "shell",
        json!({"action": "apply", "id": "c", "input": "hello"}),
    );
    let mut shown = String::new();
    events.until(|event| {
        if event.name == "screen" {
            shown.push_str(&text(&event.data));
        }
        shown.matches("hello").count() >= 2
    });
}

#[test]
fn the_sessions_of_other_runtimes_are_reached() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let mut all = serve.events("/events", "");
    all.until(|event| event.name == "hello");
    let mut drive = project.drive();
    drive.content("shell", cat("d"));
    let infos = serve.get("/sessions").json();
    let info = &infos[0];
    assert_eq!(info["front_end"], json!("drive"));
    assert_eq!(info["pid"], json!(drive.pid()));
    let session = format!("/sessions/{}", info["id"].as_str().unwrap());

    let handles = serve.get(&format!("{session}/handles")).json();
    assert_eq!(handles[0]["id"], json!("d"));
    let mut events = serve.events(&format!("{session}/events?screens=d"), "");
    events.until(|event| event.name == "screen");
    let typed = json!({"typing": {"input": "through"}});
    assert_eq!(
        serve
            .post(&format!("{session}/handles/d/input"), typed)
            .status,
        204
    );
    events.until(|event| event.name == "screen" && text(&event.data).contains("through"));
    // What happens there is in the stream of all sessions too.
    drive.content("shell", json!({"command": "echo there"}));
    all.until(|event| {
        event.data["session"] == info["id"] && event.data["type"] == json!("replied")
    });

    let foreign = serve.delete(&session);
    assert_eq!(foreign.status, 403);
    assert_snapshot!(foreign.error(), @"this session belongs to `windlass drive` and ends with it; abort its handles instead");
    drive.finish();
    assert_eq!(serve.get("/sessions").json(), json!([]));
    assert_eq!(serve.get(&session).status, 404);
}

#[test]
fn progress_is_reported() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = serve.session(TRUSTED());
    serve.call(
        &session,
        "shell",
        json!({"action": "spawn", "id": "s", "command": "echo x; sleep 1000"}),
    );
    let host = format!("host: {}\r\n", serve.address);
    let health = serve.ask("GET", "/health", &host, "");
    assert_eq!(health.json(), json!({"status": "ok"}));
    assert_eq!(serve.ask("GET", "/metrics", &host, "").status, 401);
    let metrics = || {
        let headers = format!("{host}authorization: Bearer {}\r\n", serve.token);
        serve.ask("GET", "/metrics", &headers, "").body
    };
    eventually("the call is counted", || {
        let text = metrics();
        text.contains("windlass_calls_total{error=\"false\"} 1\n")
            && text.contains("windlass_handles{state=\"running\"} 1\n")
            && text.contains("windlass_output_bytes_total 2\n")
            && text.contains("windlass_call_seconds_count 1\n")
    });
}

#[test]
fn a_session_that_nobody_uses_expires() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = serve.session(json!({"trusted": true, "idle_secs": 0}));
    eventually("it has expired", || serve.get(&session).status == 410);
}

#[test]
fn what_is_not_understood_is_refused_with_what_would_work() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = serve.session(TRUSTED());
    let calls = format!("{session}/calls");
    for (body, status) in [
        (json!("x"), 422),
        (json!({"turn_end": true}), 422),
        (json!([{"tool": 1}]), 422),
    ] {
        let answer = serve.post(&calls, body);
        assert_eq!(answer.status, status, "{answer:?}");
        assert!(!answer.error().is_empty());
    }
    assert_eq!(serve.post("/sessions", json!({"what": 1})).status, 422);
    assert_eq!(serve.get("/nothing").status, 404);
    let wrong = serve.get(&calls);
    assert_eq!(wrong.status, 405);
    assert!(!wrong.error().is_empty());
    let large = json!([{"tool": "shell", "arguments": {"command": "x".repeat(9 << 20)}}]);
    assert_eq!(serve.post(&calls, large).status, 413);
}

#[test]
fn nothing_outlives_a_killed_server_and_its_socket_is_swept() {
    let project = Project::new();
    let mut serve = Serve::start(&project);
    let session = serve.session(TRUSTED());
    let arguments = json!({"action": "spawn", "id": "s", "command": "echo $$; exec sleep 1000"});
    let spawned = serve.call(&session, "shell", arguments);
    let pid: u32 = spawned["content"].as_str().unwrap().trim().parse().unwrap();
    serve.kill();
    eventually("its tool is gone", || crate::processes::has_exited(pid));
    assert!(serve.socket.exists());
    assert!(project.list(&["ps"]).is_empty());
    assert!(!serve.socket.exists());
}
