//! Kept handles on a host: they outlive the near runtime as local ones do.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use windlass::executors::{Launcher, LauncherOptions};
use windlass::host::{Host, HostOptions};
use windlass_output::OutputOptions;
use windlass_outside::needs;
use windlass_process::{Command, Exit, KeepOptions, Process, RemoteAdoption, RemoteHost, Stdin};

use crate::hosts::{WINDLASS, piped};
use crate::http_support::Serve;
use crate::kept::{act, spawn_kept, told};
use crate::processes::{VICTIMS, Victim};
use crate::support::{Drive, Project, eventually};

/// The user lets `shell`, which runs on a host, keep handles for this long.
pub(crate) fn keeping(keepable_secs: u64) -> Project {
    Project::with_own_config(&format!(
        "{}[conversation.tools.shell.spawn.lifecycle]\nkeepable_secs = {keepable_secs}\n",
        piped(2)
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
    let orphan = Orphan::kept_for(600);
    let Orphan { project, victim } = &orphan;
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
    let orphan = Orphan::kept_for(2);
    let Orphan { project, victim } = &orphan;
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
    let orphan = Orphan::kept_for(5);
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
    eventually("the host ends it after the lease", || {
        victim.alive().is_empty()
    });
}

/// A runtime's own link to a host whose state is in this folder.
fn link(folder: &Path) -> Host {
    let via = vec![WINDLASS.into(), "host".into()];
    let environment = [
        ("PATH".into(), std::env::var_os("PATH").unwrap()),
        ("XDG_STATE_HOME".into(), folder.into()),
    ];
    let options = HostOptions::new("there", via, folder);
    Host::new(options, Some(environment.to_vec())).unwrap()
}

/// Types a line to `cat`, and waits until it is printed.
async fn echo(process: &Process, line: &str) {
    process.write(format!("{line}\n").as_bytes()).unwrap();
    let mut changes = process.output().changes();
    let printed = async {
        while !process.output().read_all(1000).text.contains(line) {
            changes.changed().await.unwrap();
        }
    };
    let printed = tokio::time::timeout(Duration::from_secs(30), printed).await;
    printed.unwrap_or_else(|_| panic!("`{line}` is not printed: {:?}", process.exit()));
}

/// The folder of a link's programs on the far side.
fn far_folder(folder: &Path, host: &Host) -> PathBuf {
    let session = format!("{:032x}", u128::from_be_bytes(host.session()));
    folder.join("windlass/hosts").join(session)
}

/// The far end that has the lock of a session.
fn far_end(session: &Path) -> Pid {
    let pid = fs::read_to_string(session.join("lock")).unwrap();
    Pid::from_raw(pid.trim().parse().unwrap()).unwrap()
}

/// Kills the far end that has the lock of a session.
fn kill_far_end(session: &Path) {
    kill_process(far_end(session), Signal::KILL).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_arrives_once_through_deaths_of_the_far_end_that_does_not_log_it() {
    let folder = tempfile::tempdir().unwrap();
    let host = link(folder.path());
    let launcher = Launcher::new(LauncherOptions::default()).unwrap();
    let launcher = launcher.on_host(Arc::new(host.clone()));
    let flood = Command::new("seq")
        .args(["1", "3000000"])
        .output(OutputOptions {
            log: Some(folder.path().join("near.log")),
            ..OutputOptions::default()
        });
    let process = launcher.start(flood).await.unwrap();
    let session = far_folder(folder.path(), &host);
    let mut changes = process.output().changes();
    for megabytes in [5, 10, 15] {
        while process.output().position() < megabytes * 1_000_000 {
            changes.changed().await.unwrap();
        }
        if megabytes == 5 {
            assert!(!session.join("1.log").exists(), "it is not logged there");
        }
        kill_far_end(&session);
    }
    assert_eq!(process.wait().await, Exit::Code(0));
    let received = process.output().raw(0..process.output().position());
    let received = String::from_utf8(received).unwrap();
    assert!(received.ends_with("\n3000000\n"));
    let numbers = received.lines().map(|line| line.parse::<u32>().unwrap());
    assert!(numbers.eq(1..=3_000_000), "each line, once and in order");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_runtime_keeps_its_link_while_another_has_the_handle_that_it_left() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (link(folder.path()), link(folder.path()));
    let launcher = Launcher::new(LauncherOptions::default()).unwrap();
    let launcher = launcher.on_host(Arc::new(first.clone()));
    let cat = || Command::new("cat").stdin(Stdin::Pipe);
    let other = launcher.start(cat()).await.unwrap();
    let keep = KeepOptions {
        lease: Duration::from_mins(1),
        folder: folder.path().to_owned(),
        name: String::from("it"),
        output: OutputOptions::default(),
        registration: None,
    };
    let kept = launcher.start(cat().keep(keep)).await.unwrap();
    echo(&kept, "begun").await;
    let key = kept.held_key().unwrap().clone();
    kept.leave().await;
    drop(kept);
    let left = far_folder(folder.path(), &first);
    let serving = far_end(&left);
    let adoption = RemoteAdoption {
        wants_output: true,
        ..RemoteAdoption::to_end(key)
    };
    let adopted = second.adopt(adoption).await.unwrap();
    assert!(adopted.output().read_all(1000).text.contains("begun"));
    echo(&other, "the link is the same").await;
    assert_eq!(far_end(&left), serving);
    let holding = far_end(&far_folder(folder.path(), &second));
    kill_far_end(&left);
    echo(&other, "a new link resumes it").await;
    let more = launcher.start(Command::new("true")).await.unwrap();
    assert_eq!(more.wait().await, Exit::Code(0));
    echo(&adopted, "nobody took it back").await;
    assert_eq!(far_end(&far_folder(folder.path(), &second)), holding);
    adopted.end(Duration::from_secs(2)).await;
    other.end(Duration::from_secs(2)).await;
}
