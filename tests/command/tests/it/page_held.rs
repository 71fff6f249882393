//! The page while servers die: two browsers go on where they were, and end what is held.

use serde_json::json;
use windlass_outside::needs;

use crate::http_support::Serve;
use crate::kept_serve::keeping;
use crate::page_support::Browser;
use crate::processes::Victim;

#[test]
fn two_browsers_continue_after_a_server_was_killed_and_end_what_is_held() {
    needs!("page-driver", "chromium");
    let project = keeping();
    let mut serve = Serve::start(&project);
    let session = serve.session(json!({"trusted": true}));
    let echoes = "echo ready; while read word; do echo \"got $word\"; done";
    let spawn =
        json!({"action": "spawn", "id": "dev", "command": echoes, "terminal": true, "keep": true});
    serve.call(&session, "shell", spawn);
    let mut one = Browser::open(&project, &serve);
    let mut other = Browser::beside(&one, &project);
    other.follow_link(&serve);
    for browser in [&mut one, &mut other] {
        browser.evaluate("window.sameDocument = true");
        browser.click(".handle:has-text('dev')");
        browser.until_row("ready");
    }
    one.click("#takeover");
    one.wait(".keyboard");
    other.wait(".handle:has-text('taken over')");
    one.type_text("one");
    one.press("Enter");
    other.until_row("got one");

    serve.kill();
    one.wait("#connection[data-state=gone]");
    let serve = Serve::start_at(&project, &serve.address);
    for browser in [&mut one, &mut other] {
        browser.wait("#connection[data-state=live]");
        browser.wait(".handle:has-text('dev') .dot[data-state=running]");
        browser.until_row("got one");
    }
    // The handle is still the first one's.
    one.wait(".keyboard");
    one.type_text("two");
    one.press("Enter");
    for browser in [&mut one, &mut other] {
        browser.until_row("got two");
        browser.until("window.sameDocument === true");
    }
    other.wait(".handle:has-text('taken over')");

    // Another runtime dies, and what it kept is listed and ended.
    let victim = Victim::new();
    let mut drive = project.lines(&["drive", "--session", "work"]);
    let mut spawn = crate::support::spawn("left", &victim.script());
    spawn["arguments"]["keep"] = json!(true);
    drive.run([spawn]);
    victim.wait_until_up();
    drive.kill();
    for browser in [&mut one, &mut other] {
        browser.wait(".held-handle:has-text('left') .left:has-text('left')");
    }
    one.screenshot("held.png");
    one.click(".held-handle:has-text('left') button");
    one.click(".held-handle:has-text('left') button:has-text('all it started')");
    for browser in [&mut one, &mut other] {
        browser.wait(".held-handle:has-text('left') .left:has-text('ended')");
        browser.has_no_problems();
    }
    assert_eq!(victim.alive(), [0; 0]);
    assert_eq!(serve.delete(&session).status, 204);
}
