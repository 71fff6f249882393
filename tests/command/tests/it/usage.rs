//! The CPU time, memory and processes of each handle while it runs: over HTTP, in the metrics, in `ps` and on the page.

use serde_json::{Value, json};
use windlass_outside::needs;

use crate::http_support::Serve;
use crate::page_support::Browser;
use crate::support::{Project, eventually};

/// Four processes, one of which has used 0.5 s of CPU time, also by the coarser count of the kernel, and has 64 MiB of memory. One ends when it reads a line.
const BUSY: &str = "exec 3<&0; sleep 1000 & head -n1 <&3 >/dev/null & python3 -c '
import time
memory = bytearray(64 << 20)
memory[::4096] = b\"x\" * (len(memory) // 4096)
while time.process_time() < 0.6:
    pass
print(\"up\", flush=True)
time.sleep(1000)
' & wait";

fn start(serve: &Serve) -> String {
    let session = serve.session(json!({"trusted": true}));
    let spawn = json!({"action": "spawn", "id": "busy", "command": BUSY});
    serve.call(&session, "shell", spawn);
    let up = json!({"until": [{"id": "busy", "pattern": "up"}], "timeout_secs": 60});
    serve.call(&session, "await", up);
    session
}

/// Whether it is the use of [`BUSY`].
fn is_busy(usage: &Value) -> bool {
    let memory = usage["memory"].as_u64();
    usage["processes"] == 4
        && usage["cpu_secs"].as_f64().is_some_and(|it| it >= 0.5)
        && memory.is_some_and(|it| (64 << 20..1 << 30).contains(&it))
}

/// The number in a line of the metrics that begins like this.
fn metric(text: &str, start: &str) -> Value {
    let mut lines = text.lines();
    let number = lines.find_map(|line| line.strip_prefix(start)?.rsplit(' ').next());
    number.map_or(Value::Null, |number| serde_json::from_str(number).unwrap())
}

#[test]
fn the_use_of_a_handle_is_shown_while_it_runs() {
    needs!("python3");
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = start(&serve);
    let handles = format!("{session}/handles");
    eventually("HTTP shows it", || {
        is_busy(&serve.get(&handles).json()[0]["usage"])
    });
    let headers = format!(
        "host: {}\r\nauthorization: Bearer {}\r\n",
        serve.address, serve.token
    );
    eventually("the metrics show it", || {
        let text = serve.ask("GET", "/metrics", &headers, "").body;
        let usage = json!({
            "cpu_secs": metric(&text, "windlass_handle_cpu_seconds{"),
            "memory": metric(&text, "windlass_handle_memory_bytes{"),
            "processes": metric(&text, "windlass_handle_processes{"),
        });
        is_busy(&usage) && text.contains(",handle=\"busy\"} ")
    });
    eventually("`ps --json` shows it", || {
        is_busy(&project.list(&["ps"])[0]["handles"][0]["usage"])
    });
    let run = project.run(&["ps"], "").stdout();
    let mut lines = run.lines();
    let head = lines.next().unwrap_or_default();
    let row = lines.next().unwrap_or_default();
    // A cell begins where its title does.
    let cell = |title: &str| {
        let at = head.find(title).unwrap_or_else(|| panic!("{run}"));
        let text = row.get(at..).unwrap_or_default();
        text.split_whitespace()
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!(cell("PROCS"), "4", "{run}");
    let memory = cell("MEMORY");
    let megabytes: u64 = memory.trim_end_matches('M').parse().unwrap();
    assert!((64..1024).contains(&megabytes), "{run}");
    assert!(!cell("CPU").is_empty(), "{run}");
    // A stopped handle uses nothing.
    serve.call(&session, "shell", json!({"action": "abort", "id": "busy"}));
    assert_eq!(serve.get(&handles).json()[0]["usage"], Value::Null);
    let text = serve.ask("GET", "/metrics", &headers, "").body;
    assert!(!text.contains("handle=\"busy\""), "{text}");
}

#[test]
fn the_page_shows_the_use_of_a_handle_and_follows_it() {
    needs!("page-driver", "chromium", "python3");
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = start(&serve);
    let mut browser = Browser::open(&project, &serve);
    browser.click(".handle:has-text('busy')");
    browser.wait(".about:has-text(' CPU, ')");
    browser.wait(".about:has-text('4 processes')");
    let about = browser.evaluate("document.querySelector('.about').textContent");
    let title = browser.evaluate("document.querySelector('.elapsed').title");
    let is_whole = |text: &Value| {
        let text = text.as_str().unwrap_or_default();
        text.contains(" s CPU, ") && text.contains(" MB, 4 processes")
    };
    assert!(is_whole(&about) && is_whole(&title), "{about} {title}");
    // No event reports the end of a child process, so the page polls.
    serve.call(
        &session,
        "shell",
        json!({"action": "apply", "id": "busy", "input": "end"}),
    );
    browser.wait(".about:has-text('3 processes')");
    browser.has_no_problems();
}
