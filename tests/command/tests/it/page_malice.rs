//! The page against those who should see nothing, and against what tools print.

use std::io::{Read, Write};
use std::net::TcpListener;

use serde_json::{Value, json};
use windlass_outside::needs;

use crate::http_support::Serve;
use crate::page_support::Browser;
use crate::support::Project;

/// A session whose root folder only its own user may see.
fn with_a_secret(serve: &Serve) -> String {
    let session = serve.session(json!({"trusted": true}));
    let command = "echo for-your-eyes-only; exec cat";
    let spawn = json!({"action": "spawn", "id": "hushed", "command": command, "terminal": true});
    serve.call(&session, "shell", spawn);
    session
}

fn shows_the_secret(browser: &mut Browser) -> bool {
    let shown = browser.evaluate("document.documentElement.outerHTML");
    let shown = shown.as_str().unwrap();
    shown.contains("hushed") || shown.contains("for-your-eyes-only")
}

#[test]
fn without_the_token_or_with_another_one_nothing_is_seen() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let serve = Serve::start(&project);
    with_a_secret(&serve);
    let mut browser = Browser::start(&project);
    let address = &serve.address;
    browser.goto(&format!("http://{address}/"));
    browser.wait(".gate:has-text('windlass serve')");
    assert!(!shows_the_secret(&mut browser));

    let wrong = "A".repeat(43);
    browser.goto(&format!("http://{address}/?again#token={wrong}"));
    browser.wait("#connection[data-state=stale]");
    assert!(!shows_the_secret(&mut browser));

    // With the right one it is there, and the token is out of the address.
    let token = &serve.token;
    browser.goto(&format!("http://{address}/?right#token={token}"));
    browser.wait(".handle:has-text('hushed')");
    let href = browser.evaluate("location.href");
    assert!(!href.as_str().unwrap().contains(token.as_str()), "{href}");
}

#[test]
fn pages_of_another_origin_see_nothing() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let serve = Serve::start(&project);
    with_a_secret(&serve);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let foreign = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            let answer = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n<p>foreign</p>";
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    let mut browser = Browser::start(&project);
    browser.goto(&format!("http://{foreign}/"));
    let (address, token) = (&serve.address, &serve.token);
    for path in ["/", "/assets/main.js", "/api/v1/sessions"] {
        for mode in ["cors", "no-cors"] {
            let read = browser.evaluate(&format!(
                "fetch('http://{address}{path}', {{mode: '{mode}', headers: '{mode}' === 'cors' ? {{authorization: 'Bearer {token}'}} : {{}}}})
                   .then(async (answer) => (await answer.text()) || 'nothing', () => 'refused')"
            ));
            assert!(
                ["refused", "nothing"].contains(&read.as_str().unwrap()),
                "{path}: {read}"
            );
        }
    }
    // Nor can it put the page into a frame.
    let framed = browser.evaluate(&format!(
        "new Promise((done) => {{
           const frame = document.createElement('iframe');
           frame.onload = () => {{ try {{ done(frame.contentDocument ? 'readable' : 'closed') }} catch {{ done('closed') }} }};
           frame.src = 'http://{address}/';
           document.body.append(frame);
         }})"
    ));
    assert_eq!(framed, json!("closed"));
}

#[test]
fn a_server_that_goes_and_comes_back_is_said_and_found_again() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let mut serve = Serve::start(&project);
    let mut browser = Browser::open(&project, &serve);
    let address = serve.address.clone();
    serve.kill();
    browser.wait("#connection[data-state=gone]");
    browser.wait("#banner:has-text('cannot be reached')");
    let serve = Serve::start_at(&project, &address);
    browser.wait("#connection[data-state=live]");
    with_a_secret(&serve);
    browser.wait(".handle:has-text('hushed')");
    drop(serve);
    std::fs::remove_file(project.state_dir().join("token")).unwrap();
    let _serve = Serve::start_at(&project, &address);
    browser.wait("#connection[data-state=stale]");
    browser.wait(".gate:has-text('token')");
    browser.has_no_problems();
}

/// Keeps the answer with the sessions from the page until `release` is called, and notes when it hears of `hushed`.
const LATE_SESSIONS: &str = "() => {
    const released = new Promise((resolve) => (window.release = resolve));
    const { fetch } = window;
    window.fetch = async (path, ...rest) => {
        const response = await fetch(path, ...rest);
        if (path === '/api/v1/sessions') {
            window.isHeld = response.ok;
            await released;
        }
        return response;
    };
    const { parse } = JSON;
    JSON.parse = (text, ...rest) => {
        window.hasHeard ||= text.includes('hushed');
        return parse(text, ...rest);
    };
}";

#[test]
fn a_session_that_begins_while_the_page_loads_stays() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let mut serve = Serve::start(&project);
    let mut browser = Browser::open(&project, &serve);
    let address = serve.address.clone();
    serve.kill();
    browser.wait("#connection[data-state=gone]");
    browser.evaluate(&format!("({LATE_SESSIONS})()"));
    let serve = Serve::start_at(&project, &address);
    browser.until("window.isHeld === true");
    with_a_secret(&serve);
    browser.until("window.hasHeard === true");
    browser.evaluate("window.release()");
    browser.wait(".handle:has-text('hushed')");
    browser.has_no_problems();
}

/// What a tool might print to become more than text.
const NASTY: &str = "<img src=x onerror=\"window.taken=1\"><script>window.taken=1</script>\
    <a href=\"javascript:window.taken=1\">link</a> \
    \x1b]8;;javascript:window.taken=1\x07click\x1b]8;;\x07 \
    \x1b]0;<script>window.taken=1</script>\x07\
    \x1b[31m<b>red</b>\x1b[0m ${window.taken=1} {{window.taken=1}}";

#[test]
fn output_never_becomes_script_in_any_view() {
    needs!("page-driver", "chromium");
    let project = Project::with_config(
        "[conversation.tools.\"ask\"]\nsource = \"local\"\ncommand = \"cat ask.json\"\n[conversation.tools.ask.parameters.note]\ntype = \"string\"\n",
    );
    project.write("nasty", NASTY);
    project.write(
        "ask.json",
        &json!({"type": "needs_input", "question": {
            "id": "q", "text": NASTY, "pre_amble": NASTY, "answer_type": {"Select": {"options": [NASTY, "other"]}}
        }})
        .to_string(),
    );
    let serve = Serve::start(&project);
    let session = serve.session(json!({"trusted": true}));
    for (id, terminal) in [("term", true), ("text", false)] {
        let spawn = json!({"action": "spawn", "id": id, "command": "cat nasty; echo; exec sleep 1000", "terminal": terminal, "env": {"N": NASTY}});
        serve.call(&session, "shell", spawn);
    }
    serve.call(
        &session,
        "shell",
        json!({"command": format!("cat nasty # {NASTY}")}),
    );
    serve.call(&session, NASTY, json!({"x": NASTY}));
    let asking = serve.session(json!({}));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            serve.call(
                &asking,
                "shell",
                json!({"command": "cat nasty", "env": {"N": NASTY}}),
            )
        });
        scope.spawn(|| serve.call(&session, "ask", json!({"note": NASTY})));
        let mut browser = Browser::open(&project, &serve);
        browser.wait(".ask:has-text('cat nasty')");
        browser.wait(".ask.question:has-text('onerror')");
        browser.click(".handle:has-text('term')");
        browser.until_row("onerror");
        browser.click(".choice [data-kind=log]");
        browser.wait(".log-lines:has-text('onerror')");
        browser.click(".handle:has-text('text')");
        browser.wait(".log-lines:has-text('onerror')");
        browser.fill("#log-search", "onerror");
        browser.press("Enter");
        browser.wait(".matches:has-text('onerror')");
        browser.click(".matches button");
        browser.wait(".log-lines .found");
        for (tab, shown) in [
            ("terminals", ".tile"),
            ("timeline", ".lane"),
            ("conversation", ".part"),
            ("calls", ".call"),
        ] {
            browser.click(&format!("#tab-{tab}"));
            browser.wait(shown);
        }
        browser.click(".call:has-text('onerror') >> nth=0");
        browser.wait(".call-detail:has-text('onerror')");
        browser.click("#tab-conversation");
        browser.click(".part:has-text('cat nasty') summary");
        browser.wait(".part-body:has-text('onerror')");
        assert_eq!(browser.evaluate("window.taken ?? null"), Value::Null);
        let foreign = browser.evaluate(
            "[...document.querySelectorAll('img, script, a, iframe, object, b, form')].map((node) => node.outerHTML)
               .filter((html) => !html.includes('/assets/main.js') && !html.includes('class=\"skip\"'))",
        );
        assert_eq!(foreign, json!([]));
        browser.has_no_problems();
        drop(browser);
        project.write("ask.json", r#"{"type": "success", "content": "done"}"#);
        for request in serve.get("/permissions").json().as_array().unwrap() {
            let id = request["id"].as_str().unwrap();
            serve.post(&format!("/permissions/{id}"), json!({"reply": "reject"}));
        }
        for question in serve.get("/questions").json().as_array().unwrap() {
            let id = question["ask"].as_str().unwrap();
            serve.post(&format!("/questions/{id}"), json!({"value": "other"}));
        }
    });
}

#[test]
fn the_first_load_is_small_and_nothing_leaves_the_machine() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let serve = Serve::start(&project);
    with_a_secret(&serve);
    let mut browser = Browser::open(&project, &serve);
    browser.click(".handle:has-text('hushed')");
    browser.until_row("for-your-eyes-only");
    let loaded = browser.evaluate(
        "[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
           .filter((entry) => !entry.name.includes('/api/'))
           .reduce((sum, entry) => sum + entry.transferSize, 0)",
    );
    let loaded = loaded.as_u64().unwrap();
    assert!((20_000..300_000).contains(&loaded), "{loaded} bytes");
    let seen = browser.seen();
    let own = format!("http://{}/", serve.address);
    let requests = seen["requests"].as_array().unwrap();
    assert!(!requests.is_empty());
    for request in requests {
        let url = request.as_str().unwrap();
        assert!(url.starts_with(&own) || url == "about:blank", "{url}");
    }
    let head = serve
        .ask("GET", "/", &format!("host: {}\r\n", serve.address), "")
        .head;
    for policy in [
        "default-src 'none'",
        "script-src 'self'",
        "frame-ancestors 'none'",
    ] {
        assert!(head.contains(policy), "{head}");
    }
}

/// A stream that is read late gets a gap event and the present state; one
/// that was cut off gets them when it reconnects.
#[test]
fn for_a_page_that_does_not_read_nothing_is_queued() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = serve.session(json!({"trusted": true}));
    let mut events = serve.events("/events?written_ms=1000", "");
    let mut last = events.until(|event| event.name == "hello").id;
    let long = "x".repeat(20_000);
    for batch in 0..16 {
        let call = |number| json!({"id": format!("c{batch}-{number}"), "tool": "none", "arguments": {"text": long}});
        let calls: Vec<Value> = (0..100).map(call).collect();
        let body = json!({"batch": format!("b{batch}"), "calls": calls});
        let answer = serve.post(&format!("{session}/calls"), body);
        assert_eq!(answer.status, 200);
    }
    loop {
        let Some(event) = events.try_next() else {
            let resume = format!("last-event-id: {last}\r\n");
            events = serve.events("/events?written_ms=1000", &resume);
            continue;
        };
        last.clone_from(&event.id);
        if event.name == "missed" {
            assert!(event.data["count"].as_u64().unwrap() > 0);
            break;
        }
    }
    serve.call(&session, "shell", json!({"command": "true"}));
    events.until(|event| {
        event.data["type"] == json!("replied") && event.data["is_error"] == json!(false)
    });
}
