//! `windlass serve`: what somebody reads who comes late or draws: history, the
//! record, scrollback, and screens on the stream of all sessions.

use serde_json::{Value, json};

use crate::http_support::{Event, Serve};
use crate::support::{Project, eventually};
use crate::term_tools::answering_with;

fn trusted() -> Value {
    json!({"trusted": true})
}

/// The rows of a screen as one text.
fn text(event: &Event) -> String {
    let rows = event.data["changed"].as_array().unwrap();
    let runs = rows.iter().flat_map(|row| row["runs"].as_array().unwrap());
    runs.map(|run| run["text"].as_str().unwrap()).collect()
}

fn screen_of<'a>(handle: &'a str, shows: &'a str) -> impl FnMut(&Event) -> bool + 'a {
    move |event| {
        event.name == "screen"
            && event.data["handle"] == json!(handle)
            && text(event).contains(shows)
    }
}

#[test]
fn screens_ride_on_the_stream_of_all_sessions() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = serve.session(trusted());
    let id = session.strip_prefix("/sessions/").unwrap();
    let cat = |handle: &str| json!({"action": "spawn", "id": handle, "command": "exec cat", "terminal": true});
    serve.call(&session, "shell", cat("early"));
    let mut events = serve.events(&format!("/events?screens={id}/*&written_ms=100"), "");
    events.until(|event| event.name == "hello");
    serve.call(&session, "shell", cat("late"));
    for (handle, typed) in [("early", "one"), ("late", "two")] {
        let apply = json!({"action": "apply", "id": handle, "input": typed});
        serve.call(&session, "shell", apply);
        events.until(screen_of(handle, typed));
    }
    let written = events.until(|event| event.name == "written");
    assert_eq!(written.data["handles"][0]["session"], json!(id));
    assert_eq!(serve.get("/events?screens=nonsense").status, 400);
}

#[test]
fn screens_of_other_runtimes_ride_on_it_too() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let mut drive = project.drive();
    let spawn = json!({"action": "spawn", "id": "far", "command": "exec cat", "terminal": true});
    drive.send(&json!([{"tool": "shell", "arguments": spawn}]));
    drive.next();
    let mut id = String::new();
    eventually("the session is found", || {
        let sessions = serve.get("/sessions").json();
        let found = sessions
            .as_array()
            .unwrap()
            .iter()
            .find(|session| session["front_end"] == json!("drive"));
        id = found.map_or_else(String::new, |found| {
            found["id"].as_str().unwrap().to_owned()
        });
        !id.is_empty()
    });
    let mut events = serve.events(&format!("/events?screens={id}/far"), "");
    events.until(|event| event.name == "hello");
    drive.send(&json!([{"tool": "shell", "arguments": {"action": "apply", "id": "far", "input": "hello"}}]));
    events.until(screen_of("far", "hello"));
    drive.next();
}

#[test]
fn who_comes_late_reads_the_history_and_the_record() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = serve.session(trusted());
    let id = session.strip_prefix("/sessions/").unwrap();
    let long = json!({"command": "seq 1 1000"});
    serve.call(&session, "shell", long);
    let history = serve.get(&format!("{session}/history")).json();
    let events = history["events"].as_array().unwrap();
    let types: Vec<&str> = events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    for kind in ["called", "part", "started", "stopped", "replied"] {
        assert!(types.contains(&kind), "{types:?}");
    }
    assert!(!types.contains(&"wrote"), "{types:?}");
    let last = history["last"].as_u64().unwrap();
    let later = serve.get(&format!("{session}/history?after={last}")).json();
    assert_eq!(later["events"], json!([]));

    let recorded = format!("/record{session}");
    assert_eq!(serve.get(&recorded).json()["id"], json!(id));
    let listed = serve.get("/record/sessions?limit=1").json();
    assert_eq!(listed[0]["id"], json!(id));
    let messages = serve.get(&format!("{recorded}/messages")).json();
    let output = messages[0]["parts"][0]["state"]["output"].as_str().unwrap();
    assert!(output.ends_with("\n1000\n"), "{output}");
    let brief = serve.get(&format!("{recorded}/messages?brief=true")).json();
    let output = brief[0]["parts"][0]["state"]["output"].as_str().unwrap();
    assert!(output.ends_with('…') && output.len() < 300, "{output}");
    let message = messages[0]["info"]["id"].as_str().unwrap();
    let before = serve
        .get(&format!("{recorded}/messages?before={message}"))
        .json();
    assert_eq!(before, json!([]));
    assert_eq!(serve.get("/record/sessions/ses_none").status, 404);
    assert_eq!(serve.get(&format!("{recorded}/notices")).json(), json!([]));
    assert_eq!(serve.delete(&session).status, 204);
    eventually("its end is recorded", || {
        serve.get(&recorded).json()["time"]["ended"].is_u64()
    });
}

#[test]
fn lines_that_have_left_the_screen_are_read() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = serve.session(trusted());
    let command = "for i in $(seq 1 30); do echo line $i; done; exec cat";
    let spawn = json!({"action": "spawn", "id": "t", "command": command, "terminal": true, "rows": 10, "cols": 40});
    serve.call(&session, "shell", spawn);
    eventually("they have left the screen", || {
        let past = serve.get(&format!("{session}/handles/t/scrollback")).body;
        past.starts_with("line 1\nline 2\n") && past.ends_with("line 21\n")
    });
    let spawn = json!({"action": "spawn", "id": "p", "command": "exec cat"});
    serve.call(&session, "shell", spawn);
    assert_eq!(
        serve.get(&format!("{session}/handles/p/scrollback")).status,
        409
    );
}

#[test]
fn a_program_that_took_over_has_scrollback_too() {
    let project = answering_with("for i in $(seq 1 40); do echo line $i; done; exec cat");
    let serve = Serve::start(&project);
    let session = serve.session(trusted());
    serve.call(&session, "asks", json!({"action": "spawn", "id": "t"}));
    eventually("they have left the screen", || {
        let past = serve.get(&format!("{session}/handles/t/scrollback")).body;
        past.starts_with("line 1\nline 2\n") && past.ends_with("line 17\n")
    });
}

#[test]
fn the_log_of_a_tool_with_states_is_as_long_as_it_says() {
    let project = Project::with_config(
        r#"
        [conversation.tools.states]
        source = "local"
        command = "cat states"
        parameters = {}
        spawn.stateful = true
        spawn.io = "state"
        "#,
    );
    let line = json!({"type": "running", "content": "x".repeat(999)});
    project.write("states", &format!("{line}\n").repeat(500));
    let serve = Serve::start(&project);
    let session = serve.session(trusted());
    serve.call(&session, "states", json!({"action": "spawn", "id": "s"}));
    let handle = format!("{session}/handles/s");
    eventually("all of it is counted", || {
        serve.get(&handle).json()["written"] == json!(500_000)
    });
    let log = serve.get(&format!("{handle}/log?from=0")).body;
    assert_eq!(log.len(), 500_000);
}
