use super::*;

#[test]
fn an_order_to_keep_is_read_as_it_was_written() {
    for log in [None, Some(PathBuf::from("/state/1.log"))] {
        let order = KeepOrder {
            streams: Streams {
                stderr: true,
                stdin: false,
                terminal: false,
            },
            lease: Duration::from_hours(1),
            nonce: [7; 16],
            log_limit: 1 << 40,
            hold_object: true,
            socket: PathBuf::from("/state/held/a.sock"),
            receipt: PathBuf::from("/state/held/a.receipt"),
            log,
        };
        assert_eq!(KeepOrder::read(&order.write()), Some(order));
    }
}

#[test]
fn requests_are_read_as_they_were_written() {
    for wants in [Wants::Adopt, Wants::Describe] {
        let request = HolderRequest {
            version: 3,
            wants,
            nonce: *b"0123456789abcdef",
        };
        assert_eq!(HolderRequest::read(&request.write()), Some(request));
    }
    assert_eq!(HolderRequest::read(b"x"), None);
    assert_eq!(HolderRequest::read(&[]), None);
}

#[test]
fn replies_are_read_as_they_were_written() {
    let adopted = |status| HolderReply::Adopted {
        streams: Streams {
            stderr: false,
            stdin: true,
            terminal: true,
        },
        pid: 17,
        shim: 16,
        status,
        held: Duration::from_millis(1500),
    };
    for reply in [
        adopted(None),
        adopted(Some(256)),
        HolderReply::Described {
            pid: 17,
            shim: 16,
            status: None,
            owner: 0,
            left: Duration::from_secs(5),
        },
        HolderReply::Busy { owner: 4711 },
        HolderReply::Refused { version: 2 },
    ] {
        assert_eq!(HolderReply::read(&reply.write()), Some(reply));
    }
}

/// A later version may add to a message.
#[test]
fn longer_messages_are_read() {
    let mut bytes = HolderReply::Busy { owner: 1 }.write();
    bytes.extend([1, 2, 3]);
    assert_eq!(
        HolderReply::read(&bytes),
        Some(HolderReply::Busy { owner: 1 })
    );
}
