//! "Needs you" on the page: what an agent's tools ask, and text that wants to
//! deceive whoever answers.

use serde_json::{Value, json};
use windlass_testing::needs;

use crate::http_support::Serve;
use crate::page_support::Browser;
use crate::support::Project;

#[test]
fn a_question_of_an_agent_that_can_ask_nobody_needs_you_with_its_context() {
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
