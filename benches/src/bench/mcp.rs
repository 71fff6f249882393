//! A `tools/call` without work, over pipes and over HTTP, compared with a bare
//! server of the same library (`mcp_echo`).
//!
//! The client is minimal: it writes a message and blocks until the reply. Ours
//! fetches a handle without output, and so takes the whole path of a call,
//! including the record.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::mcp_echo;
use super::plan::Pace;
use super::samples::Samples;
use super::startup::binary;
use super::table::{Goal, Line, Quantity, Unit};

const TOKEN: &str = "a-token-of-a-benchmark-with-enough-characters";
/// The maximum overhead compared with the bare server, in microseconds.
const MOST: f64 = 300.0;

/// Empty if there is no `windlass` binary.
pub(super) fn measure(pace: Pace) -> Vec<Line> {
    let windlass = match binary() {
        Ok(binary) => binary,
        Err(problem) => {
            eprintln!("mcp is left out: {problem}");
            return Vec::new();
        }
    };
    let own = std::env::current_exe().expect("this program is somewhere");
    let folder = tempfile::tempdir().expect("a folder can be made");
    let home = folder.path();
    let start = |program: &Path, arguments: &[&str]| start(program, arguments, home);
    let calls = pace.pick(3000, 300);
    let mut lines = Vec::new();

    let mut bare = Piped::new(start(&own, &[mcp_echo::STDIO]));
    let mut ours = Piped::new(start(&windlass, &["mcp"]));
    lines.push(compare("over pipes", calls, &mut bare, &mut ours));
    drop((bare, ours));

    let mut bare = Http::new(start(&own, &[mcp_echo::HTTP]), Says::Stdout);
    let alone = ["mcp", "--http", "127.0.0.1:0"];
    let mut ours = Http::new(start(&windlass, &alone), Says::Stderr);
    lines.push(compare("over HTTP", calls, &mut bare, &mut ours));
    let served = ["serve", "--listen", "127.0.0.1:0", "--json"];
    let mut ours = Http::new(start(&windlass, &served), Says::Json);
    lines.push(compare("at `serve`", calls, &mut bare, &mut ours));
    lines
}

/// Calls alternate, so that other load on the machine affects both alike.
fn compare(how: &str, calls: usize, bare: &mut impl Client, ours: &mut impl Client) -> Line {
    let (mut floor, mut measured) = (Samples::default(), Samples::default());
    begin(bare);
    begin(ours);
    let spawn = json!({"action": "spawn", "id": "idle", "command": "sleep 1000"});
    time(ours, &call("shell", &spawn));
    let echo = call("echo", &json!({}));
    let fetch = call("shell", &json!({"action": "fetch", "id": "idle"}));
    for round in 0..calls + calls / 10 {
        let times = [time(bare, &echo), time(ours, &fetch)];
        // The first rounds are a warm-up.
        if round >= calls / 10 {
            floor.push_time(times[0]);
            measured.push_time(times[1]);
        }
    }
    Line {
        what: format!("`tools/call` of nothing {how}, against a bare server"),
        measured: Quantity::of(&measured, Unit::Micros),
        floor: Some(Quantity::of(&floor, Unit::Micros)),
        goal: Goal::Over(MOST),
    }
}

fn begin(client: &mut impl Client) {
    let hello = json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        },
    });
    let answer = client.ask(&hello.to_string());
    assert!(answer.contains("serverInfo"), "{answer}");
    client.tell(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
}

fn call(tool: &str, arguments: &Value) -> String {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string()
}

fn time(client: &mut impl Client, call: &str) -> Duration {
    let start = Instant::now();
    let answer = client.ask(call);
    let time = start.elapsed();
    assert!(answer.contains(r#""isError":false"#), "{answer}");
    time
}

/// A connection to a server.
trait Client {
    /// Sends a request and returns the reply.
    fn ask(&mut self, message: &str) -> String;
    /// Sends a notification.
    fn tell(&mut self, message: &str);
}

/// A running server. Dropping this kills it.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "whole servers are started")]
fn start(program: &Path, arguments: &[&str], folder: &Path) -> Server {
    let child = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("HOME", folder)
        .env("WINDLASS_TOKEN", TOKEN)
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("XDG_STATE_HOME")
        .env_remove("XDG_CACHE_HOME")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    Server(child.expect("it starts"))
}

struct Piped {
    _server: Server,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Piped {
    fn new(mut server: Server) -> Self {
        let output = server.0.stdout.take().expect("it was asked for");
        Self {
            input: server.0.stdin.take().expect("it was asked for"),
            output: BufReader::new(output),
            _server: server,
        }
    }
}

impl Client for Piped {
    fn ask(&mut self, message: &str) -> String {
        self.tell(message);
        let mut answer = String::new();
        let read = self.output.read_line(&mut answer);
        assert!(read.expect("it answers") > 0, "it has ended");
        answer
    }

    fn tell(&mut self, message: &str) {
        let line = format!("{message}\n");
        let written = self.input.write_all(line.as_bytes());
        written.expect("it reads");
    }
}

/// How a server announces its address.
#[derive(Clone, Copy)]
enum Says {
    /// The first line is the address.
    Stdout,
    /// A line contains it after `MCP at http://`.
    Stderr,
    /// The first line is a JSON object with the address and the token.
    Json,
}

struct Http {
    _server: Server,
    address: String,
    token: String,
    session: Option<String>,
    stream: BufReader<TcpStream>,
}

impl Http {
    fn new(mut server: Server, says: Says) -> Self {
        let mut token = TOKEN.to_owned();
        let address = match says {
            Says::Stdout => first_line(server.0.stdout.as_mut()).trim().to_owned(),
            Says::Stderr => {
                let errors = server.0.stderr.take().expect("it was asked for");
                let mut errors = BufReader::new(errors);
                let mut lines = errors.by_ref().lines().map_while(Result::ok);
                let found = lines.find_map(|line| {
                    let url = line.split_once("MCP at http://")?.1.to_owned();
                    url.strip_suffix("/mcp").map(str::to_owned)
                });
                // Keep the pipe open: it may print more.
                server.0.stderr = Some(errors.into_inner());
                found.expect("it prints its address, or an error before it")
            }
            Says::Json => {
                let line = first_line(server.0.stdout.as_mut());
                let said: Value = serde_json::from_str(&line).expect("it is JSON");
                said["token"]
                    .as_str()
                    .expect("it has one")
                    .clone_into(&mut token);
                let url = said["url"].as_str().expect("it has one");
                url.trim_start_matches("http://").to_owned()
            }
        };
        let stream = TcpStream::connect(&address).expect("it listens");
        stream.set_nodelay(true).expect("it is TCP");
        Self {
            _server: server,
            address,
            token,
            session: None,
            stream: BufReader::new(stream),
        }
    }

    /// Posts a message; returns the head and the body of the response.
    fn post(&mut self, message: &str) -> (String, String) {
        let (address, token, length) = (&self.address, &self.token, message.len());
        let session = self.session.as_ref();
        let session = session.map(|id| format!("Mcp-Session-Id: {id}\r\n"));
        let session = session.unwrap_or_default();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n{session}\
             Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n{message}"
        );
        let written = self.stream.get_mut().write_all(request.as_bytes());
        written.expect("it reads");
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            self.line(&mut head);
        }
        let head = head.to_ascii_lowercase();
        let body = self.body(&head);
        (head, body)
    }

    fn body(&mut self, head: &str) -> String {
        if let Some(length) = header(head, "content-length") {
            return self.bytes(length.parse().expect("it is a number"));
        }
        let mut body = String::new();
        // A response without a length or chunks has no body.
        while header(head, "transfer-encoding").is_some() {
            let mut size = String::new();
            self.line(&mut size);
            let size = usize::from_str_radix(size.trim(), 16).expect("it is a number");
            let chunk = self.bytes(size + 2);
            body.push_str(&chunk[..size]);
            if size == 0 {
                break;
            }
        }
        body
    }

    fn line(&mut self, text: &mut String) {
        let read = self.stream.read_line(text);
        assert!(read.expect("it answers") > 0, "it has hung up");
    }

    fn bytes(&mut self, count: usize) -> String {
        let mut bytes = vec![0; count];
        self.stream.read_exact(&mut bytes).expect("it answers");
        String::from_utf8(bytes).expect("it is text")
    }
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = head.lines();
    lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

impl Client for Http {
    fn ask(&mut self, message: &str) -> String {
        let (head, body) = self.post(message);
        assert!(head.starts_with("http/1.1 200"), "{head}{body}");
        if self.session.is_none() {
            self.session = header(&head, "mcp-session-id").map(str::to_owned);
        }
        body
    }

    fn tell(&mut self, message: &str) {
        let (head, body) = self.post(message);
        assert!(head.starts_with("http/1.1 202"), "{head}{body}");
    }
}

fn first_line(output: Option<&mut ChildStdout>) -> String {
    let mut line = String::new();
    let read = BufReader::new(output.expect("it was asked for")).read_line(&mut line);
    read.expect("it says where it is");
    line
}
