//! "Needs you" on the page: what an agent's tools ask, and text that wants to
//! deceive the user.

use serde_json::{Value, json};
use windlass_outside::needs;

use crate::http_support::Serve;
use crate::page_support::Browser;
use crate::support::Project;

#[test]
fn a_question_of_an_agent_without_elicitation_is_on_the_page_with_its_context() {
    needs!("page-driver", "chromium", "python3");
    let project = Project::with_config(
        r#"
        [conversation.tools.hunks]
        source = "local"
        command = "python3 hunks.py {{tool}}"
        parameters = {}
        spawn = { stateful = true, io = "state" }
        "#,
    );
    project.write(
        "hunks.py",
        r#"
import json, sys
def say(**state): print(json.dumps(state), flush=True)
question = {"id": "stage", "text": "Stage this hunk?", "answer_type": {"Select": {"options": ["y", "n", "s\u202eplit"]}}}
hunk = "\n".join(["@@ -1,40 +1,40 @@"] + [f"+line {number}" for number in range(40)])
say(type="waiting", content=hunk, question=question)
say(type="stopped", result={"Ok": json.loads(sys.stdin.readline())["answer"]})
"#,
    );
    let serve = Serve::start(&project);
    let mut mcp = project.mcp(&["--max-block-secs", "0.2"]);
    let mut browser = Browser::open(&project, &serve);
    mcp.call("hunks", json!({"action": "spawn", "id": "h"}));
    browser.wait(".ask.question:has-text('Stage this hunk?')");
    let card = browser.evaluate("document.querySelector('.ask.question').innerText");
    let card = card.as_str().unwrap();
    for shown in [
        "h · hunks",
        "+line 0",
        "+line 20",
        "+line 39",
        "s\\u{202e}plit",
    ] {
        assert!(card.contains(shown), "{shown} in {card}");
    }
    // It is answered once all that it is about was shown.
    browser.click(".ask.question .more-lines");
    browser.click(".ask.question button:has-text('plit')");
    browser.wait_gone(".ask.question");
    let done = loop {
        let reply = mcp.call("await", json!({"all": ["h"]}));
        let completed = reply["structuredContent"]["completed"][0].clone();
        if completed.is_object() {
            break completed;
        }
    };
    assert_eq!(done["result"], "s\u{202e}plit");
    browser.has_no_problems();
}

#[test]
fn a_permission_card_shows_hostile_text_whole_and_as_text() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = serve.session(json!({}));
    let command = format!(
        "echo harmless{}rm -rf precious # \u{202e}sselmrah\u{202c} \u{200b}<img src=x onerror=\"window.taken=1\">\
         </pre><button class=\"yes\">Once</button>",
        "\n".repeat(301)
    );
    std::thread::scope(|scope| {
        scope.spawn(|| serve.call(&session, "shell", json!({"command": command})));
        let mut browser = Browser::open(&project, &serve);
        browser.wait(".ask:has-text('precious')");
        let card = browser.evaluate("document.querySelector('.ask').innerText");
        let card = card.as_str().unwrap();
        for shown in [
            "echo harmless",
            "[300 blank lines]",
            "rm -rf precious",
            "\\u{202e}sselmrah\\u{202c} \\u{200b}<img src=x",
        ] {
            assert!(card.contains(shown), "{shown} in {card}");
        }
        for hidden in ['\u{202e}', '\u{200b}'] {
            assert!(!card.contains(hidden), "{card}");
        }
        // The command is all on the screen, and none of it is a button.
        let height = browser.evaluate("document.querySelector('.ask .command').scrollHeight");
        assert!(height.as_u64().unwrap() < 600, "{height}");
        let yes = browser.evaluate("document.querySelectorAll('.ask .yes, .ask img').length");
        assert_eq!(yes, json!(1));
        assert_eq!(browser.evaluate("window.taken ?? null"), Value::Null);
        browser.has_no_problems();
        browser.click(".ask .no");
    });
}

/// Puts permissions for `echo one` and `echo two` before the person.
fn two_requests(browser: &mut Browser, serve: &Serve, asked: impl FnOnce(&mut Browser)) {
    let session = serve.session(json!({}));
    std::thread::scope(|scope| {
        let ask = |command: &'static str| {
            let session = &session;
            scope.spawn(move || serve.call(session, "shell", json!({"command": command})))
        };
        let one = ask("echo one");
        browser.wait(".ask:has-text('echo one')");
        let two = ask("echo two");
        browser.wait(".ask:has-text('echo two')");
        asked(browser);
        assert_eq!(one.join().unwrap(), json!("one\n"));
        // The second one is open still.
        let open = serve.get("/permissions").json();
        assert_eq!(open.as_array().unwrap().len(), 1, "{open}");
        browser.wait(".ask:has-text('echo two')");
        browser.press("p");
        browser.press("n");
        browser.press("Enter");
        two.join().unwrap();
    });
}

#[test]
fn a_double_press_never_answers_the_next_request() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let serve = Serve::start(&project);
    let mut browser = Browser::open(&project, &serve);
    two_requests(&mut browser, &serve, |browser| {
        browser.press("p");
        browser.press("y");
        browser.wait_gone(".ask:has-text('echo one')");
        browser.press("y");
        // The focus stays where the request was; a key continues from there.
        let focused = browser.evaluate("document.activeElement.textContent");
        assert_eq!(focused, json!("Needs you (1)"));
        browser.press("j");
        browser.until("document.activeElement.matches('.ask')");
    });
    two_requests(&mut browser, &serve, |browser| {
        browser.ask(json!({"command": "doubleClick", "selector": ".ask .yes"}));
        browser.wait_gone(".ask:has-text('echo one')");
    });
    browser.has_no_problems();
}

#[test]
fn six_requests_fit_grouped_by_session_and_are_counted_everywhere() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let serve = Serve::start(&project);
    let sessions = [serve.session(json!({})), serve.session(json!({}))];
    std::thread::scope(|scope| {
        for number in 0..6 {
            let (serve, session) = (&serve, &sessions[number % 2]);
            let command = format!(
                "cargo test -p crate-{number} --lib && make -j4 all --directory=/a/longer/path/{number} VERBOSE=1 CFLAGS='-O2 -g'"
            );
            scope.spawn(move || serve.call(session, "shell", json!({"command": command})));
        }
        let mut browser = Browser::open(&project, &serve);
        browser.look("light", 1440, 900);
        browser.until("document.querySelectorAll('.ask').length === 6");
        browser.until("document.querySelectorAll('.ask-group').length === 2");
        let hidden = browser.evaluate(
            "[...document.querySelectorAll('.ask')].filter((card) => {
                const [box, room] = [card.getBoundingClientRect(), document.getElementById('asks').getBoundingClientRect()];
                return box.top < room.top || box.bottom > room.bottom;
            }).length",
        );
        assert_eq!(hidden, json!(0), "all six are in sight");
        assert_eq!(browser.evaluate("document.title"), json!("(6) Windlass"));
        browser.until("document.querySelector('link[rel=icon]').href.startsWith('data:image/png')");
        browser.screenshot("requests-light.png");
        for request in serve.get("/permissions").json().as_array().unwrap() {
            let id = request["id"].as_str().unwrap();
            serve.post(&format!("/permissions/{id}"), json!({"reply": "reject"}));
        }
        browser.until("document.title === 'Windlass'");
        browser.until("document.querySelector('link[rel=icon]').href.endsWith('/assets/icon.svg')");
        browser.has_no_problems();
    });
}

#[test]
fn a_long_request_is_not_granted_before_all_of_it_was_shown() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = serve.session(json!({}));
    let command = format!("{}\nrm -rf precious", ["echo harmless"; 12].join("\n"));
    std::thread::scope(|scope| {
        let call = scope.spawn(|| serve.call(&session, "shell", json!({"command": command})));
        let mut browser = Browser::open(&project, &serve);
        browser.wait(".ask .more-lines:has-text('lines')");
        browser.click(".ask .yes");
        browser.wait(".ask .clipped.open");
        let open = serve.get("/permissions").json();
        assert_eq!(open.as_array().unwrap().len(), 1, "{open}");
        let cut = browser.evaluate("(() => { const shown = document.querySelector('.ask .request'); return shown.scrollHeight - shown.clientHeight; })()");
        assert_eq!(cut, json!(0));
        browser.click(".ask .yes");
        browser.wait_gone(".ask");
        assert!(call.join().unwrap().as_str().unwrap().contains("harmless"));
        browser.has_no_problems();
    });
}

#[test]
fn the_desktop_tells_of_a_request_where_that_is_allowed() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = serve.session(json!({}));
    let mut browser = Browser::start(&project);
    browser.ask(json!({"command": "allow", "permissions": ["notifications"]}));
    browser.follow_link(&serve);
    // The test stores the notifications that the browser would show; the page is hidden.
    browser.evaluate(
        "(() => {
            window.shown = [];
            window.Notification = class {
                static permission = 'granted';
                constructor(title, { body }) { window.shown.push([title, body]); }
                addEventListener() {}
            };
            document.hasFocus = () => false;
        })()",
    );
    std::thread::scope(|scope| {
        scope.spawn(|| {
            serve.call(
                &session,
                "shell",
                json!({"command": "echo look\u{202e} here"}),
            )
        });
        browser.wait(".ask");
        browser.until("window.shown.length === 1");
        let shown = browser.evaluate("window.shown[0]");
        assert!(shown[0].as_str().unwrap().contains("shell"), "{shown}");
        assert!(
            shown[1]
                .as_str()
                .unwrap()
                .contains("echo look\\u{202e} here"),
            "{shown}"
        );
        browser.click(".ask .no");
        browser.wait_gone(".ask");
    });
    browser.has_no_problems();
}
