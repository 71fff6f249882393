//! Git on a terminal: hunks are staged and history is rewritten, and nothing
//! traps an assistant that did not ask for a terminal.

use serde_json::{Value, json};
use windlass_outside::needs;

use crate::support::Project;
use crate::term_sitting::{Cost, Sitting, assert_ended_well, assert_shows, numbers, outside, text};

fn git(project: &Project, args: &[&str]) -> String {
    outside(project, "git", args)
}

/// A repository without a commit.
pub(crate) fn repository() -> Project {
    let project = Project::new();
    git(&project, &["init", "-q", "."]);
    git(&project, &["config", "user.name", "Nobody"]);
    git(&project, &["config", "user.email", "nobody@example.org"]);
    // A message about the file that does not fit would want a key of its own.
    let editor = "vim -u NONE -i NONE --cmd 'set nocompatible shortmess=atT'";
    git(&project, &["config", "core.editor", editor]);
    git(
        &project,
        &["config", "core.excludesFile", ".windlass/ignored"],
    );
    project
}

/// Writes a file and commits it.
fn commit(project: &Project, name: &str, text: &str, message: &str) {
    project.write(name, text);
    git(project, &["add", name]);
    git(project, &["commit", "-q", "-m", message]);
}

/// Stages some of six hunks in three files; `y`, `n`, `s` and `q` are used.
pub(crate) fn staging() -> Cost {
    let project = repository();
    for name in ["a", "b", "c"] {
        commit(&project, name, &numbers(40), name);
    }
    let changed = numbers(40).replace("\n30\n", "\nthirty\n");
    project.write("a", &changed.replace("\n5\n", "\nfive\n"));
    project.write("b", &changed.replace("\n5\n", "\nfive\n"));
    // Two changes so near to each other are one hunk, which can be split.
    let near = changed.replace("\n5\n", "\nfive\n");
    project.write("c", &near.replace("\n7\n", "\nseven\n"));

    let (mut sitting, shown) = Sitting::with(&project, "git", json!({"command": "stage"}));
    assert_shows(&shown, "+five");
    assert_shows(&shown, "(1/2) Stage this hunk");
    assert_shows(&sitting.line("y"), "(2/2) Stage this hunk");
    assert_shows(&sitting.line("n"), "+++ b/b");
    assert_shows(&sitting.line("n"), "+thirty");
    assert_shows(&sitting.line("y"), "+++ b/c");
    assert_shows(&sitting.line("s"), "Split into 2 hunks");
    assert_shows(&sitting.line("n"), "+seven");
    assert_shows(&sitting.line("y"), "+thirty");
    assert_ended_well(&sitting.line("q"));

    let staged = git(&project, &["diff", "--cached", "-U0"]);
    let staged: Vec<&str> = staged
        .lines()
        .filter(|line| line.starts_with("+++") || !line.starts_with(['-', '@', 'd', 'i']))
        .collect();
    assert_eq!(
        staged,
        [
            "+++ b/a", "+five", "+++ b/b", "+thirty", "+++ b/c", "+seven"
        ]
    );
    sitting.up()
}

#[test]
fn hunks_are_staged_one_by_one() {
    needs!("git");
    staging();
}

#[test]
fn staging_goes_as_in_the_transcript() {
    needs!("git");
    let project = repository();
    commit(&project, "a", "one\n", "a");
    project.write("a", "two\n");
    let mut drive = project.drive();
    let mut step = |arguments: Value| drive.content("git", arguments);
    let spawned = step(json!({"action": "spawn", "id": "staging", "command": "stage"}));
    assert_eq!(spawned["id"], json!("staging"));
    assert_eq!(spawned["state"], json!("running"));
    let mut seen = text(&spawned);
    crate::support::eventually("git asks", || {
        let fetched = step(json!({"action": "fetch", "id": "staging"}));
        assert_eq!(fetched["state"], json!("running"), "{fetched}");
        seen.push_str(&text(&fetched));
        seen.contains("Stage this hunk")
    });
    let applied = step(json!({"action": "apply", "id": "staging", "input": "y"}));
    let stopped = if applied["state"] == json!("stopped") {
        applied
    } else {
        let awaited = drive.content("await", json!({"all": ["staging"]}));
        awaited["completed"][0].clone()
    };
    assert_ended_well(&stopped);
    assert_eq!(git(&project, &["show", ":a"]), "two\n");
}

/// Drops a commit and rewords another, in the editor that git opens.
pub(crate) fn rebase() -> Cost {
    let project = repository();
    for name in ["first", "second", "third"] {
        commit(&project, name, name, name);
    }
    let arguments = json!({"command": "rebase", "args": ["HEAD~2"]});
    let (mut sitting, shown) = Sitting::with(&project, "git", arguments);
    assert_shows(&shown, "pick");
    sitting.line(":1s/^pick/drop/");
    sitting.line(":2s/^pick/reword/");
    sitting.line(":wq");
    sitting.see("COMMIT_EDITMSG");
    sitting.line(":1s/.*/the third, reworded/");
    assert_ended_well(&sitting.leave(json!({"input": ":wq"})));
    let subjects = git(&project, &["log", "--format=%s"]);
    assert_eq!(subjects, "the third, reworded\nfirst\n");
    assert!(!project.root().join("second").exists());
    sitting.up()
}

#[test]
fn a_rebase_is_done_in_the_editor() {
    needs!("git", "vim");
    rebase();
}

#[test]
fn neither_pager_nor_editor_traps_a_call() {
    needs!("git", "vim");
    let project = repository();
    git(&project, &["config", "core.pager", "less -+F"]);
    for number in 0..40 {
        commit(&project, "a", &number.to_string(), &format!("no {number}"));
    }
    let mut drive = project.drive();
    let log = drive.content("git", json!({"command": "log"}));
    assert!(log.as_str().unwrap().contains("no 0"), "{log}");
    project.write("a", "changed");
    let diff = drive.content("git", json!({"command": "diff"}));
    assert!(diff.as_str().unwrap().contains("+changed"), "{diff}");
    git(&project, &["add", "a"]);
    let reason = drive.error("git", json!({"command": "commit"}));
    assert!(reason.contains("empty commit message"), "{reason}");
    let done = drive.content("git", json!({"command": "commit", "args": ["-m", "done"]}));
    assert!(done.as_str().unwrap().contains("done"), "{done}");
    // On a terminal the log is not paged either, so git exits.
    let shown = drive.content(
        "git",
        json!({"action": "spawn", "id": "log", "command": "log"}),
    );
    let ended = if shown["state"] == json!("stopped") {
        shown
    } else {
        drive.content("await", json!({"all": ["log"]}))["completed"][0].clone()
    };
    assert_ended_well(&ended);
}

#[test]
fn a_commit_is_made_when_the_editor_is_left() {
    needs!("git", "vim");
    let project = repository();
    commit(&project, "a", "0", "first");
    // As people have it: this one asks its terminal many things, and waits for answers.
    git(&project, &["config", "core.editor", "vim -i NONE"]);
    for number in 1..=4 {
        project.write("a", &number.to_string());
        git(&project, &["add", "a"]);
        let (mut sitting, shown) = Sitting::down(&project, "git commit -q");
        assert_shows(&shown, "Please enter the commit message");
        let message = format!("change {number}");
        sitting.apply(json!({"input": format!("i{message}"), "enter": false}));
        let typed = sitting.keys(&["esc"]);
        assert!(!text(&typed).contains("INSERT"), "{typed}");
        let left = sitting.act("apply", json!({"input": ":wq"}));
        assert_ended_well(&left);
        assert_eq!(git(&project, &["log", "-1", "--format=%s"]).trim(), message);
    }
}
