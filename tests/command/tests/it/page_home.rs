//! The overview: what runs, what failed, how to connect an agent, and starting
//! things by hand; and the field for a token that is missing.

use serde_json::json;
use windlass_outside::needs;

use crate::http_support::Serve;
use crate::page_support::Browser;
use crate::support::Project;

#[test]
fn the_first_run_says_how_to_connect_an_agent() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let serve = Serve::start(&project);
    let mut browser = Browser::open(&project, &serve);
    browser.ask(json!({"command": "allow", "permissions": ["clipboard-read", "clipboard-write"]}));
    browser.wait(".guide[open] pre:has-text('windlass mcp install claude')");
    browser.click(".guide .copy >> nth=0");
    browser.wait(".guide .copy:has-text('Copied')");
    let copied = browser.ask(json!({"command": "clipboard"}));
    assert_eq!(copied, json!("windlass mcp install claude"));
    // The token is in the copy of the other command, and never on the page.
    browser.click(".guide .copy >> nth=1");
    browser.until("document.querySelectorAll('.guide .copy')[1].textContent === 'Copied'");
    let copied = browser.ask(json!({"command": "clipboard"}));
    assert!(copied.as_str().unwrap().contains(&serve.token), "{copied}");
    let shown = browser.evaluate("document.documentElement.outerHTML");
    assert!(!shown.as_str().unwrap().contains(&serve.token));
    browser.has_no_problems();
}

#[test]
fn the_overview_shows_live_terminals_of_all_sessions_and_what_failed() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let serve = Serve::start(&project);
    let spawn = |id: &str| json!({"action": "spawn", "id": id, "command": "echo live; exec cat", "terminal": true});
    for id in ["one", "two"] {
        let session = serve.session(json!({"trusted": true}));
        serve.call(&session, "shell", spawn(id));
        serve.call(
            &session,
            "shell",
            json!({"command": format!("echo said by {id}")}),
        );
        serve.call(&session, "no_such_tool", json!({"who": id}));
    }
    let mut browser = Browser::open(&project, &serve);
    browser.until("document.querySelectorAll('.tile[data-generation]').length === 2");
    browser.wait(".home h2:has-text('The last hour: 6 calls, 2 failed')");
    browser.wait(".recent .call:has-text('echo said by two')");
    browser.click(".home .chip:has-text('Failed')");
    browser.until("document.querySelectorAll('.recent .call').length === 2");
    // A failed call is two clicks away, with all of its arguments.
    browser.click(".recent .call:has-text('who: one')");
    browser.wait(".call-detail:has-text('no_such_tool')");
    browser.click("#home");
    browser.click(".tile[data-handle=two]");
    browser.until_row("live");
    browser.press("h");
    browser.wait(".tile[data-handle=one]");
    browser.has_no_problems();
}

/// The right end of the widest row of pictures, and the width that there is.
const EDGES: &str = "(() => { const list = document.querySelector('.wall'); const left = list.getBoundingClientRect().left; const ends = [...list.querySelectorAll('.tile')].map((tile) => tile.getBoundingClientRect().right - left); return [Math.max(...ends), list.clientWidth]; })()";

#[test]
fn terminals_fill_the_width_and_names_are_not_cut() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = serve.session(json!({"trusted": true}));
    for id in ["development-server", "two", "three"] {
        let spawn = json!({"action": "spawn", "id": id, "command": "echo live; exec cat", "terminal": true});
        serve.call(&session, "shell", spawn);
    }
    let mut browser = Browser::open(&project, &serve);
    browser.until("document.querySelectorAll('.tile[data-generation]').length === 3");
    for (width, height) in [(1440, 900), (1024, 768), (390, 844)] {
        browser.look("light", width, height);
        for size in ["small", "middle", "large"] {
            browser.click(&format!(".home .chip:text-is('{size}')"));
            // Of a whole number of pictures at most some pixels remain, unless
            // letters would be larger than those of the terminal itself.
            browser.until(&format!(
                "(() => {{ const [end, room] = {EDGES}; const canvas = document.querySelector('.tile canvas'); return end <= room + 1 && (room - end < 24 || canvas.clientWidth > 620); }})()"
            ));
        }
        browser.click(".tile[data-handle=development-server]");
        browser.until("(() => { const name = document.querySelector('.view-head h2'); return name.textContent === 'development-server' && name.scrollWidth <= name.clientWidth; })()");
        browser.press("h");
        browser.wait(".tile[data-handle=three]");
    }
    browser.has_no_problems();
}

#[test]
fn a_terminal_is_started_and_typed_into() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let serve = Serve::start(&project);
    let mut browser = Browser::open(&project, &serve);
    browser.click("#start-terminal");
    browser.press("Enter");
    browser.wait(".keyboard");
    browser.type_text("echo $((6 * 7))");
    browser.press("Enter");
    browser.until_row("42");
    browser.has_no_problems();
}

#[test]
fn a_tool_is_started_by_a_form_made_from_its_schema() {
    needs!("page-driver", "chromium");
    let project = Project::with_config(
        r#"
        [conversation.tools.greet]
        source = "local"
        command = "echo {{tool.arguments.greeting}} {{tool.arguments.who}} {{tool.arguments.times}}"
        [conversation.tools.greet.parameters.who]
        type = "string"
        required = true
        [conversation.tools.greet.parameters.greeting]
        type = "string"
        enum = ["hello", "goodbye"]
        default = "hello"
        [conversation.tools.greet.parameters.times]
        type = "integer"
        default = 1
        "#,
    );
    let serve = Serve::start(&project);
    let mut browser = Browser::open(&project, &serve);
    browser.click("#start-tool");
    browser.wait("dialog.start #tool-choice");
    browser.evaluate("(() => { const choice = document.getElementById('tool-choice'); choice.value = 'greet'; choice.dispatchEvent(new Event('change')); })()");
    browser.wait(".field:has-text('who')");
    browser.click("dialog.start .yes");
    browser.wait("dialog.start .problem:has-text('who')");
    browser.fill(".field:has-text('who') textarea", "<b>world</b>");
    browser.click("dialog.start .yes");
    browser.wait_gone("dialog.start");
    browser.wait(".part:has-text('greet')");
    browser.click(".part:has-text('greet') summary");
    browser.wait(".part-body:has-text('hello <b>world</b> 1')");
    browser.has_no_problems();
}

#[test]
fn a_missing_token_can_be_pasted() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let serve = Serve::start(&project);
    serve.session(json!({}));
    let mut browser = Browser::start(&project);
    let (address, token) = (&serve.address, &serve.token);
    browser.goto(&format!("http://{address}/"));
    browser.until("document.activeElement.id === 'token-field'");
    browser.is_accessible("the field for the token");
    browser.type_text("too short");
    browser.press("Enter");
    browser.wait(".gate .problem:has-text('no token')");
    browser.fill("#token-field", &"A".repeat(43));
    browser.press("Enter");
    browser.wait(".gate:has-text('rejected this token')");
    browser.fill("#token-field", &format!("http://{address}/#token={token}"));
    browser.press("Enter");
    browser.wait("#connection[data-state=live]");
    browser.wait(".session");
    browser.wait_gone(".gate");
    let shown = browser.evaluate("location.href + document.documentElement.outerHTML");
    assert!(!shown.as_str().unwrap().contains(token.as_str()));
    browser.has_no_problems();
}
