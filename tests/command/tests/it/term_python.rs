//! A Python REPL: statements, a traceback, and out of a loop with Ctrl-C.

use serde_json::json;
use windlass_outside::needs;

use crate::support::{Project, eventually};
use crate::term_sitting::{Cost, Sitting, assert_shows, text};

/// Ten statements, a traceback and a loop that is interrupted.
pub(crate) fn session() -> Cost {
    let project = Project::new();
    let (mut sitting, shown) = Sitting::down(&project, "python3 -q");
    assert_eq!(text(&shown), ">>> ");
    // What was typed is not told again.
    assert_eq!(text(&sitting.line("x = 20")), ">>> ");
    assert_eq!(text(&sitting.line("x + 1")), "21\n>>> ");
    sitting.line("def double(n):");
    sitting.line("    return 2 * n");
    assert_eq!(text(&sitting.line("")), ">>> ");
    assert_eq!(text(&sitting.line("double(x + 1)")), "42\n>>> ");
    sitting.line("import os");
    assert_eq!(
        text(&sitting.line("print('a', 'b', sep='\\n')")),
        "a\nb\n>>> "
    );
    let traceback = sitting.line("{}['missing']");
    assert_shows(&traceback, "Traceback (most recent call last):");
    assert_shows(&traceback, "KeyError: 'missing'");
    interrupt_a_loop(&mut sitting);
    sitting.line("words = [word.upper() for word in ('made', 'here')]");
    sitting.line("file = open('made', 'w')");
    sitting.line("_ = file.write(' '.join(words)); file.close()");
    assert_eq!(project.read("made"), "MADE HERE");
    let ended = sitting.line("exit()");
    assert_eq!(ended["state"], json!("stopped"), "{ended}");
    sitting.up()
}

/// The loop is running when Ctrl-C comes: it has written a file.
#[track_caller]
fn interrupt_a_loop(sitting: &mut Sitting) {
    sitting.line("while True: n = open('looping', 'w').close()");
    let looping = sitting.act("apply", json!({"input": ""}));
    assert_eq!(looping["state"], json!("running"));
    assert_eq!(looping.get("awaiting_input"), None, "{looping}");
    let interrupted = sitting.keys(&["ctrl-c"]);
    assert_shows(&interrupted, "KeyboardInterrupt");
    assert!(text(&interrupted).ends_with(">>> "), "{interrupted}");
}

#[test]
fn a_python_repl_is_talked_to() {
    needs!("python3");
    session();
}

#[test]
fn a_program_that_computes_is_not_at_a_prompt() {
    needs!("python3");
    let project = Project::new();
    let mut sitting = Sitting::running(&project, "shell");
    let shown = sitting.act(
        "spawn",
        json!({"command": "python3 -c 'while True: pass'", "terminal": true}),
    );
    assert_eq!(shown["state"], json!("running"));
    assert_eq!(shown.get("awaiting_input"), None, "{shown}");
    sitting.act("apply", json!({"keys": ["ctrl-c"]}));
    eventually("it has stopped", || {
        sitting.act("fetch", json!({}))["state"] == json!("stopped")
    });
}
