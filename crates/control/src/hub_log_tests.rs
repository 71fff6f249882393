use std::path::Path;

use super::*;
use crate::logged::HubSession;

fn open(folder: &Path) -> HubLog {
    let (log, lines) = LineLog::open(folder).unwrap().expect("nobody has it");
    HubLog::new(log, &lines)
}

#[test]
fn a_hub_goes_on_where_the_last_one_was() {
    let folder = tempfile::tempdir().unwrap();
    let (ended, lasting) = (SessionId::from_suffix("1"), SessionId::from_suffix("2"));
    let mut log = open(folder.path());
    log.begin("epoch");
    log.note_peer("mcp-1.sock", "e-0");
    log.note_peer("mcp-2.sock", "f-0");
    let update = |id, number, is_last| ItemSource::Session {
        id,
        number,
        is_last,
    };
    log.write(1, "update", "{}", update(&ended, 1, false));
    log.write(2, "update", "{}", update(&lasting, 7, false));
    log.write(3, "update", "{}", update(&ended, 2, true));
    let peer = ItemSource::Peer {
        socket: "mcp-1.sock",
        id: "e-5",
    };
    log.write(4, "update", r#"{"a":"\"b\""}"#, peer);
    log.write(
        5,
        "peer_gone",
        "{}",
        ItemSource::PeerGone {
            socket: "mcp-2.sock",
        },
    );
    drop(log);

    let mut log = open(folder.path());
    log.begin("another");
    assert_eq!(log.state.epoch, "epoch");
    assert_eq!(log.state.last, 5);
    let sessions: Vec<_> = log.state.sessions.iter().collect();
    assert_eq!(sessions, [(&lasting, &HubSession { last: 7 })]);
    let peers: Vec<_> = log.state.peers.iter().collect();
    assert_eq!(peers, [(&"mcp-1.sock".to_owned(), &"e-5".to_owned())]);
    let numbers: Vec<u64> = log.items.iter().map(|item| item.number).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    assert_eq!(log.items[3].data, r#"{"a":"\"b\""}"#);
}
