//! Pools that cannot be used: each error names the host or the broker, and a remedy.

use insta::assert_snapshot;
use serde_json::json;
use windlass_outside::needs;

use crate::filtered::filtered;
use crate::pool_support::{Broker, WorkerProcess, pooled, pooled_at};
use crate::support::{Drive, Project, call, eventually, spawn};

/// The problem of a pool, as a tool on it, `hosts check` and `workers` report it.
#[track_caller]
fn assert_told(config: &str, expected: &str) {
    let project = Project::with_own_config(config);
    let said = project.drive().error("shell", json!({"command": "true"}));
    assert!(
        said.contains(expected) && said.contains("`fleet`"),
        "{said}"
    );
    for args in [&["hosts", "check", "fleet"][..], &["workers"]] {
        let run = project.run(args, "");
        let said = run.stdout();
        assert_eq!(run.code(), Some(1), "{said}");
        assert!(said.contains(expected) && said.contains("fleet"), "{said}");
    }
}

/// The error of a worker that cannot join.
#[track_caller]
fn worker_error(url: &str, more: &[&str]) -> String {
    let args = ["worker", "--nats", url, "--pool", "ci"];
    let run = Project::new().run(&[&args[..], more].concat(), "");
    assert_ne!(run.code(), Some(0));
    run.stderr()
}

#[test]
fn a_secret_in_the_clear_is_refused() {
    let config = "[hosts.fleet]\nnats = \"nats://me:hunter2@broker:4222\"\npool = \"ci\"\n";
    let project = Project::with_own_config(config);
    let run = project.run(&["hosts"], "");
    let said = run.stderr();
    assert_snapshot!(filtered(&said), @r#"
    windlass: the configuration is invalid
    [folder]/home/config/windlass/config.toml:2:8: `hosts.fleet.nats` must be an address such as "nats://broker:4222", or several separated by commas, without a user or a password (put them into the file `credentials`), not a text that may contain a secret (not shown)
    2 | nats = …
      |        ^
    "#);
    let args = [
        "worker",
        "--nats",
        "nats://me:hunter2@broker:4222",
        "--pool",
        "ci",
    ];
    let said = Project::new().run(&args, "").stderr();
    assert_snapshot!(said, @"windlass: the address of the NATS server carries a user or a password; put them into a credentials file and name it with `credentials`");
}

#[test]
fn the_content_of_a_file_with_a_secret_is_refused() {
    let seed = "SUAOY5JZ2WJKVR4UO2KJ2P3SW6FZFNWEOIMAXF4WZEUNVQXXUOKGM55CYE";
    let key = "-----BEGIN PRIVATE KEY-----\\nMC4CAQAw\\n-----END PRIVATE KEY-----";
    let config = "[hosts.fleet]\nnats = \"nats://broker:4222\"\npool = \"ci\"\ncert = \"a.pem\"\n\
                  credentials = \"c.creds\"\nkey = \"k.pem\"\n";
    for (file, content) in [("c.creds", seed), ("k.pem", key)] {
        let config = config.replace(file, content);
        let said = Project::with_own_config(&config)
            .run(&["hosts"], "")
            .stderr();
        assert!(said.contains("must be the name of a file"), "{said}");
        let secret = content.get(20..50).unwrap();
        assert!(
            !said.contains(secret) && !said.contains("MC4CAQAw"),
            "{said}"
        );
    }
}

#[test]
fn a_broker_that_is_not_there_is_named() {
    let url = "nats://127.0.0.1:1";
    let expected = "NATS at nats://127.0.0.1:1 cannot be reached";
    assert_told(&pooled_at(url, 10), expected);
    assert!(worker_error(url, &[]).contains(expected));
    let said = worker_error("http://broker", &[]);
    assert_snapshot!(said, @r#"windlass: "http://broker" is not the address of a NATS server; write one such as nats://broker:4222"#);
}

#[test]
fn a_broker_without_jetstream_is_told() {
    needs!("nats-server");
    let broker = Broker::without_jetstream();
    let expected = "runs without JetStream; start it with `nats-server -js`";
    assert_told(&pooled(&broker, 600), expected);
    let said = worker_error(&broker.url(), &[]);
    assert!(said.contains(expected), "{said}");
}

#[test]
fn a_client_that_the_broker_rejects_learns_what_to_configure() {
    needs!("nats-server");
    let broker = Broker::with_config("authorization { user: me, password: hunter2 }\n");
    let expected = "rejects this client: authorization violation";
    assert_told(&pooled(&broker, 600), expected);
    let said = worker_error(&broker.url(), &[]);
    assert!(
        said.contains(expected) && said.contains("`credentials`"),
        "{said}"
    );
}

#[test]
fn a_start_that_exceeds_the_message_size_of_the_broker_is_refused() {
    needs!("nats-server");
    let broker = Broker::with_config("max_payload: 65536\n");
    let project = Project::with_own_config(&pooled(&broker, 600));
    let _worker = WorkerProcess::start(&project, &broker, "w1", &[]);
    let mut drive = project.drive();
    let command = format!(": {}", "x".repeat(100_000));
    let said = drive.error("shell", json!({"command": command}));
    assert_snapshot!(said, @"host `fleet/w1`: its start has 100115 bytes, which exceeds the broker's `max_payload` of 65536 bytes; pass long input through a file");
    let said = drive.content("shell", json!({"command": "echo short"}));
    assert_eq!(said, json!("short\n"));
}

#[test]
fn copies_without_a_cluster_are_refused() {
    needs!("nats-server");
    let broker = Broker::start();
    let config = pooled(&broker, 600).replace("lease_secs", "replicas = 3\nlease_secs");
    let expected = "`replicas = 3` needs a cluster of 3 brokers";
    assert_told(&config, expected);
    let said = worker_error(&broker.url(), &["--replicas", "3"]);
    assert!(
        said.contains(expected) && said.contains("`replicas = 1`"),
        "{said}"
    );
}

#[test]
fn a_check_names_what_a_pool_lacks() {
    needs!("nats-server");
    let broker = Broker::start();
    let project = Project::with_own_config(&pooled(&broker, 600));
    let empty = project.run(&["hosts", "check", "fleet"], "");
    assert_eq!(empty.code(), Some(1));
    let said = empty.stdout();
    assert!(
        said.contains("has no worker; start one with `windlass worker`"),
        "{said}"
    );
    let _worker = WorkerProcess::start(&project, &broker, "w1", &["--labels", "linux"]);
    let config =
        pooled(&broker, 600).replace("lease_secs", "labels = [\"linux\", \"gpu\"]\nlease_secs");
    project.write_own(&config);
    let unlabelled = project.run(&["hosts", "check", "fleet"], "");
    assert_eq!(unlabelled.code(), Some(1));
    let said = unlabelled.stdout();
    assert!(
        said.contains("`windlass worker --labels linux,gpu`"),
        "{said}"
    );
}

#[test]
fn a_program_waits_for_a_free_slot() {
    needs!("nats-server");
    let broker = Broker::start();
    let project = Project::with_own_config(&pooled(&broker, 600));
    let _worker = WorkerProcess::start(&project, &broker, "w1", &["--slots", "1"]);
    let mut drive = project.drive();
    drive.run([spawn("first", "read line")]);
    let second = call(
        "shell",
        json!({"command": "echo after > order; echo second"}),
    );
    drive.send(&json!({"batch": "waits", "calls": [second], "concurrent": true}));
    // Another runtime sees no free slot either.
    let mut other = project.drive();
    other.send(&json!({"batch": "waits too", "calls": [call("shell", json!({"command": "echo third"}))], "concurrent": true}));
    eventually("the only slot is in use", || {
        let listed = project.list(&["workers"]);
        listed[0]["workers"][0]["running"] == json!(1)
    });
    assert!(!project.root().join("order").exists());
    let end = json!({"action": "apply", "id": "first", "input": "go\n"});
    let end = call("shell", end);
    drive.send(&json!({"batch": "ends", "calls": [end], "concurrent": true}));
    let content = |drive: &mut Drive, batch: &str| loop {
        let reply = drive.next();
        if reply["batch"] == json!(batch) {
            return reply["replies"][0]["content"].clone();
        }
    };
    assert_eq!(content(&mut drive, "waits"), json!("second\n"));
    assert_eq!(content(&mut other, "waits too"), json!("third\n"));
}

#[test]
fn a_worker_is_drained_though_another_pool_is_unreachable() {
    needs!("nats-server");
    let broker = Broker::start();
    let url = broker.url();
    let project = Project::with_own_config(&format!(
        "[hosts.away]\nnats = \"nats://127.0.0.1:1\"\npool = \"ci\"\n\
         [hosts.fleet]\nnats = \"{url}\"\npool = \"ci\"\n\
         [hosts.gpu]\nnats = \"{url}\"\npool = \"ci\"\nlabels = [\"gpu\"]\n"
    ));
    let mut worker = WorkerProcess::start(&project, &broker, "w1", &[]);
    let missing = project.run(&["workers", "drain", "w2"], "");
    let said = missing.stderr();
    assert_snapshot!(filtered(&said), @"windlass: host `away`: NATS at nats://127.0.0.1:[port] cannot be reached: IO error: Connection refused (os error 111); check the address, and that a server runs there");
    let drained = project.run(&["workers", "drain", "w1"], "");
    assert_eq!(drained.code(), Some(0), "{}", drained.stderr());
    assert_eq!(worker.wait(), Some(0));
}
