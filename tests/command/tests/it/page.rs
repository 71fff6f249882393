//! The page in a real browser: watching, answering, taking over.

use std::path::Path;

use serde_json::{Value, json};
use windlass_outside::needs;

use crate::http_support::Serve;
use crate::page_support::Browser;
use crate::support::{Project, eventually};

fn trusted() -> Value {
    json!({"trusted": true})
}

fn python(id: &str) -> Value {
    json!({"action": "spawn", "id": id, "command": "python3 -q", "terminal": true})
}

#[test]
fn a_person_watches_answers_takes_over_and_hands_back() {
    needs!("page-driver", "chromium", "python3");
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = serve.session(trusted());
    let mut browser = Browser::open(&project, &serve);

    // What starts and ends is seen without a reload.
    browser.evaluate("window.sameDocument = true");
    let wait = "until [ -e go ]; do sleep 0.05; done; echo done";
    serve.call(
        &session,
        "shell",
        json!({"action": "spawn", "id": "job", "command": wait}),
    );
    browser.wait(".handle:has-text('job') .dot[data-state=running]");
    project.write("go", "");
    browser.wait(".handle:has-text('job') .dot[data-state=stopped]");
    browser.until("[...document.querySelectorAll('.handle')].some(h => h.querySelector('.last').textContent === 'done')");

    // Only the person types.
    serve.call(&session, "shell", python("py"));
    browser.click(".handle:has-text('py')");
    browser.until_row(">>>");
    browser.click("#takeover");
    browser.wait(".keyboard");
    browser.type_text("print(6 * 7)");
    browser.press("Enter");
    browser.until_row("42");
    let refused = serve.call(
        &session,
        "shell",
        json!({"action": "apply", "id": "py", "input": "1"}),
    );
    assert!(
        refused.as_str().unwrap().contains("a person has taken"),
        "{refused}"
    );
    // Keys that are not text: up brings the line back, and its end is changed.
    browser.press("ArrowUp");
    browser.until_row(">>> print(6 * 7)");
    browser.press("ArrowLeft");
    browser.type_text("00");
    browser.press("Enter");
    browser.until_row("4200");
    browser.ask(
        json!({"command": "paste", "selector": ".keys-field", "text": "print('pa' +\n 'sted')\n"}),
    );
    browser.until_row("pasted");
    browser.screenshot("taken-over-light.png");
    browser.click(".fit");
    let mut cols = Value::Null;
    eventually("the terminal has the window's size", || {
        cols = serve.get(&format!("{session}/handles/py/screen")).json()["cols"].clone();
        cols != json!(80)
    });
    browser.until(&format!(
        "document.querySelector('.status').textContent.startsWith('{cols} ×')"
    ));
    browser.press("Control+]");
    browser.wait_gone(".keyboard");
    eventually("the handle is handed back", || {
        serve.get(&format!("{session}/handles/py")).json()["locked"] == json!(false)
    });
    let body = json!([{"tool": "shell", "arguments": {"command": "true"}}]);
    let reply = serve.post(&format!("{session}/calls"), body).json();
    let notices = reply["notices"].as_array().unwrap();
    assert!(
        notices.iter().any(|notice| {
            let text = notice["text"].as_str().unwrap();
            text.starts_with("a person typed into `py` and has handed it back")
        }),
        "{reply}"
    );

    // The picture of it all, and out of the page with it.
    serve.call(
        &session,
        "await",
        json!({"until": [{"id": "py", "idle_secs": 0.05}]}),
    );
    browser.click("#tab-timeline");
    browser.wait("[data-lane=py] .span.running");
    browser.wait("[data-lane=job] .end.stopped");
    browser.wait(".await");
    browser.wait(".batch");
    let file = project.root().join("timeline.svg");
    browser.ask(json!({"command": "download", "selector": "#export", "path": file}));
    let exported = project.read("timeline.svg");
    assert!(
        exported.contains("<svg") && exported.contains("py"),
        "{exported}"
    );
    browser.ask(json!({"command": "look", "scheme": "dark", "width": 1280, "height": 800}));
    browser.screenshot("timeline-dark.png");
    browser.click("[data-lane=py]");
    browser.until_row("4200");
    browser.screenshot("terminal-dark.png");

    assert_eq!(browser.evaluate("window.sameDocument"), json!(true));
    browser.has_no_problems();
}

#[test]
fn what_needs_no_browser_is_right_without_one() {
    needs!("page-driver");
    let project = Project::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let checked = project
        .program("page-driver")
        .arg(folder.join("tests/page/modules.mjs"))
        .arg(folder.join("../../crates/serve-http/page"))
        .output()
        .unwrap();
    let problem = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success(), "{problem}");
}

#[test]
fn permissions_are_replied_to_by_keys_and_by_buttons() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = serve.session(json!({}));
    let mut browser = Browser::open(&project, &serve);
    std::thread::scope(|scope| {
        let ask = |command: &'static str| {
            let (serve, session) = (&serve, &session);
            scope.spawn(move || serve.call(session, "shell", json!({"command": command})))
        };
        let call = ask("echo by-keys");
        browser.wait(".ask:has-text('echo by-keys')");
        browser.wait(".ask .always code:has-text('echo *')");
        browser.screenshot("permission-light.png");
        browser.press("p");
        browser.until("document.activeElement.classList.contains('ask')");
        browser.press("y");
        assert_eq!(call.join().unwrap(), json!("by-keys\n"));
        browser.wait_gone(".ask");

        let call = ask("echo rejected");
        browser.wait(".ask:has-text('echo rejected')");
        browser.click(".ask .say");
        browser.fill(".ask .message", "use the other one");
        browser.press("Enter");
        let said = call.join().unwrap();
        assert!(
            said.as_str().unwrap().contains("use the other one"),
            "{said}"
        );

        let call = ask("echo edited");
        browser.wait(".ask:has-text('echo edited')");
        browser.click(".ask .buttons button:has-text('Edit')");
        browser.fill(".ask .edit", r#"{"command": "echo instead"}"#);
        browser.click(".ask .yes");
        assert_eq!(call.join().unwrap(), json!("instead\n"));

        // What is answered elsewhere vanishes.
        let call = ask("printf elsewhere");
        browser.wait(".ask:has-text('printf elsewhere')");
        let asked = serve.get("/permissions").json();
        let id = asked[0]["id"].as_str().unwrap();
        serve.post(&format!("/permissions/{id}"), json!({"reply": "once"}));
        browser.wait_gone(".ask");
        assert_eq!(call.join().unwrap(), json!("elsewhere"));
    });
    browser.has_no_problems();
}

#[test]
fn a_secret_goes_from_the_page_to_the_program() {
    needs!("page-driver", "chromium", "python3");
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = serve.session(trusted());
    let mut browser = Browser::open(&project, &serve);
    let command = "python3 -c 'import getpass; print(len(getpass.getpass(\"Pass: \")))'";
    let spawn = json!({"action": "spawn", "id": "s", "command": command, "terminal": true});
    serve.call(&session, "shell", spawn);
    browser.wait(".ask.question:has-text('Pass:')");
    browser.fill(".ask.question input[type=password]", "hunter2hunter2");
    browser.click(".ask.question .yes");
    browser.wait_gone(".ask.question");
    browser.click(".handle:has-text('shell')");
    browser.until_row("14");
    browser.wait(".handle:has-text('shell') .dot[data-state=stopped]");
    let history = serve.get(&format!("{session}/history")).body;
    assert!(!history.contains("hunter2"), "{history}");
    let shown = browser.evaluate("document.documentElement.outerHTML");
    assert!(!shown.as_str().unwrap().contains("hunter2"));
    browser.has_no_problems();
}

#[test]
fn sessions_of_other_runtimes_are_watched_and_taken_over() {
    needs!("page-driver", "chromium", "python3");
    let project = Project::new();
    let serve = Serve::start(&project);
    let mut browser = Browser::open(&project, &serve);
    let mut drive = project.drive();
    drive.send(&json!([{"tool": "shell", "arguments": python("elsewhere")}]));
    drive.next();
    browser.wait(".session:has-text('drive') .handle:has-text('elsewhere')");
    browser.click(".handle:has-text('elsewhere')");
    browser.until_row(">>>");
    browser.press("t");
    browser.wait(".keyboard");
    browser.type_text("print('from' + ' afar')");
    browser.press("Enter");
    browser.until_row("from afar");
    browser.press("Control+]");
    browser.wait_gone(".keyboard");
    drop(drive);
    browser.wait_gone(".handle:has-text('elsewhere')");
    browser.has_no_problems();
}

#[test]
fn it_is_dark_when_the_system_is_unless_a_person_says_otherwise() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let serve = Serve::start(&project);
    let mut browser = Browser::open(&project, &serve);
    let system = |browser: &mut Browser, scheme: &str| {
        browser.ask(json!({"command": "look", "scheme": scheme, "width": 1280, "height": 800}));
    };
    let is_dark = "getComputedStyle(document.body).backgroundColor === 'rgb(22, 24, 26)'";
    let is_light = "getComputedStyle(document.body).backgroundColor === 'rgb(251, 250, 248)'";
    system(&mut browser, "light");
    browser.until(is_light);
    system(&mut browser, "dark");
    browser.until(is_dark);
    browser.click("[aria-label='Theme: auto']");
    browser.until(is_light);
    browser.click("[aria-label='Theme: light']");
    system(&mut browser, "light");
    browser.until(is_dark);
    browser.click("[aria-label='Theme: dark']");
    browser.until(is_light);
    browser.has_no_problems();
}

#[test]
fn the_wall_draws_what_is_in_a_column_there() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = serve.session(trusted());
    let command = r"printf '日日\033[41m  \033[0m\n'; exec cat";
    let wide = json!({"action": "spawn", "id": "wide", "command": command, "terminal": true});
    serve.call(&session, "shell", wide);
    let mut browser = Browser::open(&project, &serve);
    browser.click(".session-title");
    browser.click("#tab-terminals");
    // Two wide characters fill four columns; the red begins behind them.
    browser.until(
        "(() => {
            const canvas = document.querySelector('.tile[data-generation] canvas');
            if (!canvas?.width) return false;
            const column = canvas.width / 80;
            const isRed = (place) => {
                const [red, green, blue] = canvas.getContext('2d').getImageData((place + 0.5) * column, 2, 1, 1).data;
                return red > 100 && red > green + 60 && red > blue + 60;
            };
            return [0, 1, 2, 3, 4, 5, 6].map(isRed).join() === 'false,false,false,false,true,true,false';
        })()",
    );
    browser.has_no_problems();
}

#[test]
fn thousands_of_calls_scroll_and_only_what_is_seen_is_drawn() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = serve.session(trusted());
    for batch in 0..3 {
        let call = |number| json!({"id": format!("c{number}"), "tool": format!("none_{batch}_{number}"), "arguments": {}});
        let calls: Vec<Value> = (0..1000).map(call).collect();
        serve.post(
            &format!("{session}/calls"),
            json!({"batch": format!("b{batch}"), "calls": calls}),
        );
    }
    let mut browser = Browser::open(&project, &serve);
    browser.click(".session-title");
    browser.click("#tab-calls");
    browser.wait(".calls :text('3000 calls')");
    browser.wait(".call:has-text('none_2_999')");
    browser.evaluate("document.querySelector('.virtual').scrollTop = 0");
    browser.wait(".call:has-text('none_0_0')");
    let drawn = browser.evaluate("document.querySelectorAll('.call').length");
    assert!((10..120).contains(&drawn.as_u64().unwrap()), "{drawn}");
    browser.fill(".calls input", "none_1_77");
    browser.wait(".calls :text('11 of 3000 calls')");
    browser.click(".call:has-text('none_1_770')");
    browser.wait(".call-detail:has-text('none_1_770')");
    browser.has_no_problems();
}

#[test]
fn a_conversation_has_no_message_without_words() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = serve.session(trusted());
    for word in ["one", "two"] {
        serve.call(
            &session,
            "shell",
            json!({"command": format!("echo {word}")}),
        );
    }
    let mut browser = Browser::open(&project, &serve);
    browser.click(".session-title");
    browser.click("#tab-conversation");
    browser.wait(".part:has-text('echo two')");
    let empty = browser.evaluate(
        "[...document.querySelectorAll('.messages > .message')].filter((message) => !message.querySelector('.parts').textContent.trim()).length",
    );
    assert_eq!(empty, json!(0));
    browser.has_no_problems();
}
