//! What terminals cost, in bytes of requests and replies.
//!
//! `cargo test terminals_cost -- --nocapture` prints the table.

use serde_json::json;
use windlass_outside::needs;

use crate::support::Project;
use crate::term_sitting::{Cost, SCREEN, Sitting, assert_ended_well};
use crate::{term_bash, term_git, term_programs, term_python, term_vim};

/// A session of another file, which gives what it has cost.
type Named = (&'static str, fn() -> Cost);

#[test]
fn terminals_cost_a_fraction_of_their_screens() {
    needs!(
        "git",
        "vim",
        "python3",
        "bash",
        "less",
        "gdb",
        "gcc",
        "top",
        "ssh-keygen",
        "whiptail"
    );
    let sessions: [Named; 12] = [
        ("git stage", term_git::staging),
        ("git rebase", term_git::rebase),
        ("python", term_python::session),
        ("bash", term_bash::session),
        ("vim", term_vim::edit),
        ("less", term_vim::page),
        ("gdb", term_programs::debug),
        ("top of one", term_programs::monitor),
        ("top of many", term_programs::monitor_many),
        ("password", term_programs::password),
        ("ssh-keygen", term_programs::keygen),
        ("menu", term_programs::menu),
    ];
    let mut full_screen = Cost::default();
    for (name, session) in sessions {
        let cost = session();
        println!("{name:<11} {cost}");
        if matches!(name, "vim" | "top of one") {
            assert!(cost.per_step() < SCREEN / 4, "{name}: {cost}");
        }
        if matches!(name, "vim" | "top of one" | "top of many") {
            full_screen.requests += cost.requests - 1;
            full_screen.later += cost.later;
        }
        assert!(cost.per_step() < SCREEN, "{name}: {cost}");
    }
    let average = full_screen.later / full_screen.requests;
    println!("vim and top {average} bytes a step after the first");
    assert!(average < SCREEN / 4, "{average} bytes a step");
}

#[test]
fn a_progress_bar_costs_its_last_form() {
    let project = Project::new();
    let mut sitting = Sitting::running(&project, "shell");
    let command = "i=0; while [ $i -lt 400 ]; do i=$((i+1)); \
                   printf '\\r[%-40s] %d of 400' \"$(printf '%*s' $((i/10)) '' | tr ' ' '#')\" $i; done; echo; echo over; read done";
    let spawned = sitting.act("spawn", json!({"command": command, "terminal": true}));
    assert_eq!(spawned["state"], json!("running"), "{spawned}");
    // However far the bar had come in the first reply, one fetch after its
    // end tells the rest.
    let until = json!([{"id": "it", "pattern": "^over"}]);
    let awaited = sitting.drive().content("await", json!({"until": until}));
    assert_eq!(awaited["matched"][0]["line"], json!("over"), "{awaited}");
    let before = sitting.cost().received;
    let fetched = sitting.act("fetch", json!({}));
    let cost = sitting.cost().received - before;
    println!("progress bar: {cost} bytes after its end");
    assert!(cost < 300, "{cost} bytes: {fetched}");
    assert_ended_well(&sitting.line(""));
}
