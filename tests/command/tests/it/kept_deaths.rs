//! Whatever dies, and whenever: every kept handle is running, stopped, ended with a receipt or lost, and nothing else runs.

use std::fs;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};
use windlass_outside::{needs, skip};

use crate::kept::{act, keeping_project, spawn_kept, told};
use crate::kept_support::settled;
use crate::processes::{VICTIMS, Victim, has_exited, kill, parent, signal};
use crate::programs::windlass;
use crate::support::{Drive, Project, call, eventually, spawn};

#[test]
fn the_end_of_a_lease_leaves_none_and_is_reported_once() {
    let project = keeping_project(1, 64);
    let mut drive = project.drive_named("work");
    let victims: Vec<Victim> = (0..9).map(|_| Victim::new()).collect();
    let spawns = victims.iter().enumerate();
    let spawns: Vec<Value> = spawns
        .map(|(number, victim)| spawn_kept(&format!("v{number}"), &victim.script()))
        .collect();
    drive.send(&json!(spawns));
    drive.next();
    for victim in &victims {
        victim.wait_until_up();
    }
    drive.kill();
    eventually("none of 63 is left", || {
        victims.iter().all(|victim| victim.alive().is_empty())
    });
    eventually("all receipts are there", || {
        let names = fs::read_dir(project.state_dir().join("kept")).unwrap();
        let names = names.map(|file| file.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(".receipt")).count() == 9
    });
    let mut drive = project.drive_adopting("work");
    let told_now = told(&mut drive);
    assert_eq!(told_now.len(), 9);
    let ended = format!("was ended when its lease was over: {VICTIMS} processes");
    assert!(
        told_now.iter().all(|text| text.contains(&ended)),
        "{told_now:?}"
    );
    drive.kill();
    let mut drive = project.drive_adopting("work");
    assert_eq!(told(&mut drive), [""; 0]);
    assert_eq!(
        fs::read_dir(project.state_dir().join("kept"))
            .unwrap()
            .count(),
        0
    );
}

#[test]
fn a_limit_that_is_exceeded_while_it_is_held_is_named() {
    let project = Project::with_own_config(
        "[conversation.tools.shell]\nlimits = { processes = 8 }\nspawn.lifecycle.keepable_secs = 600\n",
    );
    let mut drive = project.drive_named("work");
    let script =
        "until test -e go; do sleep 0.05; done; for i in $(seq 40); do sleep 600 & done; wait";
    let reply = drive.run([spawn_kept("bomb", script)]);
    assert_eq!(reply["replies"][0]["is_error"], false, "{reply}");
    drive.kill();
    project.write("go", "");
    eventually("its receipt is there", || {
        let mut names = fs::read_dir(project.state_dir().join("kept")).unwrap();
        names.any(|file| file.unwrap().path().extension() == Some("receipt".as_ref()))
    });
    let told_now = told(&mut project.drive_adopting("work"));
    let limit = "was ended because it exceeded a limit (`processes`)";
    assert!(
        told_now.len() == 1 && told_now[0].contains(limit),
        "{told_now:?}"
    );
}

#[test]
fn what_is_not_kept_is_gone_beside_what_is() {
    let project = keeping_project(600, 64);
    let mut drive = project.drive_named("work");
    let kept = Victim::new();
    let victims: Vec<Victim> = (0..9).map(|_| Victim::new()).collect();
    let spawns = victims.iter().enumerate();
    let spawns = spawns.map(|(number, victim)| spawn(&format!("v{number}"), &victim.script()));
    let spawns: Vec<Value> = spawns.chain([spawn_kept("kept", &kept.script())]).collect();
    drive.send(&json!(spawns));
    drive.next();
    for victim in victims.iter().chain([&kept]) {
        victim.wait_until_up();
    }
    drive.kill();
    eventually("none of 63 is left", || {
        victims.iter().all(|victim| victim.alive().is_empty())
    });
    assert_eq!(kept.alive().len(), VICTIMS);
    let mut drive = project.drive_adopting("work");
    assert_eq!(told(&mut drive).len(), 1);
    assert_eq!(act(&mut drive, "abort", "kept")["ended"], VICTIMS);
}

#[test]
fn a_killed_holder_is_reported_as_lost_and_leaves_none() {
    let project = keeping_project(600, 8);
    let mut drive = project.drive_named("work");
    let victim = Victim::new();
    drive.run([spawn_kept("dev", &victim.script())]);
    victim.wait_until_up();
    let holder = project.holder();
    drive.kill();
    kill(holder);
    let mut drive = project.drive_adopting("work");
    let told = told(&mut drive);
    assert!(told.len() == 1 && told[0].contains("is lost"), "{told:?}");
    eventually("none is left", || victim.alive().is_empty());
}

#[test]
fn a_killed_zygote_changes_nothing() {
    let project = keeping_project(600, 8);
    let mut drive = project.drive_named("work");
    let victim = Victim::new();
    drive.run([spawn_kept("dev", &victim.script())]);
    victim.wait_until_up();
    kill(parent(project.holder()).unwrap());
    drive.kill();
    let mut drive = project.drive_adopting("work");
    let told = told(&mut drive);
    assert!(
        told.len() == 1 && told[0].contains("still running"),
        "{told:?}"
    );
    assert_eq!(act(&mut drive, "abort", "dev")["ended"], VICTIMS);
    assert!(victim.alive().is_empty());
}

#[test]
fn a_holder_and_its_zygote_killed_together_leave_none_at_the_next_start() {
    let project = keeping_project(600, 8);
    let mut drive = project.drive_named("work");
    let victim = Victim::new();
    drive.run([spawn_kept("dev", &victim.script())]);
    victim.wait_until_up();
    let holder = project.holder();
    let zygote = parent(holder).unwrap();
    drive.kill();
    kill(zygote);
    eventually("the zygote is gone", || has_exited(zygote));
    kill(holder);
    let mut drive = project.drive_adopting("work");
    let told = told(&mut drive);
    assert!(told.len() == 1 && told[0].contains("is lost"), "{told:?}");
    eventually("none is left", || victim.alive().is_empty());
}

/// At whatever moment of a spawn the runtime dies, its program is either told and adopted, or gone.
#[test]
fn a_runtime_killed_while_it_spawns_leaves_no_unknown_program() {
    let project = keeping_project(600, 64);
    for round in 0..12_u64 {
        let mut drive = project.drive_adopting("work");
        let mut known = told(&mut drive).len();
        let victim = Victim::new();
        drive.send(&json!([spawn_kept(
            &format!("v{round}"),
            &victim.only_sleep()
        )]));
        if round % 4 == 3 {
            // After the answer.
            drive.next();
        } else {
            std::thread::sleep(Duration::from_micros(round * 700));
        }
        drive.kill();
        let mut drive = project.drive_adopting("work");
        let texts = told(&mut drive);
        let name = format!("`v{round}`");
        if texts
            .iter()
            .any(|text| text.contains(&name) && text.contains("still running"))
        {
            known += 1;
            assert_eq!(victim.alive().len(), 1);
            act(&mut drive, "abort", &format!("v{round}"));
        } else {
            assert!(
                round % 4 != 3,
                "it was answered and nobody knows it: {texts:?}"
            );
        }
        eventually("none is left", || victim.alive().is_empty());
        assert!(known <= 1);
    }
}

/// At whatever moment of an adoption the runtime dies, the next one adopts.
#[test]
fn a_runtime_killed_while_it_adopts_loses_nothing() {
    let project = keeping_project(600, 8);
    let mut drive = project.drive_named("work");
    let count = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo $i; done; echo done; sleep 1000";
    drive.run([spawn_kept("count", count)]);
    drive.kill();
    for round in 0..10_u64 {
        let mut drive = project.drive_named("work");
        std::thread::sleep(Duration::from_millis(20 + round * 15));
        drive.kill();
    }
    let mut drive = project.drive_adopting("work");
    let until = json!({"until": [{"id": "count", "pattern": "^done$"}], "timeout_secs": 50});
    let matched = drive.content("await", until);
    assert_eq!(matched["matched"][0]["line"], "done", "{matched}");
    let kept = fs::read_to_string(&project.kept_files()[0]).unwrap();
    let kept: Value = serde_json::from_str(&kept).unwrap();
    let log = kept["job"]["start"]["log"]["local"].as_str().unwrap();
    // The log is there, since the output has outgrown memory, and is brought up to date at the end.
    act(&mut drive, "abort", "count");
    let log = fs::read_to_string(log).unwrap();
    let counted = log.lines().map_while(|line| line.parse::<u32>().ok());
    assert!(counted.eq(1..=20000), "a number is missing, or comes twice");
}

#[test]
fn a_runtime_killed_while_it_aborts_leaves_none_and_a_receipt() {
    let project = keeping_project(600, 8);
    let mut drive = project.drive_named("work");
    let victim = Victim::new();
    // Prints that it got a signal to end, and continues.
    let stubborn = format!(
        "trap 'touch asked' TERM; while :; do {} & wait; done",
        victim.sleep()
    );
    drive.run([spawn_kept("dev", &stubborn)]);
    drive.send(&json!([call(
        "shell",
        json!({"action": "abort", "id": "dev"})
    )]));
    eventually("it was asked to end", || {
        project.root().join("asked").exists()
    });
    drive.kill();
    eventually("none is left", || victim.alive().is_empty());
    let mut drive = project.drive_named("work");
    let mut texts = told(&mut drive);
    eventually("it is told", || {
        // The holder may still be ending it: then it does not answer yet.
        texts.extend(told(&mut drive));
        texts.iter().any(|text| text.contains("was aborted"))
    });
}

#[test]
fn a_runtime_that_starts_while_a_lease_ends_is_notified_of_the_end() {
    let project = keeping_project(1, 8);
    let mut drive = project.drive_named("work");
    let victim = Victim::new();
    let stubborn = format!(
        "trap 'touch asked' TERM; while :; do {} & wait; done",
        victim.sleep()
    );
    drive.run([spawn_kept("dev", &stubborn)]);
    drive.kill();
    eventually("it was asked to end", || {
        project.root().join("asked").exists()
    });
    let mut drive = project.drive_named("work");
    drive.kill();
    let mut drive = project.drive_named("work");
    let mut texts = told(&mut drive);
    eventually("it is told", || {
        texts.extend(told(&mut drive));
        texts
            .iter()
            .any(|text| text.contains("was ended when its lease was over"))
    });
    assert!(victim.alive().is_empty());
}

#[test]
fn of_two_runtimes_that_adopt_at_once_one_has_it() {
    let project = keeping_project(600, 8);
    let mut mcp = project.mcp(&[]);
    let spawn =
        json!({"action": "spawn", "id": "dev", "command": "echo up; sleep 1000", "keep": true});
    mcp.call("shell", spawn);
    drop(mcp);
    let (mut one, mut other) = (project.mcp(&[]), project.mcp(&[]));
    let first = [&mut one, &mut other].map(|mcp| {
        mcp.notify("notifications/initialized");
        mcp.call("shell", json!({"command": "true"})).to_string()
    });
    let has = |text: &&String| text.contains("still running");
    assert_eq!(first.iter().filter(has).count(), 1, "{first:?}");
    let taken =
        |text: &&String| text.contains("belongs to another runtime") || !text.contains("`dev`");
    assert_eq!(first.iter().filter(taken).count(), 1, "{first:?}");
    let winner = if first[0].contains("still running") {
        &mut one
    } else {
        &mut other
    };
    winner.call("shell", json!({"action": "abort", "id": "dev"}));
}

#[test]
fn a_stopped_holder_does_not_delay_the_others() {
    let project = keeping_project(600, 8);
    let mut drive = project.drive_named("work");
    drive.run([spawn_kept("hung", "echo hung; sleep 1000")]);
    let hung = project.holder();
    drive.run([spawn_kept("fine", "echo fine; sleep 1000")]);
    // Its zygote would have it go on.
    let zygote = parent(hung).unwrap();
    drive.kill();
    signal(zygote, Signal::STOP);
    signal(hung, Signal::STOP);
    let mut drive = project.drive_named("work");
    let texts = told(&mut drive);
    assert!(
        texts
            .iter()
            .any(|text| text.contains("`fine`") && text.contains("still running")),
        "{texts:?}"
    );
    // The hung one is adopted when it answers; a sweep has it go on.
    let mut texts = texts;
    eventually("it is told", || {
        texts.extend(told(&mut drive));
        let is_hung = |text: &&String| text.contains("`hung`") && text.contains("still running");
        texts.iter().any(|text| is_hung(&text))
    });
    signal(zygote, Signal::CONT);
    act(&mut drive, "abort", "hung");
    act(&mut drive, "abort", "fine");
}

/// Two handles whose holders are stopped, and the next runtime, which knows that they do not reply.
struct StoppedHolders {
    project: Project,
    drive: Drive,
    zygote: u32,
    holders: Vec<u32>,
}

impl StoppedHolders {
    fn new() -> Self {
        let project = keeping_project(600, 8);
        let mut drive = project.drive_named("work");
        drive.run(["one", "two"].map(|id| spawn_kept(id, "sleep 1000")));
        let holders = project.holders();
        let zygote = parent(holders[0]).unwrap();
        drive.kill();
        signal(zygote, Signal::STOP);
        for holder in &holders {
            signal(*holder, Signal::STOP);
        }
        // A sweep of the same scope would continue them.
        let mut command = project.windlass(&["drive", "--session", "work"]);
        command.env("WINDLASS_SWEEP_SCOPE", "");
        command.env("WINDLASS_LOG", "windlass::kept=debug");
        let drive = project.lines_of(command);
        eventually("it knows that both are silent", || {
            drive.stderr().matches("a holder does not reply").count() == 2
        });
        Self {
            project,
            drive,
            zygote,
            holders,
        }
    }

    fn go_on(&mut self) {
        for holder in &self.holders {
            signal(*holder, Signal::CONT);
        }
        eventually("both are adopted", || settled(&self.drive) == 2);
    }

    /// The ids in the next notices, which have this text.
    #[track_caller]
    fn told(&mut self, text: &str) -> Vec<&'static str> {
        let texts = told(&mut self.drive);
        assert!(texts.iter().all(|it| it.contains(text)), "{texts:?}");
        let ids = ["one", "two"].into_iter();
        let told = ids.filter(|id| texts.iter().any(|it| it.contains(&format!("`{id}`"))));
        let told: Vec<_> = told.collect();
        assert_eq!(texts.len(), told.len(), "{texts:?}");
        told
    }
}

impl Drop for StoppedHolders {
    fn drop(&mut self) {
        signal(self.zygote, Signal::CONT);
        self.drive.kill();
        // Without their files, the holders end their programs.
        let _ = fs::remove_dir_all(self.project.state_dir());
    }
}

#[test]
fn holders_that_do_not_reply_are_each_reported_once_and_adopted_later() {
    let mut stopped = StoppedHolders::new();
    assert_eq!(stopped.told("does not reply now"), ["one", "two"]);
    stopped.go_on();
    assert_eq!(stopped.told("still running"), ["one", "two"]);
    assert_eq!(stopped.told(""), [""; 0]);
}

#[test]
fn of_a_holder_that_replies_before_anything_is_told_only_the_adoption_is_told() {
    let mut stopped = StoppedHolders::new();
    stopped.go_on();
    assert_eq!(stopped.told("still running"), ["one", "two"]);
    assert_eq!(stopped.told(""), [""; 0]);
}

#[test]
fn a_corrupt_state_file_is_reported_and_its_program_ended() {
    let project = keeping_project(600, 8);
    let mut drive = project.drive_named("work");
    let victim = Victim::new();
    drive.run([spawn_kept("dev", &victim.only_sleep())]);
    drive.kill();
    fs::write(&project.kept_files()[0], "{").unwrap();
    let mut drive = project.drive_named("work");
    let told = told(&mut drive);
    assert!(
        told.len() == 1 && told[0].contains("`dev`") && told[0].contains("is lost"),
        "{told:?}"
    );
    eventually("none is left", || victim.alive().is_empty());
}

#[test]
fn a_state_folder_that_is_gone_leaves_none() {
    let project = keeping_project(600, 8);
    let mut drive = project.drive_named("work");
    let victim = Victim::new();
    drive.run([spawn_kept("dev", &victim.only_sleep())]);
    fs::remove_dir_all(project.state_dir()).unwrap();
    drive.kill();
    eventually("none is left", || victim.alive().is_empty());
    let mut drive = project.drive_adopting("work");
    assert_eq!(told(&mut drive), [""; 0]);
}

#[test]
fn after_another_boot_a_handle_is_lost() {
    let project = keeping_project(600, 8);
    let mut drive = project.drive_named("work");
    drive.run([spawn_kept("dev", "sleep 1000")]);
    let file = &project.kept_files()[0];
    let mut kept: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    kill(project.holder());
    drive.kill();
    kept["boot"] = json!("another");
    fs::write(file, kept.to_string()).unwrap();
    let mut drive = project.drive_adopting("work");
    let told = told(&mut drive);
    assert!(
        told.len() == 1 && told[0].contains("the machine was restarted"),
        "{told:?}"
    );
}

/// A full disk in a name space of its own.
#[test]
fn on_a_full_disk_a_handle_runs_and_says_that_it_is_not_kept() {
    needs!("unshare", "mount");
    let mut own_mounts = std::process::Command::new("unshare");
    own_mounts.args(["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]);
    if !own_mounts.status().unwrap().success() {
        skip!("no mounts of its own for a process");
    }
    let project = keeping_project(600, 8);
    let kept = project.state_dir().join("kept");
    fs::create_dir_all(&kept).unwrap();
    let calls = json!([spawn_kept("dev", "echo up; sleep 1000")]);
    let script = format!(
        "mount -t tmpfs -o size=4k tmpfs {kept} && head -c 4096 /dev/zero > {kept}/full; exec {binary} drive --session work",
        kept = kept.display(),
        binary = windlass(),
    );
    let mut command = project.program("unshare");
    command.args(["-rm", "sh", "-c", &script]);
    let output = run_with_input(command, &format!("{calls}\n"));
    let reply: Value = serde_json::from_str(output.lines().next().unwrap()).unwrap();
    let content = &reply["replies"][0]["content"];
    assert_eq!(content["state"], "running", "{reply}");
    let note = content["note"].as_str().unwrap_or_default();
    assert!(
        note.starts_with("not kept: its state cannot be written"),
        "{reply}"
    );
}

fn run_with_input(mut command: std::process::Command, input: &str) -> String {
    use std::io::Write as _;
    let mut child = command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Only for its type: a project that keeps nothing has no such folder.
#[test]
fn without_a_word_nothing_is_kept_and_nothing_is_written() {
    let project = Project::new();
    let mut drive = project.drive_named("work");
    let victim = Victim::new();
    drive.run([spawn("dev", &victim.script())]);
    victim.wait_until_up();
    assert!(!project.state_dir().join("kept").exists());
    drive.kill();
    eventually("none is left", || victim.alive().is_empty());
}
