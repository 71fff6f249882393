use super::*;

fn record() -> Arc<OutputRecord> {
    let origin = ProgramOrigin {
        session: [1; 16],
        program: 3,
    };
    OutputRecord::new(origin, true, 1024)
}

fn take(record: &OutputRecord, from: u64, length: usize) {
    record.take_held(from, vec![b'x'; length]);
}

#[test]
fn output_is_taken_once_although_a_new_link_repeats_it() {
    let record = record();
    take(&record, 0, 10);
    take(&record, 0, 10);
    take(&record, 10, 5);
    assert_eq!(record.taken(), 15);
    assert_eq!(record.state.borrow().queue.len(), 2);
}

#[test]
fn small_frames_share_a_message_and_large_ones_do_not() {
    let record = record();
    for number in 0..10 {
        take(&record, number * 100, 100);
    }
    assert_eq!(record.next_messages(1 << 20).len(), 1);
    for number in 0..10 {
        take(&record, 1000 + number * 30_000, 30_000);
    }
    let messages = record.next_messages(1 << 20);
    assert_eq!(messages.len(), 3);
    assert!(
        messages
            .iter()
            .all(|message| message.bytes.len() <= MESSAGE)
    );
    assert_eq!(record.state.borrow().queued, 0);
}

#[test]
fn a_flood_drops_the_oldest_frames_from_the_queue() {
    let record = record();
    for number in 0..200 {
        take(&record, number * 30_000, 30_000);
    }
    let state = record.state.borrow();
    assert!(state.queued <= QUEUED && state.queued > QUEUED / 2);
    assert_eq!(state.taken, 200 * 30_000);
}

/// Notes that a message is stored.
fn store(record: &OutputRecord, sequence: u64, message: &RecordMessage) {
    record.stored.lock().push_back(StoredMessage {
        sequence,
        length: message.bytes.len(),
        is_exit: message.is_exit,
    });
}

#[test]
fn a_flood_does_not_displace_the_exit() {
    let record = record();
    record.take_exit(&[105]);
    for number in 0..200 {
        take(&record, number * 30_000, 30_000);
    }
    let mut messages = Vec::new();
    loop {
        let next = record.next_messages(1 << 20);
        if next.is_empty() {
            break;
        }
        messages.extend(next);
    }
    let exits = messages.iter().filter(|message| message.is_exit);
    assert_eq!(exits.count(), 1, "it is published once");
}

#[test]
fn an_exit_is_dropped_with_the_output_after_it_so_that_it_is_published_again() {
    let record = record();
    record.take_exit(&[105]);
    take(&record, 0, 2000);
    for (sequence, message) in (1..).zip(record.next_messages(1 << 20)) {
        store(&record, sequence, &message);
    }
    let dropped = record.dropped().unwrap();
    assert!(dropped.iter().any(|message| !message.is_exit));
    take(&record, 2000, 2000);
    for (sequence, message) in (3..).zip(record.next_messages(1 << 20)) {
        store(&record, sequence, &message);
    }
    let dropped = record.dropped().unwrap();
    assert!(dropped.iter().any(|message| message.is_exit));
    assert!(record.state.borrow().exit_message().is_some());
}

#[test]
fn frames_that_exceed_the_message_size_of_the_broker_are_split() {
    let record = record();
    let bytes: Vec<u8> = (0..60_000_u32).flat_map(u32::to_le_bytes).collect();
    let (first, second) = bytes.split_at(65_536);
    record.take_held(0, first.to_vec());
    record.take_held(65_536, second.to_vec());
    let mut stored = Vec::new();
    loop {
        let messages = record.next_messages(20_000);
        if messages.is_empty() {
            break;
        }
        for message in messages {
            let message = message.bytes;
            assert!(message.len() <= 20_000 - HEADERS, "{}", message.len());
            let mut frames = windlass_hold_wire::FrameBuffer::default();
            frames.push(&message);
            while let Ok(Some(frame)) = frames.next_frame() {
                let piece = FramedOutput::read(frame).unwrap();
                assert_eq!(piece.from, stored.len() as u64);
                stored.extend_from_slice(piece.bytes);
            }
        }
    }
    assert_eq!(stored, bytes);
    assert_eq!(record.state.borrow().queued, 0);
}
