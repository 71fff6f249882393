//! `windlass hosts` and its check, for people and for programs.

use insta::assert_snapshot;
use serde_json::{Value, json};
use windlass_outside::needs;

use crate::hosts::piped;
use crate::http_support::Serve;
use crate::pool_support::{Broker, WorkerProcess};
use crate::programs::windlass;
use crate::support::{Project, eventually};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A host with labels of its own and of the configuration, and a pool.
fn config(nats: &str) -> String {
    format!(
        "[hosts.box]\nvia = {}\nroot = \"/tmp\"\nlabels = [\"linux\", \"big\"]\nlease_secs = 7\n\
         [hosts.fleet]\nnats = \"{nats}\"\npool = \"ci\"\nlabels = [\"linux\"]\n",
        json!([windlass(), "host", "--labels", "gpu,fast disk"])
    )
}

#[track_caller]
fn document(project: &Project, args: &[&str], code: i32) -> Value {
    let run = project.run(&[args, &["--json"]].concat(), "");
    assert_eq!(run.code(), Some(code), "{}{}", run.stdout(), run.stderr());
    serde_json::from_str(&run.stdout()).unwrap_or_else(|_| panic!("{}", run.stdout()))
}

#[test]
fn hosts_are_listed_with_their_way_and_labels() {
    let project = Project::with_own_config(&config("nats://127.0.0.1:9"));
    let table = project.run(&["hosts"], "").stdout();
    let way = format!("{} host --labels gpu,fast disk", windlass());
    assert_eq!(
        table,
        format!(
            "box  {way}  [linux, big]\n\
             fleet  pool ci at nats://127.0.0.1:9  [linux]\n"
        )
    );
    assert_eq!(
        document(&project, &["hosts"], 0),
        json!([
            {"name": "box", "way": way, "pool": null, "labels": ["linux", "big"], "root": "/tmp",
             "lease_secs": 7},
            {"name": "fleet", "way": "pool ci at nats://127.0.0.1:9", "pool": "ci",
             "labels": ["linux"], "root": null, "lease_secs": 60},
        ])
    );
    assert_eq!(document(&Project::new(), &["hosts"], 0), json!([]));
}

#[test]
fn a_check_shows_labels_and_the_programs_that_it_was_asked_about() {
    let project = Project::with_own_config(&config("nats://127.0.0.1:9"));
    let check = ["hosts", "check", "box", "env", "no-such-program", "sh"];
    let said = project.run(&check, "").stdout();
    let line = |begin: &str| {
        let mut lines = said.lines().filter(|line| line.starts_with(begin));
        let line = lines.next().unwrap_or_else(|| panic!("{begin}: {said}"));
        assert_eq!(lines.next(), None, "{said}");
        line
    };
    assert_eq!(
        line("labels"),
        "labels    configured: linux, big; set there: gpu, fast disk"
    );
    assert!(line("env ").ends_with("/env"), "{said}");
    assert_eq!(line("no-such-program"), "no-such-program  not found");
    assert!(line("sh ").ends_with("/sh"), "{said}");

    let report = document(&project, &check, 0);
    assert_eq!(report["works"], json!(true), "{report}");
    assert_eq!(report["error"], Value::Null);
    assert_eq!(report["labels"], json!(["linux", "big"]));
    assert_eq!(report["machine"]["labels"], json!(["gpu", "fast disk"]));
    assert_eq!(report["version"], json!(VERSION));
    let (root, lease) = (&report["root"], &report["lease_secs"]);
    assert_eq!((root, lease), (&json!("/tmp"), &json!(7)));
    let programs = report["programs"].as_array().unwrap();
    let names: Vec<_> = programs.iter().map(|it| &it["program"]).collect();
    assert_eq!(
        names,
        ["sh", "git", "python3", "env", "no-such-program"]
            .map(|name| json!(name))
            .iter()
            .collect::<Vec<_>>()
    );
    assert!(programs[3]["file"].as_str().unwrap().ends_with("/env"));
    assert_eq!(programs[4]["file"], Value::Null);
    assert!(report["machine"]["cpus"].as_u64() > Some(0), "{report}");
}

#[test]
fn a_failed_check_is_a_document_too() {
    let project = Project::with_own_config(&config("nats://127.0.0.1:9"));
    let gone = r#"hosts.box.via=["no-such-carrier"]"#;
    let report = document(&project, &["hosts", "check", "box", "--set", gone], 1);
    assert_eq!(report["works"], json!(false), "{report}");
    assert_eq!(report["host"], json!("box"));
    let error = report["error"].as_str().unwrap();
    assert_snapshot!(error, @r#"`no-such-carrier` could not be started: program "no-such-carrier" was not found; give an absolute path or a name that is in `PATH`; check `via` of the host"#);
    let root = r#"hosts.box.root="/no/such/folder""#;
    let report = document(&project, &["hosts", "check", "box", "--set", root], 1);
    assert_eq!(report["works"], json!(false), "{report}");
    let error = report["error"].as_str().unwrap();
    assert_snapshot!(error, @r#"host `box`: working directory "/no/such/folder" cannot be entered; give an existing directory: No such file or directory (os error 2)"#);
    let report = document(&project, &["hosts", "check", "fleet"], 1);
    assert_eq!(report["works"], json!(false), "{report}");
    assert!(report["error"].is_string(), "{report}");
    let asked = project.run(&["hosts", "check", "fleet", "cargo"], "");
    assert_eq!(asked.code(), Some(2), "{}", asked.stdout());
    assert_snapshot!(asked.stderr(), @"windlass: host `fleet` is a pool, so `cargo` cannot be looked for; give its workers a label for it");
}

#[test]
fn workers_are_listed_for_people_and_for_programs() {
    needs!("nats-server");
    let broker = Broker::start();
    let project = Project::with_own_config(&config(&broker.url()));
    let more = ["--slots", "4", "--labels", "linux,gpu"];
    let _worker = WorkerProcess::start(&project, &broker, "w1", &more);
    let _other = WorkerProcess::start(&project, &broker, "w2", &["--slots", "2"]);
    eventually("both workers are listed", || {
        let listed = project.list(&["workers"]);
        listed[0]["workers"].as_array().unwrap().len() == 2
    });
    let table = project.run(&["workers"], "").stdout();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "fleet  pool ci", "{table}");
    let [w1, w2] = [lines[1], lines[2]];
    assert!(
        w1.starts_with("  w1                0/4 slots  load ") && w1.ends_with("  [linux, gpu]"),
        "{table}"
    );
    assert!(
        w2.starts_with("  w2                0/2 slots  load ") && !w2.contains('['),
        "{table}"
    );
    let listed = project.list(&["workers"]);
    assert_eq!(listed[0]["host"], json!("fleet"));
    assert_eq!(listed[0]["pool"], json!("ci"));
    let worker = &listed[0]["workers"][0];
    assert_eq!(worker["labels"], json!(["linux", "gpu"]), "{worker}");
    assert_eq!(worker["slots"], json!(4), "{worker}");

    let report = document(&project, &["hosts", "check", "fleet"], 0);
    assert_eq!(report["works"], json!(true), "{report}");
    assert_eq!(report["fitting"], json!(["w1"]), "{report}");
    assert_eq!(report["workers"].as_array().unwrap().len(), 2, "{report}");
    assert_eq!(report["broker"]["replicas"], json!(1), "{report}");
    assert_eq!(report["broker"]["survives_a_broker"], json!(false));
    let labels = r#"hosts.fleet.labels=["arm"]"#;
    let report = document(&project, &["hosts", "check", "fleet", "--set", labels], 1);
    assert_eq!(report["fitting"], json!([]), "{report}");
    let error = report["error"].as_str().unwrap();
    assert_snapshot!(error, @"no worker of the pool has all labels of the host; start one with `windlass worker --labels arm`");
}

/// Passes a link on, and names another version of the program in the first frame of the far side.
const OTHER_VERSION: &str = r"
import os, struct, subprocess, sys
program, own = sys.argv[1:]
far = subprocess.Popen([program, 'host'], stdout=subprocess.PIPE)
head = far.stdout.read(4)
body = far.stdout.read(struct.unpack('<I', head)[0])
other = b'9' * len(own)
assert body.count(own.encode()) == 1
sys.stdout.buffer.write(head + body.replace(own.encode(), other))
sys.stdout.buffer.flush()
while piece := os.read(far.stdout.fileno(), 65536):
    os.write(1, piece)
";

#[test]
fn a_check_names_another_version_that_is_compatible() {
    needs!("python3");
    let via = json!(["python3", "-c", OTHER_VERSION, windlass(), VERSION]);
    let project = Project::with_own_config(&format!("[hosts.there]\nvia = {via}\n"));
    let checked = project.run(&["hosts", "check", "there"], "");
    let said = checked.stdout();
    assert_eq!(checked.code(), Some(0), "{said}");
    let other = "9".repeat(VERSION.len());
    let expected =
        format!("windlass  {other} (this machine has {VERSION}; the two are compatible)\n");
    assert!(said.contains(&expected), "{said}");
    assert!(said.contains("tools     can run there"), "{said}");
}

#[test]
fn one_carrier_carries_all_handles_and_sessions_of_a_runtime() {
    let project = Project::new();
    let carriers = project.root().join("carriers");
    let script = format!("echo $$ >> {}; exec \"$0\" host", carriers.display());
    let via = json!(["sh", "-c", script, windlass()]).to_string();
    let this = json!([windlass(), "host"]).to_string();
    project.write_own(&piped(600).replace(&this, &via));
    let serve = Serve::start(&project);
    let sessions = [(); 3].map(|()| serve.session(json!({"trusted": true})));
    // The first calls of all sessions need the link at the same time.
    std::thread::scope(|scope| {
        for session in &sessions {
            for id in ["a", "b"] {
                let spawn = json!({"action": "spawn", "id": id, "command": "read x; echo got $x"});
                let serve = &serve;
                scope.spawn(move || {
                    let reply = serve.call(session, "shell", spawn);
                    assert_eq!(reply["state"], json!("running"), "{reply}");
                });
            }
        }
    });
    for session in &sessions {
        for id in ["a", "b"] {
            let apply = json!({"action": "apply", "id": id, "input": "it\n"});
            let reply = serve.call(session, "shell", apply).to_string();
            assert!(reply.contains("got it"), "{reply}");
        }
    }
    assert_eq!(project.read("carriers").lines().count(), 1);
}
