use std::net::TcpListener;
use std::sync::Arc;

use tempfile::TempDir;

use super::*;

fn request() -> HandoverRequest {
    HandoverRequest {
        root: "/project".into(),
        listen: None,
        socket_only: false,
    }
}

fn offer(listener: &TcpListener) -> HandoverOffer {
    HandoverOffer {
        pid: std::process::id(),
        address: Some(listener.local_addr().unwrap()),
    }
}

/// A server under this pid that refuses everybody.
fn refusing(folder: &Path, pid: u32) -> tokio::task::JoinHandle<()> {
    let socket = HandoverSocket::listen_as(folder, pid, |_| false).unwrap();
    tokio::spawn(async move {
        loop {
            socket.next().await.refuse("not now").await;
        }
    })
}

fn server(is_tool: PeerCheck) -> (TempDir, Arc<HandoverSocket>) {
    let folder = tempfile::tempdir().unwrap();
    let socket = HandoverSocket::listen(folder.path(), is_tool).unwrap();
    (folder, Arc::new(socket))
}

#[tokio::test]
async fn a_place_is_handed_over_with_its_listening_socket() {
    let (folder, socket) = server(|_| false);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let offer = offer(&listener);
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move {
        let mut successor = socket.next().await;
        assert_eq!(successor.request, request());
        successor
            .offer(offer, Some(listener.as_fd()))
            .await
            .unwrap();
        drop(listener);
        successor.hand_over().await
    });
    let found = Predecessor::find(folder.path(), &request()).await.unwrap();
    let mut found = found.expect("there is a server");
    let listener = TcpListener::from(found.listener.take().expect("it listens"));
    found.take().await.unwrap();
    assert_eq!(listener.local_addr().unwrap(), address);
    std::net::TcpStream::connect(address).unwrap();
    found.is_up().await.unwrap();
    serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_successor_that_dies_gives_the_place_back_at_any_moment() {
    let (folder, socket) = server(|_| false);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    for is_ready in [false, true] {
        let offer = offer(&listener);
        let (socket, fd) = (Arc::clone(&socket), listener.try_clone().unwrap());
        let serving = tokio::spawn(async move {
            let mut successor = socket.next().await;
            successor.offer(offer, Some(fd.as_fd())).await?;
            successor.hand_over().await
        });
        let found = Predecessor::find(folder.path(), &request()).await.unwrap();
        let mut found = found.expect("there is a server");
        if is_ready {
            found.take().await.unwrap();
        }
        drop(found);
        let broken = serving.await.unwrap();
        assert!(
            matches!(broken, Err(HandoverError::Broken(_))),
            "{broken:?}"
        );
    }
}

#[tokio::test]
async fn a_tool_is_refused() {
    let (folder, socket) = server(|_| true);
    tokio::spawn(async move { socket.next().await });
    let refused = Predecessor::find(folder.path(), &request()).await.err();
    let refused = refused.expect("it is a tool").to_string();
    assert!(refused.contains("a tool asks"), "{refused}");
}

#[tokio::test]
async fn without_a_server_there_is_nobody_to_replace() {
    let (folder, socket) = server(|_| false);
    let dead = socket.path.with_file_name("serve-1.handover");
    drop(std::os::unix::net::UnixListener::bind(&dead).unwrap());
    drop(socket);
    let found = Predecessor::find(folder.path(), &request()).await.unwrap();
    assert!(found.is_none());
    assert!(!dead.exists(), "the socket of a dead server is removed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_place_that_changes_hands_is_never_missed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    let mut server = refusing(&path, 1);
    let changing = tokio::spawn(async move {
        for pid in 2..3000 {
            let successor = refusing(&path, pid);
            server.abort();
            let _ = server.await;
            server = successor;
        }
        server.abort_handle()
    });
    while !changing.is_finished() {
        let found = Predecessor::find(folder.path(), &request()).await;
        assert!(found.is_err(), "no server was found");
    }
    changing.await.unwrap().abort();
}
