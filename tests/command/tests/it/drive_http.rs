//! `drive` over a connection of `windlass serve`.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::http_support::Serve;
use crate::processes::Victim;
use crate::support::{DEADLINE, Project, call, eventually, spawn};

/// A connection that was upgraded. Dropped, it is closed.
struct Upgraded(BufReader<TcpStream>);

impl Upgraded {
    fn open(serve: &Serve, query: &str) -> Self {
        let mut stream = TcpStream::connect(&serve.address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let request = format!(
            "GET /api/v1/drive{query} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
             Connection: upgrade\r\nUpgrade: windlass-drive\r\n\r\n",
            serve.address, serve.token
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut upgraded = Self(BufReader::new(stream));
        let head: Vec<String> = std::iter::from_fn(|| Some(upgraded.line()))
            .take_while(|line| !line.is_empty())
            .collect();
        assert!(head[0].starts_with("HTTP/1.1 101 "), "{head:?}");
        upgraded
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn next(&mut self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    fn send(&mut self, line: Value) {
        self.0
            .get_mut()
            .write_all(format!("{line}\n").as_bytes())
            .unwrap();
    }
}

#[test]
fn lines_are_answered_as_by_drive() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let mut driver = Upgraded::open(&serve, "?ask=true");
    driver.send(json!([call("shell", json!({"command": "echo hello"}))]));
    let permission = driver.next()["request"]["id"].clone();
    driver.send(json!({"permission": permission, "reply": "once"}));
    assert_eq!(driver.next()["replies"][0]["content"], json!("hello\n"));
    driver.send(json!("no line"));
    assert_snapshot!(driver.next()["error"].as_str().unwrap(), @r#"a line must be a list of calls or an object; for example [{"tool":"shell","arguments":{"command":"ls"}}]"#);
    driver.send(json!({"batch": "long", "calls": [], "padding": "x".repeat(8 << 20)}));
    assert_snapshot!(driver.next()["error"].as_str().unwrap(), @"the line is longer than 8 MiB; send shorter lines");
    driver.send(json!({"request": "s", "op": "session"}));
    let session = driver.next()["value"].clone();
    assert_eq!(session["pid"], json!(serve.pid()));
    assert_eq!(session["trusted"], json!(false));
}

#[test]
fn tools_of_one_driver_are_not_offered_to_another() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let (mut one, mut other) = (Upgraded::open(&serve, ""), Upgraded::open(&serve, ""));
    one.send(json!({"request": "a", "op": "add_tool", "name": "mine"}));
    assert_eq!(one.next()["value"], json!({}));
    other.send(json!([call("mine", json!({}))]));
    let refused = other.next()["replies"][0].clone();
    assert_eq!(refused["is_error"], json!(true));
    one.send(json!([call("mine", json!({}))]));
    let run = one.next()["run"].clone();
    one.send(json!({"run": run, "report": "result", "text": "done"}));
    assert_eq!(one.next()["replies"][0]["content"], json!("done"));
}

#[test]
fn a_session_ends_with_its_connection() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let victim = Victim::new();
    let mut driver = Upgraded::open(&serve, "");
    driver.send(json!([spawn("tree", &victim.script())]));
    driver.next();
    victim.wait_until_up();
    drop(driver);
    eventually("its processes have ended", || victim.alive().is_empty());
    eventually("it is listed no more", || {
        serve.get("/sessions").json() == json!([])
    });
}

#[test]
fn only_an_upgrade_request_with_the_token_is_accepted() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let refused = serve.get("/drive");
    assert_eq!(refused.status, 426, "{refused:?}");
    assert!(
        refused.head.contains("upgrade: windlass-drive"),
        "{refused:?}"
    );
    let request = format!(
        "GET /api/v1/drive HTTP/1.1\r\nHost: {}\r\nConnection: close, upgrade\r\nUpgrade: windlass-drive\r\n\r\n",
        serve.address
    );
    assert_eq!(serve.raw(&request).status, 401);
}
