use super::*;

fn text(socket: &OwnedFd) -> Option<String> {
    let mut buffer = [0; 64];
    match receive(socket, &mut buffer, drop) {
        Received::Message(length) => Some(String::from_utf8_lossy(&buffer[..length]).into_owned()),
        Received::Nothing | Received::End { .. } => None,
    }
}

#[test]
fn the_last_messages_of_a_peer_that_did_not_read_all_are_received() {
    let (ours, theirs) = pair().unwrap();
    for report in ["exited", "ended"] {
        send(&theirs, report.as_bytes(), &[]).unwrap();
    }
    send(&ours, b"an order that is not read", &[]).unwrap();
    drop(theirs);
    assert_eq!(text(&ours).as_deref(), Some("exited"));
    assert_eq!(text(&ours).as_deref(), Some("ended"));
    assert_eq!(text(&ours), None);
}

#[test]
fn an_order_that_was_not_read_is_known() {
    let (ours, theirs) = pair().unwrap();
    send(&ours, b"an order that is not read", &[]).unwrap();
    drop(theirs);
    let received = receive(&ours, &mut [0; 64], drop);
    assert!(matches!(received, Received::End { unread: true }));
}
