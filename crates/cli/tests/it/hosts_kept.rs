//! Kept handles on a host: they outlive the near runtime as local ones do.

use std::fs;

use serde_json::{Value, json};
use windlass_testing::needs;

use crate::hosts::piped;
use crate::kept::{act, spawn_kept, told};
use crate::processes::{VICTIMS, Victim};
use crate::support::{Drive, Project, eventually};

/// The user lets `shell`, which runs on a host, keep handles for this long.
fn keeping(keepable_secs: u64) -> Project {
    Project::with_own_config(&format!(
        "{}[conversation.tools.shell.spawn.lifecycle]\nkeepable_secs = {keepable_secs}\n",
        piped(2)
    ))
}

#[track_caller]
fn still_running(drive: &mut Drive, id: &str) {
    let told = told(drive);
    assert_eq!(told.len(), 1, "{told:?}");
    let is_told = told[0].contains(&format!("`{id}`")) && told[0].contains("still running");
    assert!(is_told, "{told:?}");
}

#[test]
fn the_next_session_continues_with_a_kept_handle_on_a_host() {
    let project = keeping(600);
    let mut drive = project.drive_named("work");
    let greets = "echo begun; read word; echo \"got $word\"; read word; echo \"bye $word\"";
    let reply = drive.run([spawn_kept("dev", greets)]);
    assert_eq!(
        reply["replies"][0]["content"]["content"], "begun\n",
        "{reply}"
    );
    assert!(
        reply["replies"][0]["content"].get("note").is_none(),
        "{reply}"
    );
    assert_eq!(project.kept_files().len(), 1);
    drive.kill();
    let mut drive = project.drive_named("work");
    still_running(&mut drive, "dev");
    // What was read before is not told again.
    assert_eq!(act(&mut drive, "fetch", "dev")["content"], Value::Null);
    let apply = json!({"action": "apply", "id": "dev", "input": "hello"});
    assert_eq!(drive.content("shell", apply)["content"], "got hello\n");
    // The end of input leaves it too.
    drive.close_input();
    drive.wait();
    let mut drive = project.drive_named("work");
    let apply = json!({"action": "apply", "id": "dev", "input": "now"});
    let last = drive.content("shell", apply);
    assert_eq!(
        (&last["state"], &last["result"]),
        (&json!("stopped"), &json!("bye now\n")),
        "{last}"
    );
    eventually("its files are gone", || project.kept_files().is_empty());
}

#[test]
fn numbered_output_survives_deaths_of_the_near_runtime() {
    let project = keeping(600);
    let mut drive = project.drive_named("work");
    let script =
        "for i in $(seq 1 60); do seq $((i * 1000)) $((i * 1000 + 999)); sleep 0.05; done; read x";
    drive.run([spawn_kept("it", script)]);
    for _ in 0..2 {
        drive.kill();
        drive = project.drive_named("work");
        still_running(&mut drive, "it");
    }
    let awaited = json!({"until": [{"id": "it", "pattern": "60999"}], "timeout_secs": 60});
    drive.content("await", awaited);
    let all = drive.content(
        "shell",
        json!({"action": "fetch", "id": "it", "view": "all"}),
    );
    assert_eq!(all["state"], json!("running"), "{all}");
    let lines: Vec<String> = (1000..=60_999).map(|number| number.to_string()).collect();
    let expected = lines.join("\n") + "\n";
    let logs = fs::read_dir(project.state_dir().join("logs"))
        .unwrap()
        .flatten();
    let files = logs.flat_map(|session| fs::read_dir(session.path()).unwrap().flatten());
    let texts = files.filter_map(|file| fs::read_to_string(file.path()).ok());
    assert!(texts.into_iter().any(|text| text == expected));
    let aborted = act(&mut drive, "abort", "it").to_string();
    assert!(
        aborted.contains("stopped") && aborted.contains("ended"),
        "{aborted}"
    );
}

#[test]
fn an_abort_after_a_take_over_is_verified_and_leaves_nothing() {
    let project = keeping(600);
    let victim = Victim::new();
    let mut drive = project.drive_named("work");
    drive.run([spawn_kept("it", &victim.script())]);
    victim.wait_until_up();
    drive.kill();
    let mut drive = project.drive_named("work");
    still_running(&mut drive, "it");
    let aborted = act(&mut drive, "abort", "it");
    assert_eq!(aborted["state"], json!("stopped"), "{aborted}");
    assert_eq!(victim.alive(), Vec::<u32>::new());
    drive.close_input();
    drive.wait();
    eventually("nothing leads to it any more", || {
        let near = fs::read_dir(project.state_dir().join("kept"));
        near.map_or(0, Iterator::count) == 0
    });
}

#[test]
fn a_terminal_on_a_host_is_drawn_again_for_the_next_runtime() {
    needs!("bash");
    let project = keeping(600);
    let mut drive = project.drive_named("work");
    let spawn = json!({
        "action": "spawn", "id": "it", "command": "exec bash --norc --noprofile", "terminal": true, "keep": true,
    });
    drive.content("shell", spawn);
    let apply = |input: &str| json!({"action": "apply", "id": "it", "input": input});
    let line = "PS1='ready> '; echo one $((1 + 1))";
    let said = drive.content("shell", apply(line)).to_string();
    assert!(said.contains("one 2"), "{said}");
    drive.kill();
    let mut drive = project.drive_named("work");
    still_running(&mut drive, "it");
    let fetch = json!({"action": "fetch", "id": "it", "view": "screen"});
    let screen = drive.content("shell", fetch).to_string();
    assert!(
        screen.contains("one 2") && screen.contains("ready>"),
        "{screen}"
    );
    let said = drive
        .content("shell", apply("echo three $((1 + 2))"))
        .to_string();
    assert!(said.contains("three 3"), "{said}");
    act(&mut drive, "abort", "it");
}

#[test]
fn the_end_of_a_lease_on_a_host_is_reported_with_its_receipt() {
    let project = keeping(2);
    let victim = Victim::new();
    let mut drive = project.drive_named("work");
    drive.run([spawn_kept("it", &victim.script())]);
    victim.wait_until_up();
    drive.kill();
    eventually("its lease is over and nothing is left", || {
        victim.alive().is_empty()
    });
    eventually("its receipt is there", || {
        let sessions = fs::read_dir(project.state_dir().join("hosts"))
            .unwrap()
            .flatten();
        let mut files = sessions.flat_map(|it| fs::read_dir(it.path()).unwrap().flatten());
        files.any(|file| file.path().extension().is_some_and(|it| it == "receipt"))
    });
    let mut drive = project.drive_named("work");
    let mut texts = Vec::new();
    eventually("the end is told", || {
        texts.extend(told(&mut drive));
        !texts.is_empty()
    });
    let ended = format!("was ended when its lease was over: {VICTIMS} processes");
    assert!(texts.iter().any(|text| text.contains(&ended)), "{texts:?}");
    eventually("its files are gone", || project.kept_files().is_empty());
}
