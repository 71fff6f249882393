//! The messages that pass a broker while nothing happens: none for an idle handle.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};
use windlass_outside::needs;

use crate::kept::spawn_kept;
use crate::pool_support::{Broker, Speaker, WorkerProcess, pooled};
use crate::support::{Project, call, spawn};

/// The number of messages that a broker has received and sent so far.
fn messages(broker: &Broker) -> (i64, i64) {
    let mut stream = TcpStream::connect(broker.monitor()).unwrap();
    stream.write_all(b"GET /varz HTTP/1.0\r\n\r\n").unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    let (_, body) = reply.split_once("\r\n\r\n").unwrap();
    let told: Value = serde_json::from_str(body).unwrap();
    let count = |key: &str| told[key].as_i64().unwrap();
    (count("in_msgs"), count("out_msgs"))
}

/// The messages during ten heartbeats of the worker.
fn traffic(broker: &Broker, beats: &mut Speaker) -> (i64, i64) {
    beats.next();
    let before = messages(broker);
    for _ in 0..10 {
        beats.next();
    }
    let after = messages(broker);
    (after.0 - before.0, after.1 - before.1)
}

/// How often idle traffic is measured at most: a broker has work of its own now and then.
const MEASUREMENTS: usize = 3;

#[test]
fn idle_handles_on_a_pool_cost_nothing_beyond_heartbeats() {
    needs!("nats-server");
    let broker = Broker::with_config("http: \"127.0.0.1:-1\"\n");
    let keeping = "[conversation.tools.shell.spawn.lifecycle]\nkeepable_secs = 600\n";
    let project = Project::with_own_config(&format!("{}{keeping}", pooled(&broker, 600)));
    let _worker = WorkerProcess::start(&project, &broker, "w1", &["--slots", "64"]);
    let mut drive = project.drive();
    let idle = "echo begun; exec cat";
    drive.run([spawn("first", idle)]);
    let mut beats = broker.speak();
    beats.subscribe("$KV.windlass-ci-workers.w1");
    let one = traffic(&broker, &mut beats);
    let more = (0..49).map(|number| {
        let id = format!("h{number}");
        match number % 3 {
            0 => spawn(&id, idle),
            1 => spawn_kept(&id, idle),
            _ => call(
                "shell",
                json!({"action": "spawn", "id": id, "command": idle, "terminal": true}),
            ),
        }
    });
    drive.send(&more.collect());
    let started = drive.next().to_string();
    assert!(!started.contains("\"is_error\":true"), "{started}");
    // One message of each handle in all ten heartbeats would be 49 more.
    let is_idle = |fifty: &(i64, i64)| fifty.0 < one.0 + 20 && fifty.1 < one.1 + 20;
    let mut fifty = Vec::new();
    while fifty.len() < MEASUREMENTS && !fifty.last().is_some_and(is_idle) {
        fifty.push(traffic(&broker, &mut beats));
    }
    println!(
        "messages (received, sent) in ten heartbeats: {one:?} with one handle, {fifty:?} with fifty"
    );
    assert!(fifty.last().is_some_and(is_idle));
}
