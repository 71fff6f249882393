//! Clients over HTTP, and what keeps them apart.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::Response;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Barrier;
use windlass_serve_mcp::{ClientIdentity, HttpOptions, HttpSessions, http_router};
use windlass_testing::ScriptedJob;

use crate::support::{Tools, text};

/// Serves the tools; the header `owner` says who asks.
async fn serve(tools: &Tools, idle: Duration) -> (SocketAddr, HttpSessions) {
    let options = HttpOptions {
        idle,
        max_body: 1 << 16,
        ..HttpOptions::default()
    };
    let (router, sessions) = http_router(&tools.server(Duration::from_mins(1)), options);
    let router = Router::new()
        .nest_service("/mcp", router)
        .layer(middleware::from_fn(by_header));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    (address, sessions)
}

async fn by_header(mut request: Request, next: Next) -> Response {
    let owner = request.headers().get("owner").cloned();
    if let Some(owner) = owner {
        let owner = owner.to_str().unwrap().into();
        request.extensions_mut().insert(ClientIdentity(owner));
    }
    next.run(request).await
}

/// A response: its status, its headers in lower case, its body.
struct Got {
    status: u16,
    head: String,
    body: String,
}

impl Got {
    fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines();
        lines.find_map(|line| line.strip_prefix(&format!("{name}: ")))
    }

    /// The answer, as JSON or as the last event.
    fn answer(&self) -> Value {
        let events = self
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("data: "));
        let mut events = events;
        let event = events.rfind(|data| data.starts_with('{'));
        let from = event.unwrap_or_else(|| {
            let begin = self.body.find('{').unwrap_or(0);
            let end = self.body.rfind('}').map_or(self.body.len(), |end| end + 1);
            &self.body[begin..end]
        });
        serde_json::from_str(from).unwrap_or_else(|error| panic!("{error} in {}", self.body))
    }
}

async fn send(address: SocketAddr, method: &str, headers: &[(&str, &str)], body: &str) -> Got {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut head = format!("{method} /mcp HTTP/1.1\r\nConnection: close\r\n");
    if headers.iter().all(|(name, _)| *name != "Host") {
        write!(head, "Host: {address}\r\n").unwrap();
    }
    for (name, value) in headers {
        write!(head, "{name}: {value}\r\n").unwrap();
    }
    write!(
        head,
        "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    )
    .unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).await.unwrap();
    let response = String::from_utf8(response).unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    Got {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        head: head.to_ascii_lowercase(),
        body: body.to_owned(),
    }
}

fn initialize() -> String {
    json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    })
    .to_string()
}

fn call(tool: &str, arguments: &Value) -> String {
    json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    })
    .to_string()
}

async fn begin(address: SocketAddr, owner: &str) -> String {
    let got = send(address, "POST", &[("owner", owner)], &initialize()).await;
    assert_eq!(got.status, 200, "{}", got.body);
    got.header("mcp-session-id").unwrap().to_owned()
}

async fn within(address: SocketAddr, owner: &str, session: &str, body: &str) -> Got {
    let headers = [("owner", owner), ("Mcp-Session-Id", session)];
    send(address, "POST", &headers, body).await
}

async fn stateless(address: SocketAddr, owner: &str, client: &str, arguments: Value) -> Value {
    let body = json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {
            "name": "tool",
            "arguments": arguments,
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": client, "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    });
    let headers = [
        ("owner", owner),
        ("Mcp-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "tool"),
    ];
    let got = send(address, "POST", &headers, &body.to_string()).await;
    assert_eq!(got.status, 200, "{}", got.body);
    got.answer()["result"].clone()
}

#[tokio::test]
async fn nobody_reaches_the_session_of_another() {
    let tools = Tools::new();
    let (address, _sessions) = serve(&tools, Duration::from_mins(1)).await;
    let (first, second) = (begin(address, "ann").await, begin(address, "ann").await);
    let spawn = call("tool", &json!({"action": "spawn", "id": "a"}));
    let fetch = call("tool", &json!({"action": "fetch", "id": "a"}));
    let spawned = within(address, "ann", &first, &spawn).await.answer();
    assert_eq!(spawned["result"]["structuredContent"]["state"], "running");
    let fetched = within(address, "ann", &second, &fetch).await.answer();
    assert_eq!(fetched["result"]["isError"], true);
    // Not by its id either, and not to end it.
    assert_eq!(within(address, "bob", &first, &fetch).await.status, 404);
    let headers = [("owner", "bob"), ("Mcp-Session-Id", first.as_str())];
    assert_eq!(send(address, "DELETE", &headers, "").await.status, 404);
    assert_eq!(send(address, "GET", &headers, "").await.status, 404);
    let fetched = within(address, "ann", &first, &fetch).await.answer();
    assert_eq!(fetched["result"]["structuredContent"]["state"], "running");
}

#[tokio::test]
async fn stateless_clients_are_distinguished_by_owner_and_name() {
    let tools = Tools::new();
    let (address, _sessions) = serve(&tools, Duration::from_mins(1)).await;
    let spawn = json!({"action": "spawn", "id": "a"});
    let fetch = json!({"action": "fetch", "id": "a"});
    stateless(address, "ann", "one", spawn).await;
    let same = stateless(address, "ann", "one", fetch.clone()).await;
    assert_eq!(same["structuredContent"]["state"], "running");
    for (owner, client) in [("ann", "two"), ("bob", "one")] {
        let other = stateless(address, owner, client, fetch.clone()).await;
        assert_eq!(other["isError"], true);
        assert!(text(&other).contains("not found"), "{other}");
    }
}

#[tokio::test]
async fn strangers_are_kept_out() {
    let tools = Tools::new();
    let (address, _sessions) = serve(&tools, Duration::from_mins(1)).await;
    let body = initialize();
    assert_eq!(send(address, "POST", &[], &body).await.status, 401);
    for header in [
        ("Origin", "http://evil.example"),
        ("Origin", "null"),
        ("Host", "evil.example"),
    ] {
        let got = send(address, "POST", &[("owner", "ann"), header], &body).await;
        assert_eq!(got.status, 403, "{header:?}");
    }
    let near = [("owner", "ann"), ("Origin", "http://localhost:5173")];
    assert_eq!(send(address, "POST", &near, &body).await.status, 200);
}

#[tokio::test]
async fn bad_bodies_are_answered_and_survived() {
    let tools = Tools::new();
    let (address, _sessions) = serve(&tools, Duration::from_mins(1)).await;
    let owner = [("owner", "ann")];
    let bad = send(address, "POST", &owner, "{not json").await;
    assert!((400..500).contains(&bad.status), "{}", bad.status);
    let large = format!("{{\"x\":\"{}\"}}", "y".repeat(1 << 17));
    assert_eq!(send(address, "POST", &owner, &large).await.status, 413);
    begin(address, "ann").await;
}

/// One client's whole stay: five handles, each of which says its own name. All
/// of them are there at once before any is looked at.
async fn stay(address: SocketAddr, name: usize, all_here: Arc<Barrier>) {
    let owner = format!("owner{name}");
    let session = begin(address, &owner).await;
    let headers = [
        ("owner", owner.as_str()),
        ("Mcp-Session-Id", session.as_str()),
    ];
    let stream = open(address, &headers).await;
    for number in 0..5 {
        let id = format!("h{number}");
        let spawn = call(
            "tool",
            &json!({"action": "spawn", "id": id, "says": format!("{name} {number}")}),
        );
        within(address, &owner, &session, &spawn).await;
    }
    all_here.wait().await;
    for number in 0..5 {
        let fetch = call(
            "tool",
            &json!({"action": "fetch", "id": format!("h{number}"), "view": "all"}),
        );
        let fetched = within(address, &owner, &session, &fetch).await.answer();
        let view = &fetched["result"]["structuredContent"];
        assert_eq!(view["content"], format!("{name} {number}"), "{fetched}");
        assert_eq!(view["state"], "running", "{fetched}");
    }
    all_here.wait().await;
    // Half of them say that they go; of the others only the stream breaks.
    if name.is_multiple_of(2) {
        assert!(send(address, "DELETE", &headers, "").await.status < 300);
    }
    drop(stream);
}

/// Opens a client's stream; it is there when its head has come.
async fn open(address: SocketAddr, headers: &[(&str, &str)]) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut head = format!("GET /mcp HTTP/1.1\r\nHost: {address}\r\n");
    for (name, value) in headers {
        write!(head, "{name}: {value}\r\n").unwrap();
    }
    head.push_str("Accept: text/event-stream\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut begin = [0; 12];
    stream.read_exact(&mut begin).await.unwrap();
    assert_eq!(&begin, b"HTTP/1.1 200");
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_clients_do_not_hear_each_other_and_leave_nothing() {
    const CLIENTS: usize = 200;
    let tools = Tools::new();
    tools.tool.opening(|job| {
        let says = job.args()["says"].as_str().unwrap().to_owned();
        job.write(&says);
    });
    let (address, sessions) = serve(&tools, Duration::from_mins(30)).await;
    let all_here = Arc::new(Barrier::new(CLIENTS + 1));
    let stays: Vec<_> = (0..CLIENTS)
        .map(|name| tokio::spawn(stay(address, name, Arc::clone(&all_here))))
        .collect();
    all_here.wait().await;
    assert_eq!(sessions.count(), CLIENTS);
    let under_way = tools.runtime.sessions().list();
    assert_eq!(under_way.len(), CLIENTS);
    for (session, _) in under_way {
        assert_eq!(session.handles().len(), 5);
    }
    all_here.wait().await;
    for stay in stays {
        stay.await.unwrap();
    }
    let jobs = tools.tool.started();
    assert_eq!(jobs.len(), CLIENTS * 5);
    for job in jobs {
        job.aborted(1).await;
    }
    let gone = async {
        while sessions.count() > 0
            || !tools.runtime.sessions().list().is_empty()
            || !tools.tool.started().iter().all(ScriptedJob::is_dropped)
        {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let gone = tokio::time::timeout(Duration::from_mins(1), gone).await;
    gone.expect("something of them is left");
}
