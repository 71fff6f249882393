//! Thousands of calls on the page: filters, density, the slow and the failed.

use serde_json::{Value, json};
use windlass_outside::needs;

use crate::http_support::Serve;
use crate::page_support::Browser;
use crate::support::Project;

#[test]
fn thousands_of_calls_are_a_picture_with_the_failed_two_clicks_away() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = serve.session(json!({"trusted": true}));
    for batch in 0..3 {
        let call = |number| json!({"id": format!("c{number}"), "tool": format!("none_{}", number % 3), "arguments": {"number": batch * 1000 + number}});
        let calls: Vec<Value> = (0..1000).map(call).collect();
        let body = json!({"batch": format!("b{batch}"), "calls": calls});
        serve.post(&format!("{session}/calls"), body);
    }
    serve.call(&session, "shell", json!({"command": "echo fine"}));
    serve.call(
        &session,
        "shell",
        json!({"command": "sleep 0.3; echo slow"}),
    );
    let mut browser = Browser::open(&project, &serve);
    browser.click(".session-title");
    browser.click("#tab-timeline");
    browser.wait(".timeline-view :text('3002 calls')");
    // Rows are shared, and most calls are drawn as density.
    let rows = browser.evaluate("document.querySelectorAll('.timeline-row').length");
    assert!(rows.as_u64().unwrap() < 60, "{rows}");
    browser.wait(".density .dense.failed");
    let drawn = browser.evaluate("document.querySelectorAll('.timeline-picture *').length");
    assert!(drawn.as_u64().unwrap() < 20_000, "{drawn}");
    // The slow and the failed: one click lists them, another opens one.
    browser.click("#slowest");
    browser.click(".lane-list li:first-child button");
    browser.wait(".call-detail:has-text('echo slow')");
    browser.click("#only-failed");
    browser.wait(".timeline-view :text('3000 of 3002 calls')");
    browser.click(".lane-list li:first-child button");
    browser.wait(".call-detail:has-text('2999')");
    browser.click("#only-failed");
    browser.ask(json!({"command": "evaluate", "script":
        "(() => { const tool = document.querySelector('.timeline-view .by-tool'); tool.value = 'shell'; tool.dispatchEvent(new Event('change')); })()"}));
    browser.wait(".timeline-view :text('2 of 3002 calls')");
    // The list of calls has the same filters.
    browser.click("#tab-calls");
    browser.wait(".calls :text('3002 calls')");
    let choose = |class: &str, value: &str| {
        format!(
            "(() => {{ const choice = document.querySelector('.calls .{class}'); choice.value = '{value}'; choice.dispatchEvent(new Event('change')); }})()"
        )
    };
    browser.evaluate(&choose("by-state", "stopped"));
    browser.wait(".calls :text('2 of 3002 calls')");
    browser.evaluate(&choose("by-state", "failed"));
    browser.evaluate(&choose("by-tool", "none_1"));
    browser.wait(".calls :text('999 of 3002 calls')");
    browser.has_no_problems();
}
