//! Lists and a conversation on terminals of 80, 120 and 200 columns, on our own
//! terminal.

use insta::assert_snapshot;
use windlass_outside::model::Turn;

use crate::query::asked;
use crate::query_terminal::{Sitting, sit_within};
use crate::terminal::TerminalSize;

const WIDTHS: [u16; 3] = [80, 120, 200];

async fn sit(args: &[&str], cols: u16, turns: Vec<Turn>) -> Sitting {
    let asked = asked("unattended", turns).await;
    let binary = asked.project.windlass(args);
    let size = TerminalSize { rows: 200, cols };
    sit_within(asked, binary, size)
}

/// No row breaks within a word. A heading may be as wide as the
/// terminal.
fn is_whole(rows: &str, cols: u16) -> bool {
    let rows: Vec<&str> = rows.lines().collect();
    rows.windows(2).all(|pair| {
        let is_full = pair[0].chars().count() >= usize::from(cols) && !pair[0].contains('…');
        let is_heading = pair[0] == pair[0].to_uppercase();
        !is_full || is_heading || pair[1].starts_with(' ')
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_have_the_width_of_the_terminal() {
    for cols in WIDTHS {
        for args in [
            &["sessions"][..],
            &["tools"],
            &["tools", "shell"],
            &["models", "--offline"],
            &["config", "show"],
            &["config", "show", "--changed"],
            &["config", "path"],
            &["hosts"],
            &["gain"],
        ] {
            let (exit, rows) = sit(args, cols, Vec::new()).await.ends().await;
            assert_eq!(exit, Some(0), "{args:?}\n{rows}");
            assert!(is_whole(&rows, cols), "{args:?} on {cols} columns:\n{rows}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_are_broken_between_words() {
    for args in [
        &["workers"][..],
        &["hosts", "check", "a-host-that-nobody-has-configured"],
        &["tools", "a-tool-that-nobody-has-configured-in-this-project"],
        &[
            "logs",
            "a-handle-that-nobody-has-started-in-any-session-so-far",
        ],
    ] {
        let (exit, rows) = sit(args, 80, Vec::new()).await.ends().await;
        assert_ne!(exit, Some(0), "{args:?}\n{rows}");
        assert!(is_whole(&rows, 80), "{args:?}:\n{rows}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_is_cut_to_eighty_columns_and_whole_on_more() {
    let gemini = async |cols| {
        let (_, rows) = sit(&["models", "--offline"], cols, Vec::new())
            .await
            .ends()
            .await;
        let mut rows = rows.lines().filter(|row| row.starts_with("gemini"));
        rows.next().unwrap().to_owned()
    };
    let narrow = "gemini      not set up  https://generativelang…  set GEMINI_API_KEY or GOOGLE_A…";
    let whole = "gemini      not set up  https://generativelanguage.googleapis.com  set GEMINI_API_KEY or GOOGLE_API_KEY";
    assert_eq!(gemini(80).await, narrow);
    assert_eq!(gemini(120).await, whole);
    assert_eq!(gemini(200).await, whole);
    let (_, rows) = sit(&["sessions"], 80, Vec::new()).await.ends().await;
    assert_snapshot!(rows, @"
    No sessions are recorded yet. `windlass chat`, `windlass query` and agents with
    `windlass mcp` record theirs.
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_has_the_width_of_the_terminal() {
    let said = "Every sentence of a conversation is broken between its words, whatever the width of the terminal is, \
        and a sentence that is longer than two hundred columns shows this on the widest of the terminals, too.";
    for cols in WIDTHS {
        let sitting = sit(&["chat"], cols, vec![Turn::text(said)]).await;
        sitting.until(|rows| rows.ends_with('›')).await;
        sitting.press("speak\r");
        let rows = sitting
            .until(|rows| rows.contains("too.") && rows.ends_with('›'))
            .await;
        assert!(is_whole(&rows, cols), "{cols} columns:\n{rows}");
        let longest = rows.lines().map(|row| row.chars().count()).max();
        // Text has at most a hundred columns, which is as wide as is read well.
        let expected = usize::from(cols.min(100)) - 20..=usize::from(cols);
        assert!(expected.contains(&longest.unwrap_or(0)), "{rows}");
        sitting.press("\x04");
        assert_eq!(sitting.ends().await.0, Some(0));
    }
}
