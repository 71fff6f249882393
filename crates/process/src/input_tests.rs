use super::*;

fn input() -> (Input, OwnedFd) {
    let (read, write) = std::io::pipe().unwrap();
    let (read, write): (OwnedFd, OwnedFd) = (read.into(), write.into());
    for end in [&read, &write] {
        rustix::io::ioctl_fionbio(end, true).unwrap();
    }
    (Input::new(Ok(Arc::new(write))), read)
}

fn read(pipe: &OwnedFd) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 65_536];
    while let Ok(length @ 1..) = rustix::io::read(pipe, &mut buffer) {
        bytes.extend_from_slice(&buffer[..length]);
    }
    bytes
}

#[test]
fn what_fits_is_written_at_once() {
    let (input, pipe) = input();
    assert_eq!(input.written(), None);
    input.write(b"one").unwrap();
    assert_eq!(read(&pipe), b"one");
    assert!(input.written().is_some());
}

#[test]
fn the_next_owner_ends_an_unfinished_line_first() {
    let within_line = Arc::new(Mutex::new(false));
    let owner = || {
        let (input, pipe) = input();
        let note = Arc::clone(&within_line);
        let at_start = !*within_line.lock();
        input.continue_line(at_start, Box::new(move |it| *note.lock() = !it));
        (input, pipe)
    };
    let end = EndOfInput {
        canonical: true,
        byte: 4,
    };
    let (first, _pipe) = owner();
    first.write(b"one\ntw").unwrap();
    let (second, pipe) = owner();
    second.type_end(&end);
    assert_eq!(read(&pipe), [4, 4]);
    let (third, pipe) = owner();
    third.type_end(&end);
    assert_eq!(read(&pipe), [4]);
}

#[tokio::test]
async fn what_does_not_fit_follows_in_order() {
    let (input, pipe) = input();
    let bytes: Vec<u8> = (0..300_000_u32)
        .map(|number| number.to_le_bytes()[0])
        .collect();
    for chunk in bytes.chunks(50_000) {
        input.write(chunk).unwrap();
    }
    input.close();
    assert_eq!(input.write(b"late"), Err(WriteError::Closed));
    let mut flush = Flush::default();
    let mut arrived = Vec::new();
    while input.state.lock().pipe.is_ok() {
        arrived.extend(read(&pipe));
        std::future::poll_fn(|cx| {
            flush.poll(cx, &input);
            Poll::Ready(())
        })
        .await;
        tokio::task::yield_now().await;
    }
    arrived.extend(read(&pipe));
    assert!(arrived == bytes, "the same bytes in the same order");
}

#[test]
fn a_full_queue_takes_all_or_nothing() {
    let (input, _pipe) = input();
    input.write(&vec![0; LIMIT]).unwrap();
    let queued = input.state.lock().queue.len();
    assert!(queued < LIMIT, "the pipe itself took some");
    assert_eq!(
        input.write(&vec![0; LIMIT]),
        Err(WriteError::Full { queued })
    );
    assert_eq!(input.state.lock().queue.len(), queued);
}

#[test]
fn a_reader_that_is_gone_is_an_error() {
    let (input, pipe) = input();
    drop(pipe);
    assert_eq!(input.write(b"x"), Err(WriteError::Closed));
    input.exited();
    assert_eq!(input.write(b"x"), Err(WriteError::Exited));
}

#[tokio::test]
async fn an_offer_takes_what_fits_and_queues_nothing() {
    let (input, pipe) = input();
    let bytes: Vec<u8> = (0..300_000_u32)
        .map(|number| number.to_le_bytes()[0])
        .collect();
    let mut left = bytes.as_slice();
    let mut arrived = Vec::new();
    while !left.is_empty() {
        let length = input.offer(left).unwrap();
        left = &left[length..];
        assert_eq!(input.is_queued(), !left.is_empty());
        if length == 0 {
            arrived.extend(read(&pipe));
            input.room().await;
        }
    }
    input.close();
    assert_eq!(input.offer(b"late"), Err(WriteError::Closed));
    arrived.extend(read(&pipe));
    assert!(arrived == bytes, "the same bytes in the same order");
}

#[test]
fn an_offer_follows_queued_input() {
    let (input, pipe) = input();
    let many = vec![b'x'; 100_000];
    input.write(&many).unwrap();
    assert_eq!(input.offer(b"last"), Ok(0));
    let mut arrived = read(&pipe);
    assert_eq!(input.offer(b"last"), Ok(4));
    arrived.extend(read(&pipe));
    assert!(arrived == [many.as_slice(), b"last"].concat());
}
