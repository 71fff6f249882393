//! A running `windlass serve`, and requests to it as they go over the wire.
//!
//! Start at [`Serve::start`]. Requests are written by hand, since some of them
//! are such that no client would send them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::support::{DEADLINE, Project, eventually};

/// A server. Dropped, it is killed, and everything with it.
pub(crate) struct Serve {
    child: Child,
    pub(crate) address: String,
    pub(crate) token: String,
    pub(crate) socket: std::path::PathBuf,
}

/// What was answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// What it says went wrong.
    #[track_caller]
    pub(crate) fn error(&self) -> String {
        self.json()["error"]
            .as_str()
            .expect("an error says so")
            .to_owned()
    }
}

impl Serve {
    pub(crate) fn start(project: &Project) -> Self {
        Self::start_with(project, &[])
    }

    /// With these arguments too.
    pub(crate) fn start_with(project: &Project, args: &[&str]) -> Self {
        Self::start_as(project, "127.0.0.1:0", args)
    }

    /// The same, at an address.
    pub(crate) fn start_at(project: &Project, address: &str) -> Self {
        Self::start_as(project, address, &[])
    }

    /// The same, at an address and with these arguments too.
    pub(crate) fn start_at_with(project: &Project, address: &str, args: &[&str]) -> Self {
        Self::start_as(project, address, args)
    }

    fn start_as(project: &Project, address: &str, args: &[&str]) -> Self {
        let usual = ["serve", "--listen", address, "--json"];
        let mut child = project
            .windlass(&[&usual, args].concat())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stdout = child.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        let url = said["url"].as_str().unwrap();
        Self {
            child,
            address: url.split_once("://").unwrap().1.to_owned(),
            token: said["token"].as_str().unwrap().to_owned(),
            socket: said["socket"].as_str().unwrap().into(),
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for its exit and returns its exit code.
    pub(crate) fn wait(mut self) -> Option<i32> {
        let mut status = None;
        eventually("the server has ended", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        status.and_then(|status| status.code())
    }

    /// Sends these bytes and returns what is answered.
    pub(crate) fn raw(&self, request: &str) -> Answer {
        let mut stream = self.connect();
        // A server that has heard enough may close before all is written.
        let _ = stream.write_all(request.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        Answer {
            status: status.unwrap_or(0),
            head: head.to_ascii_lowercase(),
            body: body.to_owned(),
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream
    }

    /// Asks with these headers and no others.
    pub(crate) fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> Answer {
        let length = body.len();
        self.raw(&format!(
            "{method} {path} HTTP/1.1\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
        ))
    }

    pub(crate) fn headers(&self) -> String {
        let (address, token) = (&self.address, &self.token);
        format!("host: {address}\r\nauthorization: Bearer {token}\r\n")
    }

    /// Asks as a client does that may, anywhere.
    pub(crate) fn at(&self, method: &str, path: &str, body: &str) -> Answer {
        self.ask(method, path, &self.headers(), body)
    }

    /// The same, below `/api/v1`.
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", &format!("/api/v1{path}"), &self.headers(), "")
    }

    pub(crate) fn delete(&self, path: &str) -> Answer {
        self.ask("DELETE", &format!("/api/v1{path}"), &self.headers(), "")
    }

    pub(crate) fn post(&self, path: &str, body: Value) -> Answer {
        let path = format!("/api/v1{path}");
        self.ask("POST", &path, &self.headers(), &body.to_string())
    }

    /// Begins a session; returns its path.
    #[track_caller]
    pub(crate) fn session(&self, body: Value) -> String {
        let answer = self.post("/sessions", body);
        assert_eq!(answer.status, 201, "{answer:?}");
        format!("/sessions/{}", answer.json()["id"].as_str().unwrap())
    }

    /// Runs a single call in a session; returns its content.
    #[track_caller]
    pub(crate) fn call(&self, session: &str, tool: &str, arguments: Value) -> Value {
        let body = json!([{ "tool": tool, "arguments": arguments }]);
        let answer = self.post(&format!("{session}/calls"), body);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["replies"][0]["content"].clone()
    }

    /// Follows an event stream.
    pub(crate) fn events(&self, path: &str, headers: &str) -> Events {
        let mut stream = self.connect();
        let own = self.headers();
        let request = format!("GET /api/v1{path} HTTP/1.1\r\n{own}{headers}\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut stream = BufReader::new(stream);
        // The server has begun to listen when it has answered: what happens from
        // now on is in the stream.
        let mut line = String::new();
        while stream.read_line(&mut line).unwrap() > 2 {
            line.clear();
        }
        Events(stream)
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An event stream that is being read.
pub(crate) struct Events(BufReader<TcpStream>);

/// One event of it.
#[derive(Debug, Default)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) id: String,
    pub(crate) data: Value,
}

impl Events {
    /// The next event, whatever it is.
    #[track_caller]
    pub(crate) fn next(&mut self) -> Event {
        self.try_next().expect("the stream has ended")
    }

    /// The same; nothing where the server has cut the stream off, be it within
    /// an event.
    #[track_caller]
    pub(crate) fn try_next(&mut self) -> Option<Event> {
        let mut event = Event::default();
        let mut line = String::new();
        loop {
            line.clear();
            let read = self.0.read_line(&mut line).unwrap_or(0);
            if read == 0 || !line.ends_with('\n') {
                return None;
            }
            let line = line.trim_end();
            // Lengths of chunks and other headers have no such names.
            if let Some(name) = line.strip_prefix("event: ") {
                name.clone_into(&mut event.name);
            } else if let Some(id) = line.strip_prefix("id: ") {
                id.clone_into(&mut event.id);
            } else if let Some(data) = line.strip_prefix("data: ") {
                event.data = serde_json::from_str(data).unwrap();
            } else if line.is_empty() && !event.name.is_empty() {
                return Some(event);
            }
        }
    }

    /// Everything else, to the end of the connection.
    pub(crate) fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        self.0.read_to_end(&mut rest).unwrap();
        String::from_utf8_lossy(&rest).into_owned()
    }

    /// The next event that is wanted.
    #[track_caller]
    pub(crate) fn until(&mut self, mut wanted: impl FnMut(&Event) -> bool) -> Event {
        loop {
            let event = self.next();
            if wanted(&event) {
                return event;
            }
        }
    }

    /// The next update of that type.
    #[track_caller]
    pub(crate) fn update(&mut self, kind: &str) -> Event {
        self.until(|event| event.name == "update" && event.data["type"] == json!(kind))
    }
}
