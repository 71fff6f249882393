use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use windlass_protocol::{Notice, NoticeKind, NoticeLevel};
use windlass_runtime::{Catalogue, Runtime, Session, SessionOptions};

use super::*;

/// Follows the session's events; has read up to the greeting.
async fn follow(address: std::net::SocketAddr, session: &Session) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let id = session.id();
    let request = format!("GET /api/v1/sessions/{id}/events HTTP/1.1\r\nhost: x\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    while line != "event: hello\n" {
        line.clear();
        stream.read_line(&mut line).await.unwrap();
    }
    stream
}

/// The number of the next event.
async fn next(stream: &mut BufReader<TcpStream>) -> u64 {
    let mut line = String::new();
    loop {
        line.clear();
        assert!(stream.read_line(&mut line).await.unwrap() > 0);
        if let Some(id) = line.strip_prefix("id: ") {
            return id.trim_end().parse().unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_does_not_read_is_cut_off_while_others_go_on() {
    let runtime = Runtime::new(Catalogue::new());
    let session = runtime.session(SessionOptions::default());
    let api = Api::new(&runtime, "serve");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = Server {
        listener,
        router: api.router(),
        tls: None,
        limits: Limits {
            stall: Duration::from_millis(200),
            ..Limits::default()
        },
        is_tool: |_| false,
    };
    let closing = CancellationToken::new();
    let serving = tokio::spawn({
        let (api, closing) = (api.clone(), closing.clone());
        async move { server.run(&api, closing).await }
    });
    let mut reading = follow(address, &session).await;
    let slow = follow(address, &session).await;
    let connections = || api.connections();
    assert_eq!(connections(), 2);

    let mut last = 0;
    while connections() > 1 {
        session.notify(Notice {
            level: NoticeLevel::Info,
            kind: NoticeKind::Server,
            handle: None,
            tool: None,
            text: "x".repeat(64 << 10),
        });
        session.take_notices();
        // The other is told everything all the while.
        while last < session.journal().last() {
            assert_eq!(next(&mut reading).await, last + 1);
            last += 1;
        }
    }

    drop(slow);
    closing.cancel();
    serving.await.unwrap();
}

/// A server with these limits, and where it is. It ends with the token.
async fn serving(limits: Limits) -> (Api, std::net::SocketAddr, CancellationToken) {
    let api = Api::new(&Runtime::new(Catalogue::new()), "serve");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = Server {
        listener,
        router: api.router(),
        tls: None,
        limits,
        is_tool: |_| false,
    };
    let closing = CancellationToken::new();
    let (own, until) = (api.clone(), closing.clone());
    tokio::spawn(async move { server.run(&own, until).await });
    (api, address, closing)
}

/// Asks how it goes; gives the answer's first line.
async fn health(address: std::net::SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = "GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).await.unwrap();
    line
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_never_finishes_its_head_is_cut_off_while_others_are_served() {
    let limits = Limits {
        head: Duration::from_millis(200),
        ..Limits::default()
    };
    let (api, address, closing) = serving(limits).await;
    let mut slow = Vec::new();
    for _ in 0..20 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream
            .write_all(b"GET /health HTTP/1.1\r\nx: ")
            .await
            .unwrap();
        slow.push(stream);
    }
    // One that the machine itself makes too slow is cut off too.
    while health(address).await != "HTTP/1.1 200 OK\r\n" {}
    for mut stream in slow {
        // A letter at a time does not keep it open.
        let mut answer = [0; 256];
        loop {
            let _ = stream.write_all(b"y").await;
            let read = tokio::io::AsyncReadExt::read(&mut stream, &mut answer);
            let read = tokio::time::timeout(Duration::from_millis(20), read);
            if let Ok(Ok(0) | Err(_)) = read.await {
                break;
            }
        }
    }
    while api.connections() > 0 {
        tokio::task::yield_now().await;
    }
    closing.cancel();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_beyond_the_limit_wait_their_turn() {
    let limits = Limits {
        connections: 2,
        ..Limits::default()
    };
    let (api, address, closing) = serving(limits).await;
    let idle = [
        TcpStream::connect(address).await.unwrap(),
        TcpStream::connect(address).await.unwrap(),
    ];
    while api.connections() < 2 {
        tokio::task::yield_now().await;
    }
    let waiting = tokio::spawn(health(address));
    drop(idle);
    assert_eq!(waiting.await.unwrap(), "HTTP/1.1 200 OK\r\n");
    closing.cancel();
}

/// A server with these limits, and its address.
async fn served(limits: Limits) -> (std::net::SocketAddr, tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let token = crate::token::Token::load(&folder.path().join("token")).unwrap();
    let bearer = token.as_str().to_owned();
    let api = Api::new(&Runtime::new(Catalogue::new()), "serve");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = Server {
        listener,
        router: crate::access::Access::new(&api, token).guard(api.router()),
        tls: None,
        limits,
        is_tool: |_| false,
    };
    tokio::spawn(async move { server.run(&api, CancellationToken::new()).await });
    (address, folder, bearer)
}

/// The first line of the answer to a request with the token.
async fn asked(stream: &mut TcpStream, bearer: &str) -> String {
    let request = format!(
        "GET /api/v1/sessions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {bearer}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).await.unwrap();
    line
}

#[tokio::test]
async fn a_client_that_says_nothing_is_let_go_of() {
    let limits = Limits {
        first: Duration::from_millis(50),
        ..Limits::default()
    };
    let (address, _folder, _) = served(limits).await;
    for begun in ["", "P", "PRI * HTTP/2.0\r\n"] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(begun.as_bytes()).await.unwrap();
        let mut rest = String::new();
        // The end comes, in whatever form.
        let _ = BufReader::new(&mut stream).read_line(&mut rest).await;
        assert_eq!(rest, "", "{begun:?}");
    }
}

#[tokio::test]
async fn strangers_make_room_for_whoever_knows_the_token() {
    let limits = Limits {
        connections: 3,
        first: Duration::from_mins(10),
        ..Limits::default()
    };
    let (address, _folder, bearer) = served(limits).await;
    let mut known = TcpStream::connect(address).await.unwrap();
    assert_eq!(asked(&mut known, &bearer).await, "HTTP/1.1 200 OK\r\n");
    let mut strangers = Vec::new();
    for _ in 0..10 {
        strangers.push(TcpStream::connect(address).await.unwrap());
    }
    let mut late = TcpStream::connect(address).await.unwrap();
    assert_eq!(asked(&mut late, &bearer).await, "HTTP/1.1 200 OK\r\n");
    // Whoever was known before still is.
    assert_eq!(asked(&mut known, &bearer).await, "HTTP/1.1 200 OK\r\n");
}
