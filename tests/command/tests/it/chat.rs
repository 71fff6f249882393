//! `windlass chat` as a person uses it: on a real terminal, with a scripted
//! model.

use serde_json::json;
use windlass_outside::model::Turn;

use crate::query::asked;
use crate::query_terminal::{Sitting, sit_at};

/// A chat with nothing said yet.
async fn chat(turns: impl IntoIterator<Item = Turn>) -> Sitting {
    let asked = asked("unattended", turns).await;
    let binary = asked.project.windlass(&["chat"]);
    let sitting = sit_at(asked, binary);
    sitting.until(is_idle).await;
    sitting
}

/// No turn is under way, and nothing of the next message is written.
fn is_idle(rows: &str) -> bool {
    rows.ends_with('›')
}

fn spawn(id: &str, command: &str) -> Turn {
    let arguments = json!({"action": "spawn", "id": id, "command": command, "terminal": true});
    Turn::calls([("shell", arguments)])
}

#[tokio::test(flavor = "multi_thread")]
async fn handles_live_between_messages_and_the_conversation_is_taken_up_again() {
    let wait = "until [ -e go ]; do sleep 0.05; done; echo built";
    let turns = [
        spawn("web", "echo ready; cat"),
        Turn::text("It runs."),
        Turn::calls([("shell", json!({ "command": wait }))]),
        Turn::text("Built."),
        Turn::text("Welcome back."),
    ];
    let sitting = chat(turns).await;

    // A server in the first message.
    sitting.press("start the server\r");
    let rows = sitting
        .until(|rows| rows.contains("It runs.") && is_idle(rows))
        .await;
    assert!(rows.contains("› start the server"), "{rows}");
    assert!(rows.contains("● web (shell)"), "{rows}");

    // Words during a build in the second.
    sitting.press("build it\r");
    sitting.until(|rows| rows.contains("shell until")).await;
    sitting.press("with fewer jobs\r");
    sitting
        .until(|rows| rows.contains("› with fewer jobs") && rows.ends_with('»'))
        .await;
    sitting.press("unsent");
    sitting.until(|rows| rows.ends_with("» unsent")).await;
    sitting.asked.project.write("go", "");
    let rows = sitting
        .until(|rows| rows.contains("Built.") && rows.ends_with("› unsent"))
        .await;
    assert!(rows.contains("✓ shell until"), "{rows}");
    let body = sitting.asked.server.seen().last().unwrap().body.to_string();
    assert!(
        body.contains("with fewer jobs") && body.contains("built"),
        "{body}"
    );

    // The server's own terminal.
    sitting.press("\x03/attach web\r");
    let rows = sitting.until(|rows| rows.contains("Ctrl-] leaves")).await;
    assert!(rows.starts_with("ready"), "{rows}");
    sitting.press("hello\r");
    sitting.until(|rows| rows.contains("hello\nhello")).await;
    sitting.press("\x1d");
    sitting
        .until(|rows| rows.contains("Detached from `web`") && is_idle(rows))
        .await;

    // Leaving lists the handles that it ends.
    sitting.press("\x04");
    sitting
        .until(|rows| rows.contains("still running: web (shell)") && is_idle(rows))
        .await;
    sitting.press("\x04");
    let (exit, rows) = sitting.ends().await;
    assert_eq!(exit, Some(0), "{rows}");
    assert!(rows.contains("ended: web (shell)"), "{rows}");
    assert!(
        rows.contains("to continue: windlass chat --session "),
        "{rows}"
    );

    // And it is taken up again.
    let Sitting { asked, .. } = sitting;
    let binary = asked.project.windlass(&["chat", "--continue"]);
    let sitting = sit_at(asked, binary);
    sitting.until(is_idle).await;
    sitting.press("and now?\r");
    sitting
        .until(|rows| rows.contains("Welcome back.") && is_idle(rows))
        .await;
    let body = sitting.asked.server.seen().last().unwrap().body.to_string();
    for said in [
        "start the server",
        "It runs.",
        "with fewer jobs",
        "and now?",
    ] {
        assert!(body.contains(said), "{said}: {body}");
    }
    sitting.press("\x04");
    assert_eq!(sitting.ends().await.0, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_begin_with_a_slash() {
    let sitting = chat([spawn("web", "echo up; cat"), Turn::text("Up.")]).await;
    sitting.press("/hlp\r");
    sitting
        .until(|rows| rows.contains("did you mean `/help`?"))
        .await;
    sitting.press("/ps\r");
    sitting
        .until(|rows| rows.contains("There are no handles; ask the model"))
        .await;
    sitting.press("go\r");
    sitting
        .until(|rows| rows.contains("Up.") && is_idle(rows))
        .await;
    sitting.press("/ps\r");
    sitting.until(|rows| rows.contains("LAST LINE")).await;
    sitting.press("/kill wbe\r");
    sitting
        .until(|rows| rows.contains("did you mean `web`?"))
        .await;
    sitting.press("/kill web\r");
    sitting.until(|rows| rows.contains("web: ended")).await;
    sitting.press("/model\r");
    sitting
        .until(|rows| rows.contains("the model is ollama/scripted"))
        .await;
    sitting.press("/quit\r");
    assert_eq!(sitting.ends().await.0, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_of_several_lines_is_written_pasted_and_found_again() {
    let sitting = chat([Turn::text("One."), Turn::text("Two.")]).await;
    sitting.press("first\x1b\rsecond");
    sitting
        .until(|rows| rows.ends_with("› first\n  second"))
        .await;
    sitting.press("\x1b[200~ pasted\rthird\x1b[201~");
    sitting
        .until(|rows| rows.ends_with("› first\n  second pasted\n  third"))
        .await;
    sitting.press("\r");
    sitting
        .until(|rows| rows.contains("One.") && is_idle(rows))
        .await;
    sitting.press("\x1b[A");
    sitting
        .until(|rows| rows.ends_with("› first\n  second pasted\n  third"))
        .await;
    sitting.press("\r");
    sitting
        .until(|rows| rows.contains("Two.") && is_idle(rows))
        .await;
    let body = &sitting.asked.server.seen()[1].body;
    let last = body["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(last["content"], "first\nsecond pasted\nthird");
    sitting.press("\x04");
    assert_eq!(sitting.ends().await.0, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_cannot_be_asked_does_not_end_the_chat() {
    let asked = asked("unattended", []).await;
    let binary = asked.project.windlass(&[
        "chat",
        "--set",
        "providers.llm.ollama.base_url=\"http://127.0.0.1:1\"",
    ]);
    let sitting = sit_at(asked, binary);
    sitting.until(is_idle).await;
    sitting.press("hello\r");
    let rows = sitting
        .until(|rows| rows.contains("is not running") && is_idle(rows))
        .await;
    assert!(rows.contains("another /model"), "{rows}");
    sitting.press("\x04");
    assert_eq!(sitting.ends().await.0, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn leaving_twice_leaves_whichever_way_it_is_said() {
    let sitting = chat([spawn("web", "echo up; cat"), Turn::text("Up.")]).await;
    sitting.press("go\r");
    sitting
        .until(|rows| rows.contains("Up.") && is_idle(rows))
        .await;
    sitting.press("/quit\r");
    sitting
        .until(|rows| rows.contains("still running: web (shell)") && is_idle(rows))
        .await;
    sitting.press("/quit\r");
    let (exit, rows) = sitting.ends().await;
    assert_eq!(exit, Some(0), "{rows}");
    assert!(rows.contains("ended: web (shell)"), "{rows}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kept_handle_outlives_the_chat_and_is_there_when_it_continues() {
    let arguments = json!({"action": "spawn", "id": "db", "command": "echo up; cat", "keep": true});
    let turns = [
        Turn::calls([("shell", arguments)]),
        Turn::text("Up."),
        Turn::text("Still up."),
    ];
    let asked = asked("unattended", turns).await;
    let own = asked.project.read_own();
    let keeps = "[conversation.tools.shell.spawn.lifecycle]\nkeepable_secs = 5400\n";
    asked.project.write_own(&format!("{own}{keeps}"));
    let binary = asked.project.windlass(&["chat"]);
    let sitting = sit_at(asked, binary);
    sitting.until(is_idle).await;
    sitting.press("go\r");
    sitting
        .until(|rows| rows.contains("Up.") && is_idle(rows))
        .await;
    // Nothing ends, so that one Ctrl-D is enough.
    sitting.press("\x04");
    let (exit, rows) = sitting.ends().await;
    assert_eq!(exit, Some(0), "{rows}");
    assert!(rows.contains("kept: db (shell) for 1h30m"), "{rows}");
    assert!(!rows.contains("ended"), "{rows}");

    let Sitting { asked, .. } = sitting;
    let binary = asked.project.windlass(&["chat", "--continue"]);
    let sitting = sit_at(asked, binary);
    sitting.until(|rows| rows.contains("● db (shell)")).await;
    sitting.press("/kill db\r");
    sitting.until(|rows| rows.contains("db: ended")).await;
    sitting.press("\x04");
    assert_eq!(sitting.ends().await.0, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_notified_of_changes_by_others_and_only_once() {
    let sitting = chat([
        spawn("web", "echo up; read word; exit 3"),
        Turn::text("Up."),
        Turn::text("I see."),
    ])
    .await;
    sitting.press("go\r");
    sitting
        .until(|rows| rows.contains("Up.") && is_idle(rows))
        .await;
    sitting.press("/attach web\r");
    sitting.until(|rows| rows.contains("Ctrl-] leaves")).await;
    sitting.press("x\x1d");
    let rows = sitting
        .until(|rows| rows.contains("Detached from `web`") && is_idle(rows))
        .await;
    assert!(!rows.contains("a person"), "{rows}");
    sitting.press("/attach web\r");
    sitting.until(|rows| rows.contains("Ctrl-] leaves")).await;
    sitting.press("\r");
    sitting
        .until(|rows| rows.contains("! `web` stopped") && is_idle(rows))
        .await;
    sitting.press("well?\r");
    let rows = sitting
        .until(|rows| rows.contains("I see.") && is_idle(rows))
        .await;
    assert_eq!(rows.matches("! `web` stopped").count(), 1, "{rows}");
    assert!(!rows.contains("fetch"), "{rows}");
    sitting.press("\x04");
    assert_eq!(sitting.ends().await.0, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_the_tools_of_a_turn_ends_no_handle_of_an_earlier_message() {
    let held = "echo begun; exec sleep 1000";
    let build = json!({"action": "spawn", "id": "build", "command": held});
    let turns = [
        spawn("web", "echo ready; cat"),
        Turn::text("It runs."),
        Turn::calls([("shell", build), ("shell", json!({ "command": held }))]),
        Turn::text("Stopped."),
    ];
    let sitting = chat(turns).await;
    sitting.press("start the server\r");
    sitting
        .until(|rows| rows.contains("It runs.") && is_idle(rows))
        .await;
    sitting.press("build it\r");
    sitting
        .until(|rows| rows.contains("● web (shell), build (shell)") && rows.contains("  begun"))
        .await;
    sitting.press("\x03");
    sitting.until(|rows| rows.contains("stop tools")).await;
    sitting.press("\x1b[B\x1b[B\r");
    let rows = sitting
        .until(|rows| rows.contains("Stopped.") && is_idle(rows))
        .await;
    assert!(rows.contains("● web (shell)\n"), "{rows}");
    let body = sitting.asked.server.seen().last().unwrap().body.to_string();
    assert!(
        body.contains("the user stopped every tool that this turn has started"),
        "{body}"
    );
    sitting.press("\x04");
    sitting
        .until(|rows| rows.contains("still running: web"))
        .await;
    sitting.press("\x04");
    assert_eq!(sitting.ends().await.0, Some(0));
}
