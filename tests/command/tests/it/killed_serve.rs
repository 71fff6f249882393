//! `windlass serve`, killed again and again while it is busy.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::mpsc;

use serde_json::{Value, json};

use crate::http_support::Serve;
use crate::processes::{self, Victim};
use crate::records::{parts_of, show};
use crate::support::{DEADLINE, Project, eventually, files_below};

const ROUNDS: usize = 20;
const CALLERS: usize = 4;

/// A reply that a caller has read to its end.
struct Answered {
    session: String,
    command: String,
    content: Value,
}

/// A client that makes calls until the server is gone.
struct Caller<'a> {
    serve: &'a Serve,
    name: String,
    lasting: String,
    told: mpsc::Sender<Answered>,
}

impl Caller<'_> {
    /// `None` when the server has gone.
    fn call_until_it_is_gone(&self) -> Option<()> {
        let begun = self.ask("/sessions", &json!({"trusted": true}))?;
        let session = begun["id"].as_str()?.to_owned();
        let spawn = json!({"action": "spawn", "id": "lasting", "command": self.lasting});
        self.call(&session, spawn)?;
        for number in 0.. {
            let command = format!("echo {}-{number}", self.name);
            self.call(&session, json!({"command": command}))?;
        }
        None
    }

    fn call(&self, session: &str, arguments: Value) -> Option<()> {
        let calls = json!([{"tool": "shell", "arguments": arguments}]);
        let reply = self.ask(&format!("/sessions/{session}/calls"), &calls)?;
        let answered = Answered {
            session: session.to_owned(),
            command: arguments["command"].as_str()?.to_owned(),
            content: reply["replies"][0]["content"].clone(),
        };
        self.told.send(answered).ok()
    }

    /// `None` when no whole answer came.
    fn ask(&self, path: &str, body: &Value) -> Option<Value> {
        let Serve { address, token, .. } = self.serve;
        let mut stream = TcpStream::connect(address).ok()?;
        stream.set_read_timeout(Some(DEADLINE)).ok()?;
        let body = body.to_string();
        let length = body.len();
        let request = format!(
            "POST /api/v1{path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
             content-length: {length}\r\nconnection: close\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (_, body) = answer.split_once("\r\n\r\n")?;
        serde_json::from_str(body).ok()
    }
}

/// Calls from all sides, kills the server when it has given so many answers,
/// and gives all that came.
fn kill_under_load(serve: &Serve, round: usize, victim: &Victim) -> Vec<Answered> {
    let (told, answers) = mpsc::channel();
    std::thread::scope(|scope| {
        for caller in 0..CALLERS {
            let caller = Caller {
                serve,
                name: format!("r{round}c{caller}"),
                lasting: victim.sleep(),
                told: told.clone(),
            };
            scope.spawn(move || caller.call_until_it_is_gone());
        }
        drop(told);
        let enough = CALLERS * 2 + round;
        let first = (0..enough).map(|_| answers.recv_timeout(DEADLINE).unwrap());
        let mut all: Vec<Answered> = first.collect();
        processes::kill(serve.pid());
        all.extend(answers.iter());
        all
    })
}

#[test]
fn a_server_that_is_killed_has_kept_what_it_answered_and_left_nothing() {
    let project = Project::new();
    for round in 0..ROUNDS {
        let victim = Victim::new();
        let mut serve = Serve::start(&project);
        let mut answered = kill_under_load(&serve, round, &victim);
        serve.kill();
        assert!(answered.len() >= CALLERS * 2 + round);
        answered.sort_by(|one, other| one.session.cmp(&other.session));
        for of_session in answered.chunk_by(|one, other| one.session == other.session) {
            is_recorded(&project, of_session);
        }
        eventually("nothing is left", || victim.alive().is_empty());
    }
    let files = files_below(&project.state_dir());
    let databases = files
        .iter()
        .filter(|file| file.extension().is_some_and(|name| name == "db"));
    let mut checked = 0;
    for database in databases {
        let connection = rusqlite::Connection::open(database).unwrap();
        let check = "PRAGMA integrity_check";
        let found: String = connection.query_row(check, (), |row| row.get(0)).unwrap();
        assert_eq!(found, "ok");
        checked += 1;
    }
    assert_eq!(checked, 1, "{files:?}");
}

#[track_caller]
fn is_recorded(project: &Project, answered: &[Answered]) {
    let shown = show(project, &answered[0].session);
    assert!(shown["session"]["time"]["ended"].is_number(), "{shown}");
    let parts = parts_of(&shown);
    for part in &parts {
        let status = part["state"]["status"].as_str().unwrap();
        assert!(matches!(status, "completed" | "error"), "{part}");
    }
    for Answered {
        command, content, ..
    } in answered
    {
        let mut of_command = parts
            .iter()
            .filter(|part| part["state"]["input"]["command"] == **command);
        let part = of_command
            .next()
            .unwrap_or_else(|| panic!("`{command}` is lost"));
        let said = match content {
            Value::String(text) => text.clone(),
            handle => handle.to_string(),
        };
        let output = part["state"]["output"].as_str().unwrap_or_default();
        assert_eq!(output, said, "{part}");
    }
}
