//! The large run: `cargo xtask fleet`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::kept::spawn_kept;
use crate::pool_support::{PortReservation, WorkerProcess};
use crate::support::{Drive, Project, spawn, within};

const HANDLES: usize = 1000;
const WORKERS: usize = 5;
/// Handles that one batch starts.
const BATCH: usize = 25;
const PATIENCE: Duration = Duration::from_mins(3);

/// Brokers of one cluster. Dropped, they are killed.
pub(crate) struct Cluster {
    brokers: Vec<Child>,
    url: String,
}

impl Cluster {
    pub(crate) fn start(folder: &Path) -> Self {
        let reservations: Vec<_> = (0..6).map(|_| PortReservation::new()).collect();
        let ports: Vec<u16> = reservations.iter().map(|it| it.port).collect();
        let (clients, routes) = ports.split_at(3);
        let list: Vec<String> = routes
            .iter()
            .map(|port| format!("nats://127.0.0.1:{port}"))
            .collect();
        let start = |number: usize| {
            let config = format!(
                "server_name: n{number}\nhost: 127.0.0.1\nport: {}\njetstream {{ store_dir: \"{}\" }}\n\
                 cluster {{ name: fleet, host: 127.0.0.1, port: {}, routes: {} }}\n",
                clients[number],
                folder.join(format!("n{number}")).display(),
                routes[number],
                json!(list)
            );
            let file = folder.join(format!("n{number}.conf"));
            fs::write(&file, config).unwrap();
            Command::new("nats-server")
                .arg("-c")
                .arg(file)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap()
        };
        let brokers = (0..3).map(start).collect();
        for port in clients {
            within(PATIENCE, "a broker answers", || {
                TcpStream::connect(("127.0.0.1", *port)).is_ok()
            });
        }
        let urls: Vec<String> = clients
            .iter()
            .map(|port| format!("nats://127.0.0.1:{port}"))
            .collect();
        Self {
            brokers,
            url: urls.join(","),
        }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn kill_one(&mut self) {
        let mut broker = self.brokers.pop().unwrap();
        broker.kill().unwrap();
        broker.wait().unwrap();
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        while !self.brokers.is_empty() {
            self.kill_one();
        }
    }
}

/// Starts handles that note their start and wait for a line. Gives those that were started.
fn start_all(
    drive: &mut Drive,
    ids: &[String],
    spawn: impl Fn(&str, &str) -> Value,
) -> BTreeSet<String> {
    let mut started = BTreeSet::new();
    for batch in ids.chunks(BATCH) {
        let calls: Vec<Value> = batch
            .iter()
            .map(|id| {
                let script = format!(
                    "echo {id} >> ran.$(basename $XDG_STATE_HOME); read line; echo {id} heard $line"
                );
                spawn(id, &script)
            })
            .collect();
        drive.send(&Value::from(calls));
        let replies = drive.next()["replies"].as_array().unwrap().clone();
        for (id, reply) in batch.iter().zip(replies) {
            if reply["is_error"] == json!(false) {
                started.insert(id.clone());
            }
        }
    }
    started
}

/// Waits until the session has the kept handles of its predecessor.
fn take_over(drive: &mut Drive, ids: &BTreeSet<String>) {
    for id in ids {
        within(PATIENCE, "the handle is taken over", || {
            let reply = drive.one("shell", json!({"action": "fetch", "id": id}));
            reply["is_error"] == json!(false)
        });
    }
}

/// Tells each handle to end; returns how many finished, and how many were lost.
fn finish_all(drive: &mut Drive, ids: &BTreeSet<String>) -> (usize, usize) {
    let (mut finished, mut lost) = (0, 0);
    for id in ids {
        let input = json!({"action": "apply", "id": id, "input": "word\n"});
        let mut said = drive.one("shell", input).to_string();
        let heard = format!("{id} heard word");
        let begun = Instant::now();
        while !said.contains(&heard) && !said.contains("was silent") {
            assert!(
                begun.elapsed() < PATIENCE,
                "`{id}` neither finished nor was lost: {said}"
            );
            let again = drive.one("shell", json!({"action": "fetch", "id": id}));
            let again = again.to_string();
            if !said.ends_with(&again) {
                said.push_str(&again);
            }
        }
        if said.contains(&heard) {
            finished += 1;
        } else {
            lost += 1;
        }
    }
    (finished, lost)
}

/// The workers that each handle ran on.
fn ran(project: &Project) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for number in 1..=WORKERS {
        let worker = format!("w{number}");
        let text = fs::read_to_string(project.root().join(format!("ran.{worker}")));
        for id in text.unwrap_or_default().lines() {
            all.entry(id.to_owned()).or_default().push(worker.clone());
        }
    }
    all
}

#[test]
#[ignore = "takes minutes: `cargo xtask fleet` runs it"]
fn a_thousand_handles_survive_deaths_of_all_kinds() {
    let begun = Instant::now();
    let folder = tempfile::tempdir().unwrap();
    let mut cluster = Cluster::start(folder.path());
    let project = Project::new();
    project.write_own(&format!(
        "[hosts.fleet]\nnats = \"{}\"\npool = \"ci\"\nreplicas = 3\nlease_secs = 30\n\
         [kept]\nmax = {HANDLES}\n\
         [conversation.tools.shell]\nrun = \"unattended\"\nhost = \"fleet\"\n\
         [conversation.tools.shell.spawn.lifecycle]\nkeepable_secs = 600\n",
        cluster.url
    ));
    let url = cluster.url.clone();
    let mut workers: Vec<WorkerProcess> = (1..=WORKERS)
        .map(|number| {
            let name = format!("w{number}");
            WorkerProcess::at(
                &project,
                &url,
                &name,
                &["--slots", "400", "--replicas", "3"],
            )
        })
        .collect();
    println!("cluster and workers: {:?}", begun.elapsed());
    let ids: Vec<String> = (0..HANDLES).map(|number| format!("h{number}")).collect();
    let (stays, dies) = ids.split_at(HANDLES * 7 / 10);
    let (before, after) = dies.split_at(dies.len() / 2);
    let (plain, lasting) = before.split_at(before.len() / 2);
    let spawning = Instant::now();
    let mut first = project.drive();
    let mut second = project.drive_named("work");
    let mut started = start_all(&mut first, stays, spawn);
    let orphans = start_all(&mut second, plain, spawn);
    let kept = start_all(&mut second, lasting, spawn_kept);
    second.kill();
    let mut third = project.drive_named("work");
    let late = start_all(&mut third, after, spawn);
    println!(
        "started {} in {:?}",
        started.len() + orphans.len() + kept.len() + late.len(),
        spawning.elapsed()
    );
    take_over(&mut third, &kept);
    println!("the next runtime has {} kept handles", kept.len());
    let late: BTreeSet<String> = late.into_iter().chain(kept).collect();
    cluster.kill_one();
    workers.pop().unwrap().kill();
    let more: Vec<String> = (0..20).map(|number| format!("m{number}")).collect();
    let more = start_all(&mut first, &more, spawn);
    started.extend(more);
    let finishing = Instant::now();
    let (finished, lost) = finish_all(&mut first, &started);
    let (late_finished, late_lost) = finish_all(&mut third, &late);
    println!(
        "finished {} and lost {} of {} in {:?}; the dead runtime had {}",
        finished + late_finished,
        lost + late_lost,
        started.len() + late.len(),
        finishing.elapsed(),
        orphans.len()
    );
    assert_eq!(finished + lost, started.len());
    assert_eq!(late_finished + late_lost, late.len());
    assert_eq!(
        orphans.len() + late.len() + stays.len(),
        HANDLES,
        "all were started"
    );
    let ran = ran(&project);
    for (id, workers) in &ran {
        assert_eq!(workers.len(), 1, "{id} ran on {workers:?}");
    }
    let on_dead = |ids: &BTreeSet<String>| {
        let dead = format!("w{WORKERS}");
        ids.iter().filter(|id| ran[*id][0] == dead).count()
    };
    assert_eq!(lost + late_lost, on_dead(&started) + on_dead(&late));
    let all: BTreeSet<String> = started
        .iter()
        .chain(&orphans)
        .chain(&late)
        .cloned()
        .collect();
    assert!(all.iter().all(|id| ran.contains_key(id)));
    within(PATIENCE, "nothing runs any more", || {
        let listed = project.list(&["workers"]);
        let workers = listed[0]["workers"].as_array().cloned().unwrap_or_default();
        workers.len() == WORKERS - 1 && workers.iter().all(|it| it["running"] == json!(0))
    });
    println!("all over after {:?}", begun.elapsed());
}
