//! Conversations that are taken up again, with the handles that were kept of them: `query --continue` and `chat`.

use serde_json::{Value, json};
use windlass_outside::model::Turn;

use crate::query::{Asked, asked, replies};
use crate::query_terminal::sit_at;

async fn asked_with_keeping(turns: impl IntoIterator<Item = Turn>) -> Asked {
    let asked = asked("unattended", turns).await;
    let own = asked.project.read_own();
    let keeping = "[conversation.tools.shell.spawn.lifecycle]\nkeepable_secs = 600\n";
    asked.project.write_own(&format!("{own}{keeping}"));
    asked
}

fn shell(arguments: Value) -> Turn {
    Turn::calls([("shell", arguments)])
}

fn spawn(id: &str, keep: bool) -> Turn {
    let command = "echo ready; while read word; do echo \"got $word\"; done";
    shell(json!({"action": "spawn", "id": id, "command": command, "keep": keep}))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_continued_query_has_its_kept_handles() {
    let turns = [
        spawn("dev", true),
        Turn::text("It runs."),
        shell(json!({"action": "apply", "id": "dev", "input": "hello"})),
        shell(json!({"action": "abort", "id": "dev"})),
        Turn::text("Ended."),
    ];
    let asked = asked_with_keeping(turns).await;
    let run = asked.query(&["start", "it"], "");
    assert_eq!(run.code(), Some(0), "{}", run.stderr());
    assert!(
        run.stderr().contains("kept: dev (shell) for "),
        "{}",
        run.stderr()
    );
    assert!(!run.stderr().contains("ended"), "{}", run.stderr());
    assert_eq!(asked.project.kept_files().len(), 1);
    let run = asked.query(&["--continue", "use", "it"], "");
    assert_eq!(run.code(), Some(0), "{}", run.stderr());
    let replies = replies(&asked);
    let applied = &replies[replies.len() - 2];
    assert!(applied.contains("got hello"), "{replies:?}");
    let body = asked.server.seen().last().unwrap().body.to_string();
    assert!(
        body.contains("`dev`") && body.contains("still running"),
        "{body}"
    );
    assert!(
        replies[replies.len() - 1].contains("stopped"),
        "{replies:?}"
    );
    assert_eq!(asked.project.kept_files().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_continued_chat_has_its_kept_handles() {
    let turns = [
        spawn("dev", true),
        spawn("other", false),
        Turn::text("They run."),
        shell(json!({"action": "apply", "id": "dev", "input": "hello"})),
        Turn::text("It answered."),
    ];
    let asked = asked_with_keeping(turns).await;
    let binary = asked.project.windlass(&["chat", "start it"]);
    let sitting = sit_at(asked, binary);
    sitting
        .until(|rows| rows.contains("They run.") && rows.ends_with('›'))
        .await;
    // Leaving ends one of them, and only that is said.
    sitting.press("\x04");
    sitting
        .until(|rows| rows.contains("still running: other (shell); leaving ends it"))
        .await;
    sitting.press("\x04");
    let (exit, rows) = sitting.ends().await;
    assert_eq!(exit, Some(0), "{rows}");
    assert!(rows.contains("ended: other (shell)"), "{rows}");
    assert!(rows.contains("kept: dev (shell)"), "{rows}");

    let binary = sitting.asked.project.windlass(&["chat", "--continue"]);
    let sitting = sit_at(sitting.asked, binary);
    let rows = sitting.until(|rows| rows.ends_with('›')).await;
    assert!(rows.contains("● dev (shell)"), "{rows}");
    sitting.press("use it\r");
    sitting
        .until(|rows| rows.contains("It answered.") && rows.ends_with('›'))
        .await;
    let replies = replies(&sitting.asked);
    assert!(replies.last().unwrap().contains("got hello"), "{replies:?}");
    sitting.press("/kill dev\r");
    sitting.until(|rows| rows.contains("dev: ended")).await;
    sitting.press("\x04");
    assert_eq!(sitting.ends().await.0, Some(0));
    let project = &sitting.asked.project;
    let held = tokio::task::block_in_place(|| project.run(&["ps", "--held", "--json"], ""));
    let held = held.stdout();
    assert!(!held.contains(r#""standing": "held""#), "{held}");
}
