//! Hosts and pools: on the page, and over HTTP where a broker does not answer.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::json;
use windlass_outside::needs;

use crate::http_support::Serve;
use crate::page_support::Browser;
use crate::pool_support::{Broker, WorkerProcess};
use crate::programs::windlass;
use crate::support::{Project, eventually};

/// Two hosts: a pool on this broker, and this machine over a pipe.
fn config(nats: &str) -> String {
    format!(
        "[hosts.fleet]\nnats = \"{nats}\"\npool = \"ci\"\nlabels = [\"linux\"]\n\
         [hosts.box]\nvia = {}\nlabels = [\"gpu\", \"big\"]\nlease_secs = 10\n\
         [conversation.tools.shell]\nrun = \"unattended\"\nhosts = [\"fleet\", \"box\"]\n",
        json!([windlass(), "host"])
    )
}

#[test]
fn the_page_shows_hosts_workers_and_what_runs_there() {
    needs!("page-driver", "chromium", "nats-server");
    let mut broker = Broker::start();
    let project = Project::with_own_config(&config(&broker.url()));
    let labels = ["--slots", "4", "--labels", "linux,arm"];
    let _worker = WorkerProcess::start(&project, &broker, "w1", &labels);
    let _other = WorkerProcess::start(&project, &broker, "w2", &["--slots", "8"]);
    let serve = Serve::start(&project);
    let mut browser = Browser::open(&project, &serve);
    let fleet = ".host:has(h3:text-is('fleet'))";
    browser.wait(&format!(
        "{fleet} .standing:has-text('1 of 2 workers with its labels · 0 of 4 slots in use')"
    ));
    browser.wait(&format!("{fleet} .worker:has-text('w2'):has-text('0/8')"));
    browser.wait(".unfit:text-is('not used: lacks linux')");
    browser.wait(".host:has(h3:text-is('box')) .standing:has-text('not connected')");
    browser.wait(".host:has(h3:text-is('box')) .badge:text-is('gpu')");

    let session = serve.session(json!({"trusted": true}));
    for host in ["fleet", "box"] {
        let spawn = json!({"action": "spawn", "id": format!("on_{host}"), "command": "exec sleep 600", "host": host});
        serve.call(&session, "shell", spawn);
    }
    browser.wait(".host:has(h3:text-is('box')) .standing:has-text('1 program')");
    let worker = ".worker:has(.name:text-is('w1'))";
    browser.wait(&format!("{worker} .slots:text-is('1/4 slots')"));
    browser.wait(&format!("{worker} .badge:text-is('arm')"));
    // The programs of a worker open by keyboard, and stay open when the list is refreshed.
    browser.evaluate("document.querySelector('.worker summary').focus()");
    browser.press("Enter");
    browser.wait(&format!("{worker} details[open] .programs li"));
    let drained = project.run(&["workers", "drain", "w1"], "");
    assert_eq!(drained.code(), Some(0), "{}", drained.stderr());
    browser.wait(&format!("{worker} .draining:text-is('draining')"));
    browser.wait(&format!("{worker} details[open] .programs li"));
    for scheme in ["light", "dark"] {
        for (width, height) in [(1440, 900), (390, 844)] {
            browser.look(scheme, width, height);
            browser.evaluate("document.querySelector('.hosts').scrollIntoView({block: 'center'})");
            browser.screenshot(&format!("hosts-{scheme}-{width}.png"));
            browser.until("document.querySelector('.hosts').scrollWidth <= document.querySelector('.hosts').clientWidth");
            browser.is_accessible(&format!("hosts, {scheme}, {width}"));
        }
    }
    browser.look("light", 1440, 900);

    // A broker that is gone is an error of its pool alone.
    broker.kill();
    browser.wait(&format!("{fleet} .standing.problem:has-text('nats://')"));
    browser.wait(".host:has(h3:text-is('box')) .standing:has-text('1 program')");
    broker.restart();
    browser.wait(&format!("{worker} .slots:text-is('1/4 slots')"));
    for host in ["fleet", "box"] {
        let abort = json!({"action": "abort", "id": format!("on_{host}")});
        serve.call(&session, "shell", abort);
    }
    browser.wait(".host:has(h3:text-is('box')) .standing:has-text('0 programs')");
    browser.has_no_problems();
}

#[test]
fn a_broker_is_asked_only_while_the_section_is_shown() {
    needs!("page-driver", "chromium");
    // It takes connections and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    silent.set_nonblocking(true).unwrap();
    let url = format!("nats://{}", silent.local_addr().unwrap());
    let project = Project::with_own_config(&config(&url));
    let serve = Serve::start(&project);
    let session = serve.session(json!({"trusted": true}));
    let spawn = json!({"action": "spawn", "id": "here", "command": "echo up; exec cat"});
    serve.call(&session, "shell", spawn);
    // The page was not opened yet.
    assert!(silent.accept().is_err(), "a broker was connected to");
    let mut browser = Browser::open(&project, &serve);
    browser.wait(".host:has(h3:text-is('fleet')) .standing.problem:has-text('has not answered')");
    assert!(silent.accept().is_ok(), "no broker was connected to");
    browser.click(".handle:has-text('here')");
    browser.wait(".log-lines:has-text('up')");
    let count = |browser: &mut Browser, path: &str| {
        let script = format!(
            "performance.getEntriesByType('resource').filter((it) => it.name.endsWith('/api/v1/{path}')).length"
        );
        browser.evaluate(&script).as_u64().unwrap()
    };
    // The page asks for what is held as often as it would for hosts.
    let (hosts, held) = (count(&mut browser, "hosts"), count(&mut browser, "held"));
    eventually("the page has asked twice for what is held", || {
        count(&mut browser, "held") >= held + 2
    });
    // One that was under way when the section closed is counted at its end.
    assert!(count(&mut browser, "hosts") <= hosts + 1);
}

#[test]
fn a_broker_that_does_not_answer_delays_the_list_by_seconds_and_hides_nothing() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("nats://{}", silent.local_addr().unwrap());
    let project = Project::with_own_config(&config(&url));
    let serve = Serve::start(&project);
    let asked = Instant::now();
    let hosts = serve.get("/hosts").json();
    assert!(asked.elapsed() < Duration::from_secs(30));
    let find = |name: &str| {
        let hosts = hosts.as_array().unwrap();
        hosts.iter().find(|it| it["name"] == name).unwrap().clone()
    };
    let fleet = find("fleet");
    assert_eq!(fleet["standing"], "unreached", "{fleet}");
    let error = fleet["error"].as_str().unwrap();
    assert!(error.contains(&url), "{error}");
    let other = find("box");
    assert_eq!(other["standing"], "unused");
    assert_eq!(other["labels"], json!(["gpu", "big"]));
    let headers = "Host: 127.0.0.1\r\n";
    let refused = serve.ask("GET", "/api/v1/hosts", headers, "");
    assert_eq!(refused.status, 401, "the list is for whoever has the token");
}
