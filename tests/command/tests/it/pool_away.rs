//! Workers and runtimes that are away for a while: stopped, cut off from the broker, dead.

use std::collections::BTreeMap;

use rustix::process::Signal;
use serde_json::{Value, json};
use windlass_outside::needs;

use crate::hosts_faults::logged;
use crate::kept::{spawn_kept, told};
use crate::pool_support::{Broker, Relay, Speaker, WorkerProcess, pooled, pooled_at};
use crate::processes::{Victim, signal};
use crate::support::{Drive, Project, eventually, lines_of, spawn};

const KEEPING: &str = "[conversation.tools.shell.spawn.lifecycle]\nkeepable_secs = 600\n";

/// A project whose programs are held for ten minutes without a link, kept or not.
fn keeping(broker: &Broker) -> Project {
    Project::with_own_config(&format!("{}{KEEPING}", pooled(broker, 600)))
}

fn fetch(drive: &mut Drive, id: &str) -> String {
    let fetch = json!({"action": "fetch", "id": id});
    drive.one("shell", fetch).to_string()
}

/// Waits until a handle is lost because its worker is away.
#[track_caller]
fn wait_for_loss(drive: &mut Drive, id: &str) {
    let mut shown = Value::Null;
    eventually("the handle stops", || {
        shown = drive.one("shell", json!({"action": "fetch", "id": id}));
        shown["content"]["state"] == json!("stopped")
    });
    let why = shown["content"]["result"].to_string();
    assert!(why.contains("worker `w1` of pool `ci`"), "{shown}");
}

/// Waits until nothing of the programs is left, although their leases last, and the worker has its slots back.
#[track_caller]
fn assert_ended(project: &Project, victims: &[&Victim]) {
    eventually("the worker ends what was given up", || {
        victims.iter().all(|victim| victim.alive().is_empty())
    });
    eventually("its slots are free", || {
        let listed = project.list(&["workers"]);
        listed[0]["workers"][0]["running"] == json!(0)
    });
}

/// A connection that receives the heartbeats of a worker.
fn heartbeats(broker: &Broker) -> Speaker {
    let mut speaker = broker.speak();
    speaker.subscribe("$KV.windlass-ci-workers.>");
    speaker
}

/// The highest number at the end of a line.
fn newest_number(text: &str) -> u32 {
    let digits = |line: &str| {
        line.rsplit(|it: char| !it.is_ascii_digit())
            .next()?
            .parse()
            .ok()
    };
    // The start of a line may belong to the head of a frame.
    text.lines().filter_map(digits).max().unwrap_or(0)
}

#[test]
fn a_worker_that_comes_back_ends_the_programs_that_were_given_up() {
    needs!("nats-server");
    let broker = Broker::start();
    let project = keeping(&broker);
    let worker = WorkerProcess::start(&project, &broker, "w1", &[]);
    let mut drive = project.drive();
    let (plain, kept) = (Victim::new(), Victim::new());
    drive.run([spawn("plain", &plain.script())]);
    drive.run([spawn_kept("kept", &kept.script())]);
    plain.wait_until_up();
    kept.wait_until_up();
    signal(worker.pid(), Signal::STOP);
    wait_for_loss(&mut drive, "plain");
    wait_for_loss(&mut drive, "kept");
    assert!(plain.is_up() && kept.is_up(), "their machine lives");
    signal(worker.pid(), Signal::CONT);
    assert_ended(&project, &[&plain, &kept]);
    let said = drive.content("shell", json!({"command": "echo used again"}));
    assert_eq!(said, json!("used again\n"));
}

#[test]
fn a_worker_that_was_cut_off_ends_the_programs_that_were_given_up() {
    needs!("nats-server");
    let broker = Broker::start();
    let project = keeping(&broker);
    let relay = Relay::to(&broker);
    let _worker = WorkerProcess::at(&project, &relay.url(), "w1", &[]);
    let mut drive = project.drive();
    let victim = Victim::new();
    drive.run([spawn_kept("it", &victim.script())]);
    victim.wait_until_up();
    relay.cut();
    wait_for_loss(&mut drive, "it");
    assert!(victim.is_up(), "its machine lives");
    relay.restore();
    assert_ended(&project, &[&victim]);
}

#[test]
fn kept_handles_that_the_next_runtime_gave_up_are_ended_by_their_worker() {
    needs!("nats-server");
    let broker = Broker::start();
    let project = keeping(&broker);
    let worker = WorkerProcess::start(&project, &broker, "w1", &[]);
    let mut drive = project.drive_named("work");
    let (silent, loud) = (Victim::new(), Victim::new());
    drive.run([spawn_kept("silent", &silent.script())]);
    drive.run([spawn_kept(
        "loud",
        &format!("echo begun; {}", loud.script()),
    )]);
    silent.wait_until_up();
    loud.wait_until_up();
    drive.kill();
    signal(worker.pid(), Signal::STOP);
    let mut drive = project.drive_named("work");
    wait_for_loss(&mut drive, "silent");
    wait_for_loss(&mut drive, "loud");
    assert!(silent.is_up() && loud.is_up(), "their machine lives");
    drop(drive);
    signal(worker.pid(), Signal::CONT);
    assert_ended(&project, &[&silent, &loud]);
}

#[test]
fn a_program_on_a_slow_worker_is_kept_although_a_fast_one_has_joined() {
    needs!("nats-server");
    let broker = Broker::start();
    let project = keeping(&broker);
    let worker = |name: &str, heartbeat: &str| {
        let heartbeat = ["--heartbeat-ms", heartbeat];
        WorkerProcess::after(&[], &project, &broker.url(), name, &heartbeat)
    };
    let _slow = worker("slow", "60000");
    let mut drive = project.drive_named("work");
    let script = "echo begun; read word; echo \"got $word\"";
    drive.run([spawn_kept("it", script)]);
    drive.kill();
    let mut beats = heartbeats(&broker);
    let _fast = worker("fast", "100");
    // Longer than the silence that the fast worker may have.
    for _ in 0..10 {
        beats.next();
    }
    let names = |listed: &[Value]| -> Vec<String> {
        let workers = listed[0]["workers"].as_array().unwrap().iter();
        workers.map(|it| it["name"].to_string()).collect()
    };
    let listed = project.list(&["workers"]);
    assert_eq!(names(&listed), ["\"fast\"", "\"slow\""], "{listed:?}");
    let mut drive = project.drive_named("work");
    let told = told(&mut drive);
    assert!(told[0].contains("still running"), "{told:?}");
    let apply = json!({"action": "apply", "id": "it", "input": "word"});
    let said = drive.content("shell", apply);
    assert_eq!(said["result"], json!("got word\n"), "{said}");
}

#[test]
fn a_dead_worker_is_not_listed_for_as_long_as_a_slower_one() {
    needs!("nats-server");
    let broker = Broker::start();
    let project = keeping(&broker);
    let worker = |name: &str, heartbeat: &str| {
        let heartbeat = ["--heartbeat-ms", heartbeat];
        WorkerProcess::after(&[], &project, &broker.url(), name, &heartbeat)
    };
    let _slow = worker("slow", "60000");
    let mut fast = worker("fast", "100");
    fast.kill();
    eventually("only the slow worker is listed", || {
        let listed = project.list(&["workers"]);
        let workers = listed[0]["workers"].as_array().unwrap();
        workers.len() == 1 && workers[0]["name"] == json!("slow")
    });
}

#[test]
fn a_worker_that_starts_again_ends_the_programs_that_were_given_up() {
    needs!("nats-server");
    let broker = Broker::start();
    let project = keeping(&broker);
    let mut worker = WorkerProcess::start(&project, &broker, "w1", &[]);
    let mut drive = project.drive();
    let victim = Victim::new();
    drive.run([spawn_kept("it", &victim.script())]);
    victim.wait_until_up();
    worker.kill();
    wait_for_loss(&mut drive, "it");
    drop(drive);
    assert!(victim.is_up(), "its machine lives");
    let _again = WorkerProcess::start(&project, &broker, "w1", &[]);
    assert_ended(&project, &[&victim]);
}

#[test]
fn a_runtime_that_was_stopped_loses_nothing() {
    needs!("nats-server");
    let broker = Broker::start();
    let project = keeping(&broker);
    let names = ["w1", "w2", "w3"];
    let _workers =
        names.map(|name| WorkerProcess::start(&project, &broker, name, &["--slots", "1"]));
    let mut drive = project.drive();
    for name in names {
        drive.run([spawn(name, "echo begun; cat")]);
    }
    let mut beats = heartbeats(&broker);
    signal(drive.pid(), Signal::STOP);
    // Longer than the three heartbeats after which a silent worker counts as dead.
    let mut missed = BTreeMap::new();
    while missed.len() < names.len() || missed.values().any(|count| *count < 5) {
        let (subject, _) = beats.next();
        *missed.entry(subject).or_insert(0) += 1;
    }
    signal(drive.pid(), Signal::CONT);
    for name in names {
        let input = json!({"action": "apply", "id": name, "input": "still here\n"});
        let mut said = drive.one("shell", input).to_string();
        eventually("it goes on", || {
            let goes_on = said.contains("still here");
            said = fetch(&mut drive, name);
            goes_on
        });
    }
}

#[test]
fn all_handles_of_a_dead_worker_are_lost_after_three_heartbeats() {
    needs!("nats-server");
    let broker = Broker::start();
    let project = keeping(&broker);
    let mut worker = WorkerProcess::start(&project, &broker, "w1", &["--slots", "64"]);
    let mut drive = project.drive();
    let ids: Vec<String> = (0..40).map(|number| format!("h{number}")).collect();
    let calls = ids.iter().enumerate().map(|(number, id)| match number % 3 {
        0 => spawn(id, "exec sleep 1000"),
        1 => spawn(id, "echo begun; exec sleep 1000"),
        _ => spawn_kept(id, "echo begun; exec sleep 1000"),
    });
    drive.send(&calls.collect());
    drive.next();
    worker.kill();
    let ended = drive.content("await", json!({"all": ids})).to_string();
    assert_eq!(ended.matches("was silent for 3s").count(), 40, "{ended}");
    // The time limit for reading stored output was not needed.
    assert!(!ended.contains("cannot be read"), "{ended}");
}

#[test]
fn output_that_cannot_be_read_back_delays_the_loss_once() {
    needs!("nats-server");
    let broker = Broker::with_config(
        "authorization { users: [ { user: all, permissions: { publish: { allow: \">\", \
         deny: [\"$JS.API.CONSUMER.CREATE.windlass-ci-output\", \"$JS.API.CONSUMER.CREATE.windlass-ci-output.>\"] } } } ] }\nno_auth_user: all\n",
    );
    let project = keeping(&broker);
    let mut worker = WorkerProcess::start(&project, &broker, "w1", &["--slots", "64"]);
    let mut drive = project.drive();
    let ids: Vec<String> = (0..40).map(|number| format!("h{number}")).collect();
    let calls = ids
        .iter()
        .map(|id| spawn(id, "echo begun; exec sleep 1000"));
    drive.send(&calls.collect());
    drive.next();
    worker.kill();
    // The time limit for reading is five seconds. For each handle in turn, it would exceed that of the reply.
    let ended = drive.content("await", json!({"all": ids}));
    assert_eq!(
        ended.to_string().matches("was silent for 3s").count(),
        40,
        "{ended}"
    );
}

#[test]
fn a_live_runtime_shows_what_it_missed_when_its_worker_died() {
    needs!("nats-server");
    let broker = Broker::start();
    let relay = Relay::to(&broker);
    let project = Project::with_own_config(&pooled_at(&relay.url(), 600));
    let mut worker = WorkerProcess::start(&project, &broker, "w1", &[]);
    let mut stored = broker.speak();
    stored.subscribe("windlass.ci.output.>");
    let mut next_stored = || String::from_utf8_lossy(&stored.next().1).into_owned();
    let mut drive = project.drive();
    // The first part is long enough for a log.
    let script = "seq 1000 99999; i=100000; while :; do echo $i; i=$((i + 1)); sleep 0.005; done";
    drive.run([spawn("it", script)]);
    while newest_number(&next_stored()) < 100_000 {}
    relay.cut();
    eventually("the runtime knows that it is cut off", || {
        fetch(&mut drive, "it").contains("has been unreachable")
    });
    let received = newest_number(&logged(&project)[0]);
    // The program goes on, and the broker stores more than the runtime has.
    while newest_number(&next_stored()) < received + 200 {}
    worker.kill();
    broker.speak().publish("windlass.ci.output.mark", b"mark");
    let mut last = 0;
    loop {
        let message = next_stored();
        if message == "mark" {
            break;
        }
        last = last.max(newest_number(&message));
    }
    relay.restore();
    wait_for_loss(&mut drive, "it");
    let shown = logged(&project).remove(0);
    let newest = newest_number(&shown);
    assert!(
        newest >= received + 200 && newest >= last,
        "{newest} {received} {last}"
    );
    assert!(
        shown == lines_of(1000..=newest),
        "each number once and in order"
    );
    let told = fetch(&mut drive, "it");
    let note = format!("its output is shown up to byte {}", shown.len());
    assert!(told.contains(&note), "no {note:?} in {told}");
}
