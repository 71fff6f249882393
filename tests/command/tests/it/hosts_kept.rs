//! Kept handles on a host: they outlive the near runtime as local ones do.

use std::fs;

use serde_json::{Value, json};
use windlass_outside::needs;

use crate::hosts::piped;
use crate::http_support::Serve;
use crate::kept::{act, spawn_kept, told};
use crate::processes::{VICTIMS, Victim};
use crate::support::{Drive, Project, eventually, lines_of};

/// The user lets `shell`, which runs on a host, keep handles for this long.
pub(crate) fn keeping(keepable_secs: u64) -> Project {
    Project::with_own_config(&format!(
        "{}[conversation.tools.shell.spawn.lifecycle]\nkeepable_secs = {keepable_secs}\n",
        piped(600)
    ))
}

/// A kept tree of processes on a host whose near runtime was killed.
struct Orphan {
    project: Project,
    victim: Victim,
}

impl Orphan {
    /// Keeps it for this long after the death of the runtime.
    fn kept_for(keepable_secs: u64) -> Self {
        let project = keeping(keepable_secs);
        let victim = Victim::new();
        let mut drive = project.drive_named("work");
        drive.run([spawn_kept("it", &victim.script())]);
        victim.wait_until_up();
        drive.kill();
        Self { project, victim }
    }

    /// The notices of the next session, which report its end.
    fn told(&self) -> Vec<String> {
        let mut drive = self.project.drive_named("work");
        let mut texts = Vec::new();
        eventually("the end is told", || {
            texts.extend(told(&mut drive));
            !texts.is_empty()
        });
        texts
    }
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
    let mut drive = project.drive_adopting("work");
    still_running(&mut drive, "dev");
    // What was read before is not told again.
    assert_eq!(act(&mut drive, "fetch", "dev")["content"], Value::Null);
    let apply = json!({"action": "apply", "id": "dev", "input": "hello"});
    assert_eq!(drive.content("shell", apply)["content"], "got hello\n");
    // The end of input leaves it too.
    drive.close_input();
    drive.wait();
    let mut drive = project.drive_adopting("work");
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
        drive = project.drive_adopting("work");
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
    let orphan = Orphan::kept_for(600);
    let Orphan { project, victim } = &orphan;
    let mut drive = project.drive_adopting("work");
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
fn eof_ends_a_kept_handle_on_a_host_after_a_take_over() {
    let project = keeping(600);
    let mut drive = project.drive_named("work");
    drive.run([spawn_kept("it", "cat; echo over")]);
    drive.kill();
    let mut drive = project.drive_named("work");
    let apply = json!({"action": "apply", "id": "it", "input": "last", "keys": ["eof"]});
    let stopped = drive.content("shell", apply);
    assert_eq!(stopped["result"], json!("last\nover\n"), "{stopped}");
}

#[test]
fn input_of_an_earlier_runtime_does_not_swallow_that_of_the_next() {
    let project = keeping(600);
    let mut drive = project.drive_named("work");
    let script = "until test -e go; do sleep 0.01; done; cat | tail -n 1";
    drive.run([spawn_kept("it", script)]);
    let apply = |input: &str| json!({"action": "apply", "id": "it", "input": input});
    drive.content("shell", apply(&lines_of(1..=70_000)));
    drive.kill();
    let mut drive = project.drive_named("work");
    drive.content("shell", apply("\na line of the next runtime"));
    project.write("go", "");
    let eof = json!({"action": "apply", "id": "it", "keys": ["eof"]});
    drive.content("shell", eof);
    let ended = drive.content("await", json!({"all": ["it"]}));
    assert_eq!(
        ended["completed"][0]["result"],
        json!("a line of the next runtime\n"),
        "{ended}"
    );
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
    let mut drive = project.drive_adopting("work");
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
    let orphan = Orphan::kept_for(600);
    let Orphan { project, victim } = &orphan;
    project.end_leases();
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
    let texts = orphan.told();
    let ended = format!("was ended when its lease was over: {VICTIMS} processes");
    assert!(texts.iter().any(|text| text.contains(&ended)), "{texts:?}");
    eventually("its files are gone", || project.kept_files().is_empty());
}

#[test]
fn kill_ends_a_handle_on_a_host_that_no_runtime_has() {
    let orphan = Orphan::kept_for(600);
    let Orphan { project, victim } = &orphan;

    let killed = project
        .windlass(&["kill", "it", "--json"])
        .output()
        .unwrap();
    let receipts: Value = serde_json::from_slice(&killed.stdout).unwrap();
    assert_eq!(receipts[0]["ended"], json!(VICTIMS), "{receipts}");
    assert_eq!(victim.alive(), Vec::<u32>::new());
    let again = project.windlass(&["kill", "it"]).output().unwrap();
    assert!(!again.status.success(), "it has ended");

    let texts = orphan.told();
    assert!(
        texts[0].contains(&format!("{VICTIMS} processes")),
        "{texts:?}"
    );
    eventually("its files are gone", || project.kept_files().is_empty());
}

#[test]
fn the_server_of_a_project_ends_its_held_handles_on_hosts() {
    let orphan = Orphan::kept_for(600);
    let Orphan { project, victim } = &orphan;

    let serve = Serve::start(project);
    let held = serve.get("/held").json();
    let name = held[0]["name"].as_str().unwrap();
    let receipt = serve.post(&format!("/held/{name}/end"), json!({}));
    assert_eq!(receipt.status, 200, "{receipt:?}");
    assert_eq!(receipt.json()["ended"], json!(VICTIMS));
    assert_eq!(victim.alive(), Vec::<u32>::new());
    let again = serve.post(&format!("/held/{name}/end"), json!({}));
    assert_eq!(again.status, 410, "{again:?}");
}

#[test]
fn kill_reports_a_host_that_cannot_be_reached() {
    let orphan = Orphan::kept_for(600);
    let Orphan { project, victim } = &orphan;

    let broken = "hosts.there.via=[\"false\"]";
    let killed = project
        .windlass(&["kill", "it", "--set", broken])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&killed.stdout).into_owned();
    assert_eq!(killed.status.code(), Some(1), "{said}");
    assert!(
        said.contains("cannot be reached") && said.contains("windlass hosts check"),
        "{said}"
    );
    project.end_leases();
    eventually("the host ends it after the lease", || {
        victim.alive().is_empty()
    });
}
