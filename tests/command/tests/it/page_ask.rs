//! Asking a model on the page: a scripted one, with real tools.

use serde_json::{Value, json};
use windlass_outside::model::{Fault, Say, Turn};
use windlass_outside::needs;

use crate::http_support::Serve;
use crate::page_support::Browser;
use crate::query::{Asked, asked};
use crate::support::{Project, eventually};

/// Text that wants to be more than text, as a model may repeat it.
const NASTY: &str = "# Done\n\nIt is **done**, see `out.txt`:\n\n```sh\ncat out.txt\n```\n\n\
    <img src=x onerror=\"window.taken=1\"><script>window.taken=1</script>\n\
    [click](javascript:window.taken=1) and [docs](https://docs.example/x)\n\n- one\n- two\n";

fn open(asked: &Asked) -> (Serve, Browser) {
    tokio::task::block_in_place(|| {
        let serve = Serve::start(&asked.project);
        let browser = Browser::open(&asked.project, &serve);
        (serve, browser)
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_asks_a_model_grants_its_request_and_continues() {
    needs!("page-driver", "chromium");
    let turns = [
        Turn::new([
            Say::Text("I will write a file.".to_owned()),
            Say::call("shell", json!({"command": "echo made > out.txt"})),
        ]),
        Turn::text(NASTY),
        Turn::text("The second answer."),
    ];
    let asked = asked("ask", turns).await;
    let (serve, mut browser) = open(&asked);
    tokio::task::block_in_place(|| {
        browser.fill(".ask-box .ask-field", "make a file");
        browser.press("Enter");
        // Its request is in the same page, beside the conversation.
        browser.wait(".ask:has-text('echo made > out.txt')");
        browser.wait(".message.user:has-text('make a file')");
        browser.click(".ask .yes");
        browser.wait(".message.assistant .md-h1:has-text('Done')");
        assert_eq!(asked.project.read("out.txt"), "made\n");
        browser.wait(".message .code-block pre:has-text('cat out.txt')");
        browser.wait(".message .code-block .copy");
        browser.wait(".message .md-list li:has-text('two')");
        browser.wait(".message strong:has-text('done')");
        browser.wait(".message.assistant .part:has-text('echo made')");
        browser.is_accessible("a conversation");
        assert_eq!(browser.evaluate("window.taken ?? null"), Value::Null);
        let foreign = browser.evaluate(
            "document.querySelectorAll('.messages img, .messages script, .messages a').length",
        );
        assert_eq!(foreign, json!(0));
        browser.click(".md-link:has-text('docs')");
        browser.wait("dialog.links a[href='https://docs.example/x']");
        browser.press("Escape");
        // The same conversation continues, and nothing is shown twice.
        browser.fill(".ask-box .ask-field", "and now?");
        browser.press("Enter");
        browser.wait(".message:has-text('The second answer.')");
        browser.wait(".message.user:has-text('and now?')");
        browser.wait_gone(".pending");
        browser.until("document.querySelectorAll('.message.user').length === 2");
        let order = browser.evaluate(
            "[...document.querySelectorAll('.messages > .message')].map(it => it.classList[1]).join(' ')",
        );
        assert_eq!(order, json!("user assistant assistant user assistant"));
        browser.wait_gone(".conversation .more");
        let sessions = serve.get("/sessions").json();
        let asks = sessions
            .as_array()
            .unwrap()
            .iter()
            .filter(|session| session["front_end"] == json!("ask"));
        assert_eq!(asks.count(), 1, "{sessions}");
        browser.has_no_problems();
    });
    let seen = asked.server.seen();
    let last = seen.last().unwrap().body["messages"].to_string();
    assert!(
        last.contains("make a file") && last.contains("and now?"),
        "{last}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_interrupted() {
    needs!("page-driver", "chromium");
    let turns = [Turn::calls([(
        "shell",
        json!({"command": "echo begun > begun; sleep 1000"}),
    )])];
    let asked = asked("unattended", turns).await;
    let (_serve, mut browser) = open(&asked);
    tokio::task::block_in_place(|| {
        browser.fill(".ask-box .ask-field", "take your time");
        browser.press("Enter");
        browser.wait(".ask-box button:has-text('Stop tools')");
        eventually("the tool runs", || {
            asked.project.root().join("begun").exists()
        });
        browser.click(".ask-box button.no:has-text('Stop')");
        browser.wait_gone(".ask-box button:has-text('Stop tools')");
        browser.wait(".part .dot[data-state=failed]");
        browser.has_no_problems();
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_is_shown_as_it_grows() {
    needs!("page-driver", "chromium");
    let says = [
        Say::Text("The **beginning** ".to_owned()),
        Say::Text("x".repeat(5000)),
    ];
    let asked = asked("ask", [Turn::new(says).with(Fault::Hang(600))]).await;
    let (_serve, mut browser) = open(&asked);
    tokio::task::block_in_place(|| {
        browser.fill(".ask-box .ask-field", "tell me");
        browser.press("Enter");
        browser.wait(".pending strong:has-text('beginning')");
        browser.click(".ask-box button.no:has-text('Stop')");
        browser.wait(".messages .message.assistant strong:has-text('beginning')");
        browser.wait_gone(".pending");
        browser.has_no_problems();
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_fails_says_why() {
    needs!("page-driver", "chromium");
    let asked = asked("ask", [Turn::fault(Fault::status(400))]).await;
    let (_serve, mut browser) = open(&asked);
    tokio::task::block_in_place(|| {
        browser.fill(".ask-box .ask-field", "hello");
        browser.press("Enter");
        browser.wait(".ask-box .problem:has-text('400')");
        browser.wait(".message.user:has-text('hello')");
        browser.has_no_problems();
    });
}

#[test]
fn without_a_provider_the_page_says_what_to_set() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let serve = Serve::start(&project);
    let mut browser = Browser::open(&project, &serve);
    browser.wait(".ask-missing:has-text('No model is chosen')");
    browser.click(".ask-missing summary");
    browser.wait(".ask-missing li:has-text('ANTHROPIC_API_KEY')");
    browser.fill(".ask-box .ask-field", "hello");
    browser.press("Enter");
    browser.wait(".ask-box .problem:has-text('no model is chosen')");
    browser.fill(".ask-box .ask-model", "anthropic/some-model");
    browser.click(".ask-box .yes");
    browser.wait(".ask-box .problem:has-text('ANTHROPIC_API_KEY')");
    browser.has_no_problems();
}
