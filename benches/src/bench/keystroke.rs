//! A keystroke for a terminal of another runtime, sent to a server that reaches
//! one runtime or thirty. The cost must be the same.
//!
//! All runtimes are in this process, each with its own control socket. The
//! floor is a server that reaches only the runtime with the terminal.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use windlass_control::{Api, ControlSocket, Limits};
use windlass_runtime::{Catalogue, RunOptions, Runtime, Session, SessionOptions};
use windlass_serve_http::Server;
use windlass_testing::batch;

use super::fixture::{Fixture, at_prompt, expect_well};
use super::plan::Pace;
use super::samples::Samples;
use super::table::{Goal, Line, Quantity, Unit};

const RUNTIMES: u32 = 30;

pub(super) async fn measure(pace: Pace) -> Vec<Line> {
    let fixture = Fixture::new().await;
    let session = fixture.session();
    let spawn = json!({"action": "spawn", "id": "k", "command": "cat", "terminal": true});
    expect_well(
        &session
            .run(batch([("shell", spawn)]), RunOptions::default())
            .await,
    );
    at_prompt(&session, "k").await;

    let (one, thirty) = (fixture.folder().join("one"), fixture.folder().join("many"));
    let api = Api::new(fixture.runtime(), "drive");
    let mut sockets = vec![listen(&one, 1, &api), listen(&thirty, 1, &api)];
    let mut others = Vec::new();
    for number in 2..=RUNTIMES {
        let (api, session) = runtime();
        sockets.push(listen(&thirty, number, &api));
        others.push(session);
    }
    let closing = CancellationToken::new();
    let addresses = [serve(&one, &closing).await, serve(&thirty, &closing).await];
    let path = format!("/api/v1/sessions/{}/handles/k/input", session.id());
    let rounds = pace.pick(2000, 200);
    let timed = tokio::task::spawn_blocking(move || time(addresses, &path, rounds)).await;
    let [floor, measured] = timed.expect("every keystroke is taken");
    closing.cancel();
    session.close().await;
    drop((sockets, others));
    vec![Line {
        what: format!("a keystroke to one of {RUNTIMES} other runtimes, against one alone"),
        measured: Quantity::of(&measured, Unit::Micros),
        floor: Some(Quantity::of(&floor, Unit::Micros)),
        goal: Goal::Times(1.3),
    }]
}

/// A runtime with an idle session.
fn runtime() -> (Api, Session) {
    let runtime = Runtime::new(Catalogue::new());
    let session = runtime.session(SessionOptions::default());
    (Api::new(&runtime, "drive"), session)
}

/// Makes a runtime discoverable in a directory, as if it were another process.
fn listen(folder: &Path, pid: u32, api: &Api) -> ControlSocket {
    let socket = ControlSocket::listen(folder, api, windlass_process::peer_is_tool);
    let socket = socket.expect("a socket can be made");
    let name = folder.join(format!("drive-{pid}.sock"));
    std::fs::rename(socket.path(), name).expect("it can be renamed");
    socket
}

/// Serves the sessions of all runtimes in a directory.
async fn serve(folder: &Path, closing: &CancellationToken) -> SocketAddr {
    let (api, session) = runtime();
    let api = api.reaching(folder);
    let listener = TcpListener::bind("127.0.0.1:0").await;
    let listener = listener.expect("there is a free port");
    let address = listener.local_addr().expect("it has an address");
    let server = Server {
        listener,
        router: api.router(),
        tls: None,
        limits: Limits::default(),
        is_tool: windlass_process::peer_is_tool,
    };
    let closing = closing.clone();
    tokio::spawn(async move {
        server.run(&api, closing).await;
        drop(session);
    });
    address
}

/// Keystrokes alternate, so that other load on the machine affects both alike.
fn time(addresses: [SocketAddr; 2], path: &str, rounds: usize) -> [Samples; 2] {
    let mut clients = addresses.map(|address| {
        let stream = TcpStream::connect(address).expect("it listens");
        stream.set_nodelay(true).expect("it is TCP");
        BufReader::new(stream)
    });
    let mut samples = [Samples::default(), Samples::default()];
    for round in 0..rounds + rounds / 10 {
        for (client, samples) in clients.iter_mut().zip(&mut samples) {
            let time = press(client, path);
            // The first rounds are a warm-up.
            if round >= rounds / 10 {
                samples.push_time(time);
            }
        }
    }
    samples
}

/// Presses a key and waits for the reply.
fn press(client: &mut BufReader<TcpStream>, path: &str) -> Duration {
    // This key changes nothing, however often it is pressed.
    let body = r#"{"typing":{"keys":["backspace"]}}"#;
    let length = body.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    );
    let start = Instant::now();
    let written = client.get_mut().write_all(request.as_bytes());
    written.expect("it reads");
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        let read = client.read_line(&mut head);
        assert!(read.expect("it answers") > 0, "it has hung up");
    }
    let time = start.elapsed();
    assert!(head.starts_with("HTTP/1.1 20"), "{head}");
    let length = head.to_ascii_lowercase();
    let length = length
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let length = length.and_then(|length| length.parse().ok()).unwrap_or(0);
    client.read_exact(&mut vec![0; length]).expect("it answers");
    time
}
