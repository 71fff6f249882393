//! Output that outlives its worker: the broker stores it, within limits, and the next runtime shows it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use windlass_outside::needs;

use crate::hosts_faults::assert_numbers;
use crate::kept::{act, spawn_kept};
use crate::pool_fleet::Cluster;
use crate::pool_support::{Broker, Speaker, WorkerProcess, pooled};
use crate::support::{Drive, Project, eventually, spawn};

const KEEPING: &str = "[conversation.tools.shell.spawn.lifecycle]\nkeepable_secs = 600\n";

fn keeping(broker: &Broker) -> Project {
    Project::with_own_config(&format!("{}{KEEPING}", pooled(broker, 600)))
}

/// A connection that receives the output that is being stored.
fn listener(broker: &Broker) -> Speaker {
    let mut speaker = broker.speak();
    speaker.subscribe("windlass.ci.output.>");
    speaker
}

/// The kinds of the frames in stored messages: output, and perhaps an exit.
fn kinds(mut bytes: &[u8]) -> BTreeSet<u8> {
    let mut kinds = BTreeSet::new();
    while let Some((length, rest)) = bytes.split_first_chunk() {
        let (frame, after) = rest.split_at(u32::from_le_bytes(*length) as usize);
        kinds.extend(frame.first());
        bytes = after;
    }
    kinds
}

/// Waits until these bytes are stored.
fn wait_for_stored(listener: &mut Speaker, text: &str) {
    let mut all = Vec::new();
    while !String::from_utf8_lossy(&all).contains(text) {
        all.extend(listener.next().1);
    }
}

/// Waits until a handle of an earlier runtime has been taken over and has stopped; gives its view.
fn wait_for_stopped(drive: &mut Drive, id: &str) -> String {
    let mut view = Value::Null;
    eventually("the handle has stopped", || {
        view = drive.one("shell", json!({"action": "fetch", "id": id}));
        view["content"]["state"] == json!("stopped")
    });
    view.to_string()
}

#[test]
fn output_of_a_dead_worker_reaches_the_next_runtime() {
    needs!("nats-server");
    let broker = Broker::start();
    let project = keeping(&broker);
    let mut first = WorkerProcess::start(&project, &broker, "first", &[]);
    let mut stored = listener(&broker);
    let mut drive = project.drive_named("work");
    let script = "echo begun; until test -e go; do sleep 0.05; done; seq 1000 1999; echo last; cat";
    drive.run([spawn_kept("runs", script)]);
    let script = "echo begun; until test -e go; do sleep 0.05; done; seq 2000 2999; exit 3";
    drive.run([spawn_kept("ends", script)]);
    // All of this is written while no runtime has the handles.
    drive.kill();
    project.write("go", "");
    let mut all: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    eventually("the output and the exit are stored", || {
        let (subject, message) = stored.next();
        all.entry(subject).or_default().extend(message);
        let is_last = |bytes: &&Vec<u8>| String::from_utf8_lossy(bytes).contains("last\n");
        let ends = |bytes: &&Vec<u8>| String::from_utf8_lossy(bytes).contains("2999\n");
        let has_exit = |bytes: &Vec<u8>| kinds(bytes).len() == 2;
        all.values().any(|it| is_last(&it)) && all.values().find(ends).is_some_and(has_exit)
    });
    // The machine dies: nobody can ask the holders there.
    first.kill();
    let _second = WorkerProcess::start(&project, &broker, "second", &[]);
    let mut drive = project.drive_named("work");
    let fetched = wait_for_stopped(&mut drive, "runs");
    assert!(fetched.contains("worker `first` of pool `ci`"), "{fetched}");
    assert!(
        fetched.contains("its output is shown up to byte"),
        "{fetched}"
    );
    let range = json!({"action": "fetch", "id": "runs", "lines": "1001-1002"});
    let said = drive.content("shell", range).to_string();
    assert!(said.contains("1999") && said.contains("last"), "{said}");
    let fetched = wait_for_stopped(&mut drive, "ends");
    assert!(
        fetched.contains("exit code 3") || fetched.contains("code\":3"),
        "{fetched}"
    );
    assert!(!fetched.contains("shown up to"), "{fetched}");
}

#[test]
fn a_program_that_its_worker_lost_is_resumed_from_its_stored_output() {
    needs!("nats-server");
    let broker = Broker::start();
    let project = keeping(&broker);
    let mut worker = WorkerProcess::start(&project, &broker, "w1", &[]);
    let mut stored = listener(&broker);
    let mut drive = project.drive_named("work");
    let script = "echo $PPID > holder; until test -e go; do sleep 0.05; done; echo unread; cat";
    drive.run([spawn_kept("it", script)]);
    drive.kill();
    project.write("go", "");
    wait_for_stored(&mut stored, "unread\n");
    // The machine is restarted, and so is its worker.
    worker.kill();
    let holder: i32 = project.read("holder").trim().parse().unwrap();
    let holder = rustix::process::Pid::from_raw(holder).unwrap();
    rustix::process::kill_process(holder, rustix::process::Signal::KILL).unwrap();
    let _again = WorkerProcess::start(&project, &broker, "w1", &[]);
    let mut drive = project.drive_named("work");
    let fetched = wait_for_stopped(&mut drive, "it");
    assert!(
        fetched.contains("its output is shown up to byte 7"),
        "{fetched}"
    );
    let line = json!({"action": "fetch", "id": "it", "lines": "1"});
    let said = drive.content("shell", line).to_string();
    assert!(said.contains("unread"), "{said}");
}

#[test]
fn numbered_output_is_stored_exactly_while_a_broker_of_a_cluster_dies() {
    needs!("nats-server");
    let folder = tempfile::tempdir().unwrap();
    let mut cluster = Cluster::start(folder.path());
    let project = Project::with_own_config(&format!(
        "[hosts.fleet]\nnats = \"{}\"\npool = \"ci\"\nreplicas = 3\nlease_secs = 60\n\
         [conversation.tools.shell]\nrun = \"unattended\"\nhost = \"fleet\"\n{KEEPING}",
        cluster.url()
    ));
    let url = cluster.url().to_owned();
    let replicas = ["--replicas", "3"];
    let mut first = WorkerProcess::at(&project, &url, "first", &replicas);
    let mut drive = project.drive_named("work");
    let script = "for i in $(seq 1 60); do seq $((i * 1000)) $((i * 1000 + 999)); sleep 0.1; done; \
                  touch written";
    drive.run([spawn_kept("it", script)]);
    let checked = project.run(&["hosts", "check", "fleet"], "").stdout();
    let promise = "replicas  3: a broker that dies loses nothing and stops nothing";
    assert!(checked.contains(promise), "{checked}");
    cluster.kill_one();
    drive.kill();
    eventually("all is written", || project.root().join("written").exists());
    let size = || {
        let checked = project.run(&["hosts", "check", "fleet"], "").stdout();
        let output = checked.lines().find(|line| line.starts_with("output"));
        let words: Vec<String> = output
            .unwrap_or_default()
            .split(' ')
            .map(str::to_owned)
            .collect();
        let now = words.iter().rev().nth(2).cloned().unwrap_or_default();
        now.parse::<u64>().unwrap_or(0)
    };
    // 9,000 numbers have four digits, the others five.
    eventually("all is stored", || size() * 1024 >= 9000 * 5 + 51_000 * 6);
    first.kill();
    let _second = WorkerProcess::at(&project, &url, "second", &replicas);
    let mut drive = project.drive_named("work");
    wait_for_stopped(&mut drive, "it");
    assert_numbers(&project, 1000..=60_999);
}

#[test]
fn output_arrives_once_while_a_broker_of_a_cluster_dies() {
    needs!("nats-server");
    let folder = tempfile::tempdir().unwrap();
    let mut cluster = Cluster::start(folder.path());
    let project = Project::with_own_config(&format!(
        "[hosts.fleet]\nnats = \"{}\"\npool = \"ci\"\nreplicas = 3\nlease_secs = 60\n\
         [conversation.tools.shell]\nrun = \"unattended\"\nhost = \"fleet\"\n",
        cluster.url()
    ));
    let url = cluster.url().to_owned();
    let _worker = WorkerProcess::at(&project, &url, "w1", &["--replicas", "3"]);
    let mut drive = project.drive();
    let numbers = "for i in $(seq 1 60); do seq $((i * 1000)) $((i * 1000 + 999)); sleep 0.1; done";
    let heard = "while read line; do echo $line >> heard; done";
    drive.run([spawn("numbers", numbers), spawn("heard", heard)]);
    let mut expected = String::new();
    for number in 0..20 {
        if number == 5 {
            // The program still prints, and lines follow.
            cluster.kill_one();
        }
        let line = format!("line {number}\n");
        let apply = json!({"action": "apply", "id": "heard", "input": line});
        drive.content("shell", apply);
        expected.push_str(&line);
    }
    let ended = drive.content("await", json!({"all": ["numbers"]}));
    assert_eq!(ended["completed"][0].get("error"), None, "{ended}");
    assert_numbers(&project, 1000..=60_999);
    let heard = || std::fs::read_to_string(project.root().join("heard")).unwrap_or_default();
    eventually("all lines were heard", || heard().len() >= expected.len());
    assert_eq!(heard(), expected);
}

#[test]
fn a_broker_with_short_messages_carries_all_output() {
    needs!("nats-server");
    let broker = Broker::with_config("max_payload: 65536\n");
    let project = keeping(&broker);
    let _worker = WorkerProcess::start(&project, &broker, "w1", &[]);
    let mut drive = project.drive();
    drive.run([spawn_kept("it", "seq 1000000 1624999")]);
    let ended = drive.content("await", json!({"all": ["it"]}));
    assert_eq!(ended["completed"][0].get("error"), None, "{ended}");
    assert_numbers(&project, 1_000_000..=1_624_999);
}

#[test]
fn stored_output_keeps_its_limit_and_is_removed_with_the_handle() {
    needs!("nats-server");
    let broker = Broker::start();
    let config = pooled(&broker, 2).replace("lease_secs", "stored_output = \"256KiB\"\nlease_secs");
    let project = Project::with_own_config(&format!("{config}{KEEPING}"));
    let _worker = WorkerProcess::start(&project, &broker, "w1", &[]);
    let mut stored = listener(&broker);
    let mut drive = project.drive();
    drive.run([spawn_kept("it", "seq 1 400000; echo last; cat")]);
    wait_for_stored(&mut stored, "last\n");
    let check = || project.run(&["hosts", "check", "fleet"], "").stdout();
    let kib = |text: &str| {
        let output = text
            .lines()
            .find(|line| line.starts_with("output"))
            .unwrap();
        let (_, now) = output.rsplit_once(", ").unwrap();
        let number = now.strip_suffix(" KiB now").unwrap();
        number.parse::<u64>().unwrap()
    };
    let text = check();
    assert!(
        text.contains("256 KiB of each program is stored for 24 h"),
        "{text}"
    );
    // The limit, a quarter of it, and one round of messages.
    eventually("old output is dropped", || kib(&check()) <= 256 + 64 + 512);
    assert!(kib(&check()) > 0);
    act(&mut drive, "abort", "it");
    drop(drive);
    eventually("nothing is stored", || kib(&check()) == 0);
}

#[test]
fn short_programs_are_not_stored_and_none_are_without_a_limit() {
    needs!("nats-server");
    let broker = Broker::start();
    let project = Project::with_own_config(&pooled(&broker, 600));
    let _worker = WorkerProcess::start(&project, &broker, "w1", &[]);
    let mut stored = listener(&broker);
    let mut marker = broker.speak();
    let mut drive = project.drive();
    drive.content("shell", json!({"command": "echo short"}));
    marker.publish("windlass.ci.output.mark", b"one");
    assert_eq!(stored.next().1, b"one");
    // One that lasts is.
    drive.run([spawn("it", "echo long; cat")]);
    wait_for_stored(&mut stored, "long\n");
    // A runtime that wants nothing stored gets that.
    project.write_own(&pooled(&broker, 600).replace("lease_secs", "stored_output = 0\nlease_secs"));
    let mut without = project.drive();
    let lasts = json!({"command": "echo other; sleep 2"});
    assert_eq!(without.content("shell", lasts), Value::from("other\n"));
    marker.publish("windlass.ci.output.mark", b"two");
    assert_eq!(stored.next().1, b"two");
    let text = project.run(&["hosts", "check", "fleet"], "").stdout();
    assert!(text.contains("none is stored"), "{text}");
}
