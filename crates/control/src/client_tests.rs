use super::*;

#[test]
fn an_event_is_read_line_by_line() {
    let mut event = ServerSent::default();
    for line in [": a word", "event: update", "id: 7", "data: a", "data:b"] {
        assert_eq!(event.line(line), None);
    }
    let read = event.line("").unwrap();
    assert_eq!(read.name, "update");
    assert_eq!(read.id.as_deref(), Some("7"));
    assert_eq!(read.data, "a\nb");
    assert_eq!(event.line(""), None);
}

#[test]
fn a_socket_is_named_after_its_front_end_and_its_process() {
    let peer = Peer::named(Path::new("/run/drive-12.sock")).unwrap();
    assert_eq!((peer.front_end.as_str(), peer.pid), ("drive", 12));
    for strange in [
        "/run/drive-12.sock.new",
        "/run/drive.sock",
        "/run/drive-x.sock",
    ] {
        assert_eq!(Peer::named(Path::new(strange)), None);
    }
}

#[tokio::test]
async fn a_socket_that_nobody_listens_on_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let dead = folder.path().join("drive-1.sock");
    drop(std::os::unix::net::UnixListener::bind(&dead).unwrap());
    let live = folder.path().join("drive-2.sock");
    let _listener = std::os::unix::net::UnixListener::bind(&live).unwrap();
    let other = folder.path().join("notes.sock");
    std::fs::write(&other, "").unwrap();

    let found = peers(folder.path()).await;

    assert_eq!(found.len(), 1);
    assert_eq!(found[0].pid, 2);
    assert!(!dead.exists());
    assert!(live.exists() && other.exists());
}
