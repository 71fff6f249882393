//! Terminals on the page: the mouse, links, looks, searching and copying.

use serde_json::{Value, json};
use windlass_outside::needs;

use crate::http_support::Serve;
use crate::page_support::Browser;
use crate::support::{Project, eventually};

fn trusted(serve: &Serve) -> String {
    serve.session(json!({"trusted": true}))
}

fn spawn(serve: &Serve, session: &str, id: &str, command: &str) {
    let spawn = json!({"action": "spawn", "id": id, "command": command, "terminal": true});
    serve.call(session, "shell", spawn);
}

/// Reports every byte that it reads, with the mouse turned on.
const MOUSE: &str = r#"
import os, sys, tty
tty.setraw(0)
sys.stdout.write("\x1b[?1002h\x1b[?1006hready\r\n")
sys.stdout.flush()
while True:
    sys.stdout.write(repr(os.read(0, 100)) + "\r\n")
    sys.stdout.flush()
"#;

#[test]
fn the_mouse_and_the_wheel_reach_programs_that_ask_for_them() {
    needs!("page-driver", "chromium", "python3");
    let project = Project::new();
    project.write("mouse.py", MOUSE);
    let serve = Serve::start(&project);
    let session = trusted(&serve);
    spawn(&serve, &session, "mouse", "python3 mouse.py");
    let mut browser = Browser::open(&project, &serve);
    browser.click(".handle:has-text('mouse')");
    browser.until_row("ready");
    let mouse = |browser: &mut Browser, what: &str, delta: i32| {
        browser.ask(json!({"command": "mouse", "selector": ".grid", "x": 0.506, "y": 0.52, "what": what, "delta": delta}));
    };
    // Who has not taken it over moves no mouse in it.
    mouse(&mut browser, "click", 0);
    browser.click("#takeover");
    browser.wait(".keyboard");
    mouse(&mut browser, "click", 0);
    browser.until_row(r"\x1b[<0;41;13M");
    browser.until_row(r"\x1b[<0;41;13m");
    mouse(&mut browser, "wheel", 40);
    browser.until_row(r"\x1b[<65;41;13M");
    mouse(&mut browser, "wheel", -40);
    browser.until_row(r"\x1b[<64;41;13M");
    let screen = serve.get(&format!("{session}/handles/mouse/screen")).body;
    assert_eq!(screen.matches("[<0;41;13M").count(), 1, "{screen}");
    browser.has_no_problems();
}

/// Links that lead where a person may go, and those that must lead nowhere.
const LINKS: &str = "printf '\\033]8;;https://good.example/docs\\033\\\\\\\\good\\033]8;;\\033\\\\\\\\ \
    \\033]8;;javascript:window.taken=1\\033\\\\\\\\evil\\033]8;;\\033\\\\\\\\ \
    \\033]8;;https://bank.example@evil.example/\\033\\\\\\\\named\\033]8;;\\033\\\\\\\\\\nsee https://plain.example/x.\\n'; exec cat";

#[test]
fn a_link_shows_where_it_leads_and_opens_nothing_by_itself() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = trusted(&serve);
    spawn(
        &serve,
        &session,
        "links",
        &LINKS.replace("\\\\\\\\", "\\\\"),
    );
    let mut browser = Browser::open(&project, &serve);
    browser.click(".handle:has-text('links')");
    browser.until_row("see https://plain.example/x.");
    browser.click(".linked:has-text('good')");
    browser.wait("dialog.links a[href='https://good.example/docs'][target=_blank][rel='noopener noreferrer']");
    browser.wait("dialog.links strong:has-text('good.example')");
    browser.press("Escape");
    browser.wait_gone("dialog.links");
    for text in ["evil", "named"] {
        browser.click(&format!(".linked:has-text('{text}')"));
        browser.wait("dialog.links:has-text('not opened from here')");
        let anchors = browser.evaluate("document.querySelectorAll('dialog a').length");
        assert_eq!(anchors, json!(0), "{text}");
        browser.press("Escape");
        browser.wait_gone("dialog.links");
    }
    // An address in the text itself, by the mouse and by the list of all.
    browser.ask(json!({"command": "mouse", "selector": ".rows .row:nth-child(2)", "x": 0.15, "y": 0.5, "what": "click"}));
    browser.wait("dialog.links a[href='https://plain.example/x']");
    browser.press("Escape");
    browser.click(".terminal-tools button:has-text('Links')");
    browser.until("document.querySelectorAll('dialog.links li').length === 4");
    assert_eq!(browser.evaluate("window.taken ?? null"), Value::Null);
    browser.has_no_problems();
}

#[test]
fn past_rows_keep_their_colours_and_are_found_and_copied() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = trusted(&serve);
    let command = r"printf '\033[31mneedle in red\033[0m\n'; seq 300; exec cat";
    spawn(&serve, &session, "long", command);
    let mut browser = Browser::open(&project, &serve);
    browser.click(".handle:has-text('long')");
    browser.until_row("300");
    browser
        .until("document.querySelector('.past-lines .row .f-1')?.textContent === 'needle in red'");
    browser.press("s");
    browser.type_text("needle");
    browser.press("Enter");
    browser.wait(".past-lines .row.found.chosen");
    browser.wait(".finder :text('1 of 1')");
    browser.press("Escape");
    browser.wait_gone(".row.found");
    browser.ask(json!({"command": "allow", "permissions": ["clipboard-read", "clipboard-write"]}));
    browser.click(".terminal-tools .copy");
    browser.wait(".terminal-tools .copy:has-text('Copied')");
    let copied = browser.ask(json!({"command": "clipboard"}));
    assert!(copied.as_str().unwrap().ends_with("299\n300"), "{copied}");
    browser.has_no_problems();
}

#[test]
fn looks_of_text_and_cursor_are_drawn_as_the_program_wants() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = trusted(&serve);
    let text =
        "\x1b[4:3mwave\x1b[21mtwo\x1b[0m \u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}|\x1b[5 q";
    project.write("looks", text);
    spawn(&serve, &session, "looks", "cat looks; exec cat");
    let mut browser = Browser::open(&project, &serve);
    browser.click(".handle:has-text('looks')");
    browser.until_row("wave");
    let style = |text: &str| {
        format!(
            "getComputedStyle([...document.querySelectorAll('.rows .underline')].find(s => s.textContent === '{text}')).textDecorationStyle"
        )
    };
    assert_eq!(browser.evaluate(&style("wave")), json!("wavy"));
    assert_eq!(browser.evaluate(&style("two")), json!("double"));
    browser.wait(".cursor.bar.blinks");
    // A family is one picture, as wide as its members.
    let family = browser.evaluate("(() => { const wide = document.querySelector('.rows .wide'); return [wide.textContent, wide.style.width]; })()");
    assert_eq!(
        family,
        json!(["\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}", "6ch"])
    );
    browser.has_no_problems();
}

#[test]
fn a_fitted_terminal_is_fitted_again_when_the_window_changes() {
    needs!("page-driver", "chromium");
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = trusted(&serve);
    spawn(&serve, &session, "fit", "exec cat");
    let cols = || serve.get(&format!("{session}/handles/fit/screen")).json()["cols"].clone();
    let mut browser = Browser::open(&project, &serve);
    browser.look("light", 1280, 800);
    browser.click(".handle:has-text('fit')");
    browser.click("#takeover");
    browser.click(".fit");
    eventually("it fits the window", || cols() != json!(80));
    let wide = cols();
    browser.look("light", 1000, 800);
    eventually("it fits the smaller window", || {
        cols().as_u64() < wide.as_u64()
    });
    browser.press("Control+]");
    eventually("it has its own size again", || cols() == json!(80));
    browser.look("light", 1280, 800);
    browser.wait("#takeover:has-text('Take over')");
    assert_eq!(cols(), json!(80));
    browser.has_no_problems();
}
