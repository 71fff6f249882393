//! Taking handles over on the page: sizes, handles without a terminal, and
//! browsers that go away.

use serde_json::{Value, json};
use windlass_outside::needs;

use crate::http_support::Serve;
use crate::page_support::Browser;
use crate::support::{Project, eventually};

fn cat(id: &str, terminal: bool) -> Value {
    json!({"action": "spawn", "id": id, "command": "cat", "terminal": terminal})
}

/// A server with one handle of `cat`; returns the path of its session.
fn serve_cat(project: &Project, terminal: bool) -> (Serve, String) {
    let serve = Serve::start(project);
    let session = serve.session(json!({"trusted": true}));
    serve.call(&session, "shell", cat("kitty", terminal));
    (serve, session)
}

fn is_locked(serve: &Serve, session: &str) -> bool {
    serve.get(&format!("{session}/handles/kitty")).json()["locked"] == json!(true)
}

#[test]
fn the_lock_of_a_killed_browser_is_freed_when_its_stream_breaks() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let (serve, session) = serve_cat(&project, true);
    let mut browser = Browser::open(&project, &serve);
    browser.click(".handle:has-text('kitty')");
    browser.click("#takeover");
    browser.wait(".keyboard");
    // Typed text goes through after the stream has been moved for the lock.
    browser.type_text("hello");
    browser.until_row("hello");
    assert!(is_locked(&serve, &session));
    browser.ask(json!({"command": "crash"}));
    drop(browser);
    eventually("the lock is freed", || !is_locked(&serve, &session));
}

#[test]
fn the_lock_of_a_browser_on_another_runtimes_handle_is_freed_too() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let serve = Serve::start(&project);
    let mut drive = project.drive();
    drive.send(&json!([{"tool": "shell", "arguments": cat("kitty", true)}]));
    drive.next();
    let mut browser = Browser::open(&project, &serve);
    browser.click(".handle:has-text('kitty')");
    browser.click("#takeover");
    browser.wait(".keyboard");
    browser.type_text("hello");
    browser.until_row("hello");
    let sessions = serve.get("/sessions").json();
    let session = format!("/sessions/{}", sessions[0]["id"].as_str().unwrap());
    assert!(is_locked(&serve, &session));
    browser.ask(json!({"command": "crash"}));
    drop(browser);
    eventually("the lock is freed", || !is_locked(&serve, &session));
}

#[test]
fn a_handle_that_somebody_has_can_be_taken_anyway() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let (serve, session) = serve_cat(&project, true);
    let path = format!("{session}/handles/kitty");
    let first = serve.post(&format!("{path}/lock"), json!({})).json()["lock"].clone();
    let mut browser = Browser::open(&project, &serve);
    browser.click(".handle:has-text('kitty')");
    browser.wait("#takeover:has-text('Take it anyway')");
    // The key only takes what is free.
    browser.press("t");
    browser.click("#takeover");
    browser.wait(".keyboard");
    browser.type_text("mine now");
    browser.until_row("mine now");
    let typing = json!({"typing": {"input": "no"}, "lock": first});
    let refused = serve.post(&format!("{path}/input"), typing);
    assert_eq!(refused.status, 409, "{refused:?}");
    browser.press("Control+]");
    eventually("it is handed back", || !is_locked(&serve, &session));
    browser.has_no_problems();
}

/// Streams that are opened from now on tell late that a lock was freed: when the page has its own.
const LATE_UNLOCKS: &str = "(() => {
    const { fetch } = window;
    const hold = async (chunk, controller) => {
        const isLate = new TextDecoder().decode(chunk).includes('\"unlocked\"');
        const isMine = () => document.querySelector('#takeover').textContent === 'Hand back';
        while (isLate && !isMine()) await new Promise((done) => setTimeout(done, 10));
        controller.enqueue(chunk);
        window.wasLate ||= isLate;
    };
    window.fetch = async (path, options) => {
        const response = await fetch(path, options);
        if (!path.startsWith('/api/v1/events')) return response;
        return new Response(response.body.pipeThrough(new TransformStream({ transform: hold })), response);
    };
})()";

#[test]
fn a_lock_that_was_taken_from_somebody_stays_when_its_end_is_heard_late() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let (serve, session) = serve_cat(&project, true);
    let path = format!("{session}/handles/kitty");
    serve.post(&format!("{path}/lock"), json!({}));
    let mut browser = Browser::open(&project, &serve);
    browser.evaluate(LATE_UNLOCKS);
    browser.click(".handle:has-text('kitty')");
    browser.wait("#takeover:has-text('Take it anyway')");
    browser.click("#takeover");
    browser.until("window.wasLate === true");
    browser.wait("#takeover:has-text('Hand back')");
    browser.type_text("mine now");
    browser.until_row("mine now");
    // The page shows that another client has taken it over.
    serve.post(&format!("{path}/lock"), json!({"anyway": true}));
    browser.wait("#takeover:has-text('Take it anyway')");
    browser.has_no_problems();
}

#[test]
fn a_page_that_loses_its_lock_says_so() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let (serve, session) = serve_cat(&project, true);
    let mut browser = Browser::open(&project, &serve);
    browser.click(".handle:has-text('kitty')");
    browser.click("#takeover");
    browser.wait(".keyboard");
    let path = format!("{session}/handles/kitty/lock");
    let taken = serve.post(&path, json!({"anyway": true}));
    assert_eq!(taken.status, 200, "{taken:?}");
    browser.wait_gone(".keyboard");
    browser.wait("#takeover:has-text('Take it anyway')");
    browser.has_no_problems();
}

#[test]
pub(crate) fn handing_back_restores_the_size() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let (serve, session) = serve_cat(&project, true);
    let size = || {
        let screen = serve.get(&format!("{session}/handles/kitty/screen")).json();
        (screen["rows"].clone(), screen["cols"].clone())
    };
    let before = size();
    let mut browser = Browser::open(&project, &serve);
    browser.click(".handle:has-text('kitty')");
    browser.click("#takeover");
    browser.wait(".keyboard");
    browser.click(".fit");
    eventually("the terminal fits the window", || size() != before);
    browser.click("#takeover");
    eventually("the terminal has its size again", || size() == before);
    browser.has_no_problems();
}

#[test]
fn without_a_terminal_the_field_has_the_focus_and_a_key_hands_back() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let (serve, session) = serve_cat(&project, false);
    let mut browser = Browser::open(&project, &serve);
    browser.click(".handle:has-text('kitty')");
    browser.wait(".log-view");
    browser.press("t");
    browser.until("document.activeElement.closest('.type-line') !== null");
    browser.type_text("said by hand");
    browser.press("Enter");
    browser.wait(".log-lines:has-text('said by hand')");
    browser.press("Control+]");
    eventually("it is handed back", || !is_locked(&serve, &session));
    browser.wait_gone(".type-line");
    browser.has_no_problems();
}

#[test]
fn an_armed_end_button_belongs_to_its_handle() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let (serve, session) = serve_cat(&project, true);
    serve.call(&session, "shell", cat("puppy", true));
    let mut browser = Browser::open(&project, &serve);
    browser.click(".handle:has-text('kitty')");
    browser.wait(".grid[aria-label='Screen of kitty']");
    browser.click("#abort");
    browser.wait("#abort:has-text('all it started')");
    browser.click(".handle:has-text('puppy')");
    browser.wait(".grid[aria-label='Screen of puppy']");
    browser.click("#abort");
    // This press only armed it. Another ends this handle, and no other.
    browser.wait("#abort:has-text('all it started')");
    browser.click("#abort");
    browser.wait(".handle:has-text('puppy') .dot[data-state=failed]");
    let kitty = serve.get(&format!("{session}/handles/kitty")).json();
    assert_eq!(kitty["state"], json!("running"));
    browser.has_no_problems();
}
