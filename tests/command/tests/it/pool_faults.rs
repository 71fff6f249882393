//! Deaths around a pool: of a worker, of the broker, of a runtime; and that the counts add up.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use windlass_outside::needs;

use crate::hosts_faults::PATIENCE_SECS;
use crate::pool_support::{Broker, WorkerProcess, pooled};
use crate::processes::Victim;
use crate::support::{Drive, Project, eventually, spawn};

/// A handle that notes its start, waits for a line, and says which it was.
fn noting(id: &str) -> Value {
    let script = format!("echo {id} $XDG_STATE_HOME >> ran; read line; echo {id} heard $line");
    spawn(id, &script)
}

/// The workers that programs ran on, by the ids of their handles. Each ran once.
#[track_caller]
fn ran(project: &Project) -> BTreeMap<String, String> {
    let text = project.read("ran");
    let mut all = BTreeMap::new();
    for line in text.lines() {
        let (id, state) = line.split_once(' ').unwrap();
        let worker = state.rsplit('/').next().unwrap().to_owned();
        let earlier = all.insert(id.to_owned(), worker);
        assert_eq!(earlier, None, "{id} ran twice:\n{text}");
    }
    all
}

/// Fetches a handle; returns the reply as text.
fn fetch(drive: &mut Drive, id: &str) -> String {
    drive
        .one("shell", json!({"action": "fetch", "id": id}))
        .to_string()
}

#[test]
fn counts_add_up_when_a_worker_a_broker_and_a_runtime_die() {
    needs!("nats-server");
    let mut broker = Broker::start();
    let project = Project::with_own_config(&pooled(&broker, 600));
    let mut first = WorkerProcess::start(&project, &broker, "first", &["--slots", "25"]);
    let _second = WorkerProcess::start(&project, &broker, "second", &["--slots", "30"]);
    let mut drive = project.drive();
    let mut other = project.drive();
    let ids: Vec<String> = (0..40).map(|number| format!("h{number}")).collect();
    for id in &ids {
        drive.run([noting(id)]);
    }
    let orphans: Vec<String> = (0..10).map(|number| format!("o{number}")).collect();
    for id in &orphans {
        other.run([noting(id)]);
    }
    eventually("all 50 have started", || {
        project.root().join("ran").exists() && project.read("ran").lines().count() == 50
    });
    let started = ran(&project);
    let on_first = |id: &&String| started[*id] == "first";
    let lost: Vec<&String> = ids.iter().filter(on_first).collect();
    assert!(
        !lost.is_empty() && lost.len() < ids.len(),
        "both workers have some"
    );

    // The runtime dies: its handles are ended after their lease.
    other.kill();
    // The broker dies and comes back: nothing is lost.
    broker.kill();
    broker.restart();
    // The worker dies: its handles are lost.
    first.kill();
    let ended = drive.content("await", json!({"all": lost}));
    let why = "worker `first` of pool `ci` was silent";
    assert_eq!(
        ended.to_string().matches(why).count(),
        lost.len(),
        "{ended}"
    );
    // The others go on.
    let mut finished = 0;
    for id in ids.iter().filter(|id| !lost.contains(id)) {
        let input = json!({"action": "apply", "id": id, "input": "word\n"});
        let said = drive.one("shell", input).to_string();
        let expected = format!("{id} heard word");
        if !said.contains(&expected) {
            eventually("it hears the word", || {
                fetch(&mut drive, id).contains(&expected)
            });
        }
        finished += 1;
    }
    assert_eq!(finished + lost.len(), ids.len());
    assert_eq!(ran(&project), started, "nothing ran again");
    project.end_leases();
    eventually(
        "the worker has ended the programs of the dead runtime",
        || {
            let listed = project.list(&["workers"]);
            let workers = listed[0]["workers"].as_array().unwrap().clone();
            workers.len() == 1 && workers[0]["running"] == json!(0)
        },
    );
}

#[test]
fn numbered_output_survives_the_death_of_the_broker() {
    needs!("nats-server");
    let mut broker = Broker::start();
    let project = Project::with_own_config(&pooled(&broker, 5));
    let _worker = WorkerProcess::start(&project, &broker, "w1", &[]);
    let mut drive = project.drive();
    let script = "i=1000; until test -e stop; do seq $i $((i + 999)); i=$((i + 1000)); echo $i > next; sleep 0.05; done";
    drive.run([spawn("it", script)]);
    let next = || {
        let next = project.root().join("next");
        let next = std::fs::read_to_string(next).unwrap_or_default();
        next.trim().parse().unwrap_or(1000)
    };
    let wait_for_more = || {
        let first: u32 = next();
        eventually("it prints more", || next() >= first + 5000);
    };
    for _ in 0..2 {
        wait_for_more();
        broker.kill();
        wait_for_more();
        broker.restart();
    }
    // More than a handle keeps in memory, so that there is a log.
    eventually("it prints more", || next() >= 60_000);
    project.write("stop", "");
    let ended = drive.content("await", json!({"all": ["it"]}));
    assert_eq!(ended["completed"][0]["state"], json!("stopped"), "{ended}");
    assert_eq!(ended["completed"][0].get("error"), None, "{ended}");
    crate::hosts_faults::assert_numbers(&project, 1000..=next() - 1);
}

#[test]
fn a_broker_that_comes_back_lists_its_workers_again() {
    needs!("nats-server");
    let mut broker = Broker::start();
    let project = Project::with_own_config(&pooled(&broker, 600));
    let _worker = WorkerProcess::start(&project, &broker, "w1", &[]);
    broker.kill();
    broker.restart();
    // A list would create the bucket.
    let mut asking = broker.speak();
    eventually("the worker is in the bucket", || {
        let info = asking.request("$JS.API.STREAM.INFO.KV_windlass-ci-workers");
        String::from_utf8_lossy(&info).contains("\"messages\":1")
    });
    let listed = project.list(&["workers"]);
    assert_eq!(listed[0]["workers"][0]["name"], json!("w1"), "{listed:?}");
}

#[test]
fn a_broker_that_comes_back_without_its_store_is_used_again() {
    needs!("nats-server");
    let mut broker = Broker::start();
    let project = Project::with_own_config(&pooled(&broker, 600));
    let _worker = WorkerProcess::start(&project, &broker, "w1", &[]);
    let mut drive = project.drive();
    let said = drive.content("shell", json!({"command": "echo before"}));
    assert_eq!(said, json!("before\n"));
    broker.kill();
    broker.remove_store();
    broker.restart();
    let said = drive.content("shell", json!({"command": "echo after"}));
    assert_eq!(said, json!("after\n"));
    let mut asking = broker.speak();
    for stream in ["output", "lost"] {
        eventually("the stream exists again", || {
            let info = asking.request(&format!("$JS.API.STREAM.INFO.windlass-ci-{stream}"));
            String::from_utf8_lossy(&info).contains("\"config\"")
        });
    }
}

#[test]
fn handles_wait_for_a_broker_that_is_away_for_longer_than_their_lease() {
    needs!("nats-server");
    let mut broker = Broker::start();
    let project = Project::with_own_config(&pooled(&broker, 600));
    let _worker = WorkerProcess::start(&project, &broker, "w1", &[]);
    let mut drive = project.drive();
    drive.run([noting("it")]);
    broker.kill();
    eventually("a fetch says that the host is not reached", || {
        fetch(&mut drive, "it").contains("until then the host keeps the tool")
    });
    // Any lease that counts is over.
    project.end_leases();
    let before = project.lease_events().len();
    eventually("the runtime has looked at its leases", || {
        let events = project.lease_events();
        let looked = events[before..].matches("fleet/w1: leases do not count");
        looked.count() >= 2
    });
    project.let_leases_run();
    broker.restart();
    drive.run([
        json!({"tool": "shell", "arguments": {"action": "apply", "id": "it", "input": "word\n"}}),
    ]);
    eventually("it hears the word", || {
        fetch(&mut drive, "it").contains("it heard word")
    });
}

#[test]
fn nothing_is_left_after_the_lease_when_a_worker_or_a_runtime_dies() {
    needs!("nats-server");
    let broker = Broker::start();
    let project = Project::with_own_config(&pooled(&broker, 600));
    let mut first = WorkerProcess::start(&project, &broker, "first", &["--slots", "4"]);
    let _second = WorkerProcess::start(&project, &broker, "second", &["--slots", "4"]);
    let victims: Vec<Victim> = (0..8).map(|_| Victim::new()).collect();
    let mut drive = project.drive();
    for (number, victim) in victims.iter().enumerate() {
        drive.run([spawn(&format!("v{number}"), &victim.script())]);
        victim.wait_until_up();
    }
    first.kill();
    project.end_leases();
    eventually(
        "half of them are ended on the machine of the worker",
        || {
            let left = victims.iter().filter(|victim| !victim.alive().is_empty());
            left.count() == 4
        },
    );
    drive.kill();
    eventually("the lease is over and nothing is left", || {
        victims.iter().all(|victim| victim.alive().is_empty())
    });
}

#[test]
fn a_runtime_whose_broker_is_gone_for_good_ends_with_its_input() {
    needs!("nats-server");
    let mut broker = Broker::start();
    let project = Project::with_own_config(&pooled(&broker, 600));
    let _worker = WorkerProcess::start(&project, &broker, "w1", &[]);
    let mut drive = project.drive();
    drive.run([noting("it")]);
    // These have no reply when the broker dies.
    drive.send(
        &json!([{"id": "c", "tool": "shell", "arguments": {"command": "touch on; sleep 600"}}]),
    );
    eventually("the one-shot runs", || project.root().join("on").exists());
    broker.kill();
    project.end_leases_up_to(PATIENCE_SECS);
    drive.send(&json!([{"id": "d", "tool": "shell", "arguments": {"command": "true"}}]));
    drive.send(&json!([{"id": "e", "tool": "shell", "arguments": {"action": "spawn", "id": "late", "command": "cat"}}]));
    drive.finish();
}
