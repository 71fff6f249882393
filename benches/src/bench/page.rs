//! Fifty terminals that print at once, on the page of a server in this process,
//! with thousands of past calls and open requests: the cost in the browser,
//! the delay of the last screens, and the response time of a key.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use futures_util::FutureExt;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use windlass_control::{Api, Limits};
use windlass_protocol::Typing;
use windlass_runtime::{Keyboard, RunOptions, Session};
use windlass_serve_http::{Access, Server, Token, page};
use windlass_testing::batch;

use super::fixture::{Fixture, at_prompt, expect_well};
use super::plan::Pace;
use super::samples::Samples;
use super::table::{Goal, Line, Quantity, Unit};

const BROWSER: &str = "/usr/bin/chromium";
const TERMINALS: usize = 50;
const REQUESTS: usize = 20;
/// Past calls, in batches of a thousand.
const BATCHES: usize = 5;

/// Prints twenty lines per second after a signal, and finally the time.
const PROGRAM: &str = r#"
import sys, time
input("ready ")
end, line = time.time() + float(sys.argv[1]), 0
while time.time() < end:
    print(f"\x1b[3{line % 8}mline {line}\x1b[0m of what this program prints, again and again", flush=True)
    line += 1
    time.sleep(0.05)
print(f"END {time.time() * 1000:.0f}", flush=True)
input()
"#;

/// Empty if there is no browser or no driver for it.
pub(super) async fn measure(pace: Pace) -> Vec<Line> {
    let packages = match packages() {
        Ok(packages) => packages,
        Err(problem) => {
            eprintln!("page is left out: {problem}");
            return Vec::new();
        }
    };
    let seconds = pace.pick(60, 5);
    let fixture = Fixture::new().await;
    let session = fixture.session();
    std::fs::write(fixture.folder().join("print.py"), PROGRAM).expect("a file can be written");
    spawn(&session, seconds + 5).await;
    call_before(&session).await;
    let asking = fixture.attended();
    let mut requests = ask(&asking).await;

    let api = Api::new(fixture.runtime(), "serve");
    let token = Token::load(&fixture.folder().join("token")).expect("a token can be made");
    let listener = TcpListener::bind("127.0.0.1:0").await;
    let listener = listener.expect("there is a free port");
    let address = listener.local_addr().expect("it has an address");
    let access = Access::new(&api, token.clone()).open("/").open("/assets/");
    let server = Server {
        listener,
        router: access.guard(api.router().merge(page())),
        tls: None,
        limits: Limits::default(),
        // The browser is a child of this process, as tools are.
        is_tool: |_| false,
    };
    let closing = CancellationToken::new();
    let (all, ending) = (api.clone(), closing.clone());
    tokio::spawn(async move { server.run(&all, ending).await });

    let mut driver = Command::new(packages.join("bin/page-driver"));
    driver
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/src/bench/page.mjs"))
        .arg(&packages)
        .arg(format!("http://{address}"))
        .args([token.as_str(), session.id().as_str()])
        .arg(seconds.to_string())
        .stdout(Stdio::piped());
    let watched = session.clone();
    let seen = tokio::task::spawn_blocking(move || drive(driver, &watched)).await;
    let seen = seen.expect("the driver does not fail");
    closing.cancel();
    requests.abort_all();
    tokio::join!(session.close(), asking.close());
    lines(&seen)
}

/// Makes calls before the page is opened.
async fn call_before(session: &Session) {
    for _ in 0..BATCHES {
        let calls: [_; 1000] = std::array::from_fn(|number| ("none", json!({"number": number})));
        session.run(batch(calls), RunOptions::default()).await;
    }
}

/// Opens permission requests that nobody replies to.
async fn ask(session: &Session) -> JoinSet<()> {
    let mut asking = JoinSet::new();
    for number in 0..REQUESTS {
        let session = session.clone();
        let call = json!({"command": format!("cargo test -p crate-{number} --lib")});
        asking.spawn(async move {
            let options = RunOptions::default();
            session.run(batch([("shell", call)]), options).await;
        });
    }
    while session.requests().len() < REQUESTS {
        tokio::task::yield_now().await;
    }
    asking
}

async fn spawn(session: &Session, seconds: usize) {
    let spawns: [_; TERMINALS] = std::array::from_fn(|number| {
        let command = format!("exec python3 print.py {seconds}");
        let id = format!("t{number}");
        let spawn = json!({"action": "spawn", "id": id, "command": command, "terminal": true});
        ("shell", spawn)
    });
    expect_well(&session.run(batch(spawns), RunOptions::default()).await);
    for number in 0..TERMINALS {
        at_prompt(session, &format!("t{number}")).await;
    }
}

/// Lets all terminals print once the page shows them; returns the page's
/// measurements.
#[expect(clippy::disallowed_methods, reason = "a whole browser is started")]
fn drive(mut driver: Command, session: &Session) -> Value {
    let mut child = driver.spawn().expect("node can be started");
    let stdout = child.stdout.take().expect("it is a pipe");
    let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
    assert_eq!(lines.next().as_deref(), Some("ready"));
    for number in 0..TERMINALS {
        let handle = session.handle(&format!("t{number}"));
        let typing = Typing {
            input: Some("go".into()),
            enter: true,
            keys: Vec::new(),
        };
        let handle = handle.unwrap_or_else(|refusal| panic!("{refusal}"));
        let typed = handle.type_in(Keyboard::Typing(typing), None);
        let typed = typed.now_or_never().expect("a terminal takes it at once");
        typed.unwrap_or_else(|refusal| panic!("{refusal}"));
    }
    let said = lines.next().expect("the driver says what it saw");
    child.wait().expect("the driver ends");
    serde_json::from_str(&said).expect("it is JSON")
}

fn lines(seen: &Value) -> Vec<Line> {
    let number = |name: &str| seen[name].as_f64().expect("it is a number");
    let late = seen["late"].as_array().expect("it is a list");
    let late: Vec<f64> = late.iter().filter_map(Value::as_f64).collect();
    let mut samples = Samples::default();
    for millis in &late {
        samples.push(*millis * 1e3);
    }
    let latest = late.iter().copied().fold(0.0, f64::max);
    let mut keys = Samples::default();
    for millis in seen["keys"].as_array().expect("it is a list") {
        keys.push(millis.as_f64().expect("it is a number") * 1e3);
    }
    let line = |what: &str, measured, goal| Line {
        what: what.to_owned(),
        measured,
        floor: None,
        goal,
    };
    vec![
        line(
            "50 terminals that print, 20 requests, 5,000 calls: renderer and GPU, of a core",
            Quantity::once(number("page"), Unit::Percent),
            Goal::AtMost(60.0),
        ),
        line(
            "… all processes of the browser",
            Quantity::once(number("all"), Unit::Percent),
            Goal::Nothing,
        ),
        line(
            "… from a key to the frame that answers it",
            Quantity::of(&keys, Unit::Millis),
            Goal::AtMost(100e3),
        ),
        line(
            "… from the last line to the page",
            Quantity::of(&samples, Unit::Millis),
            Goal::AtMost(250e3),
        ),
        line(
            "… of the last of them",
            Quantity::once(latest * 1e3, Unit::Millis),
            Goal::AtMost(250e3),
        ),
    ]
}

/// The directory where `cargo xtask bench` has installed the browser driver.
fn packages() -> anyhow::Result<PathBuf> {
    ensure!(
        Path::new(BROWSER).exists(),
        "`{BROWSER}` is not installed; install the Debian package `chromium`"
    );
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.filter(|cache| cache.is_absolute());
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    let cache = cache.or(home);
    let cache = cache.context("there is no folder for a cache; set XDG_CACHE_HOME or HOME")?;
    let folder = cache.join("windlass-mcp-clients");
    let driver = folder.join("bin/page-driver");
    ensure!(
        driver.exists(),
        "`{}` is missing; `cargo xtask bench --only page` installs it",
        driver.display()
    );
    Ok(folder)
}
