//! Every view of the page, light and dark, as axe-core sees it.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use windlass_outside::needs;

use crate::http_support::Serve;
use crate::page_support::Browser;
use crate::support::Project;

#[test]
fn axe_finds_nothing_in_any_view_light_or_dark() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = serve.session(json!({"trusted": true}));
    let command = r"seq 60; printf '\033[1;31mred\033[0m \033[32mgreen\033[0m \033[90mgrey\033[0m \033]8;;https://a.example\033\\link\033]8;;\033\\\n'; exec cat";
    for (id, terminal) in [("term", true), ("text", false)] {
        let spawn = json!({"action": "spawn", "id": id, "command": command, "terminal": terminal});
        serve.call(&session, "shell", spawn);
    }
    serve.call(&session, "shell", json!({"command": "false"}));
    serve.call(&session, "none", json!({}));
    let asking = serve.session(json!({}));
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // A request is withdrawn when its client has waited for long enough.
        scope.spawn(|| {
            let call =
                json!([{"tool": "shell", "arguments": {"command": "echo asked", "cwd": "/"}}]);
            while !is_over.load(Ordering::Relaxed) {
                serve.post(&format!("{asking}/calls"), call.clone());
            }
        });
        let mut browser = Browser::open(&project, &serve);
        browser.wait(".ask:has-text('echo asked')");
        for scheme in ["light", "dark"] {
            browser.look(scheme, 1440, 900);
            views(&mut browser, scheme);
            browser.look(scheme, 390, 844);
            browser.press("h");
            browser.wait(".home");
            browser.is_accessible(&format!("overview, narrow, {scheme}"));
            browser.click("#menu");
            browser.wait("body.menu-open .ask");
            browser.is_accessible(&format!("menu, narrow, {scheme}"));
            browser.click("#menu");
        }
        browser.has_no_problems();
        is_over.store(true, Ordering::Relaxed);
        for request in serve.get("/permissions").json().as_array().unwrap() {
            let id = request["id"].as_str().unwrap();
            serve.post(&format!("/permissions/{id}"), json!({"reply": "reject"}));
        }
    });
}

fn views(browser: &mut Browser, scheme: &str) {
    browser.press("h");
    browser.wait(".tile[data-generation]");
    browser.is_accessible(&format!("overview, {scheme}"));
    browser.click("#start-tool");
    browser.wait("dialog.start .field");
    browser.is_accessible(&format!("form, {scheme}"));
    browser.press("Escape");
    browser.wait_gone("dialog.start");
    browser.click(".handle:has-text('term')");
    browser.until_row("red green grey link");
    browser.is_accessible(&format!("terminal, {scheme}"));
    browser.press("t");
    browser.wait(".keyboard");
    browser.is_accessible(&format!("taken over, {scheme}"));
    browser.press("Control+]");
    browser.wait_gone(".keyboard");
    browser.click(".terminal-tools button:has-text('Links')");
    browser.wait("dialog.links li");
    browser.is_accessible(&format!("links, {scheme}"));
    browser.press("Escape");
    browser.click(".handle:has-text('text')");
    browser.wait(".log-lines:has-text('60')");
    browser.is_accessible(&format!("log, {scheme}"));
    for (tab, shown) in [
        ("terminals", ".tile[data-generation]"),
        ("timeline", ".lane"),
        ("conversation", ".part"),
        ("calls", ".call"),
    ] {
        browser.click(&format!("#tab-{tab}"));
        browser.wait(shown);
        browser.is_accessible(&format!("{tab}, {scheme}"));
    }
    browser.press("?");
    browser.wait("dialog[open]");
    browser.is_accessible(&format!("keys, {scheme}"));
    browser.press("Escape");
}
