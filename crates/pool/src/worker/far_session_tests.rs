use futures_util::StreamExt;
use tokio::io::AsyncReadExt;
use windlass_hold_wire::{HolderOrder, frame};
use windlass_outside::needs;

use super::*;
use crate::broker::{ClaimKind, Claimed, claim};
use crate::link::FrameGate as _;
use crate::test_broker::TestBroker;

#[tokio::test]
async fn a_start_is_delivered_while_a_runtime_has_time_to_return() {
    needs!("nats-server");
    let test = TestBroker::start().await;
    let broker = test.connect().await;
    let messages = broker.client.subscribe("far").await.unwrap();
    let mut closings = broker.client.subscribe("near").await.unwrap();
    let (to_pipe, mut delivered) = tokio::io::duplex(PIPE);
    let (_output, from_pipe) = tokio::io::duplex(PIPE);
    let (adding, added) = mpsc::unbounded_channel();
    let (_telling, told) = mpsc::unbounded_channel();
    let mut end = LinkEnd {
        broker,
        messages,
        to: String::from("near"),
        from_pipe,
        to_pipe: FrameWriter::new(to_pipe),
        added,
        told,
        flow: Flow::default(),
    };
    // The broker is back. An hour is longer than the time limit of a test.
    let waiting = wait_for_broker(&mut end, Duration::from_hours(1), Duration::from_hours(1));
    let reading = async {
        // The broker was found: the old link is closed.
        closings.next().await.unwrap();
        adding.send(b"start".to_vec()).unwrap();
        let expected = frame(b"start");
        let mut bytes = vec![0; expected.len()];
        let read = delivered.read_exact(&mut bytes);
        let read = tokio::time::timeout(Duration::from_secs(30), read).await;
        read.expect("the start is delivered").unwrap();
        assert_eq!(bytes, expected);
    };
    tokio::select! {
        () = waiting => panic!("the hour is not over"),
        () = reading => {}
    }
}

#[tokio::test]
async fn an_end_waits_for_a_start_that_is_being_claimed() {
    needs!("nats-server");
    let test = TestBroker::start().await;
    let worker = Worker::join(test.worker("w1")).await.unwrap();
    let session = Arc::new(FarSession::new([1; 16], String::from("a test"), 0));
    let (telling, _told) = mpsc::unbounded_channel();
    let mut gate = FarGate::new(Arc::clone(&worker), Arc::clone(&session), telling);
    let starting = session.starting.lock().await;
    let ending = tokio::spawn(async move {
        let order = HolderOrder::End {
            grace: Duration::ZERO,
        };
        let end = NearFrame::Order {
            program: 7,
            id: 0,
            order,
        };
        gate.arriving(&end.write()).await
    });
    // The end is under way first.
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    let id = (&session.session, 7);
    let claimed = claim(&worker.broker, &worker.claims, id, ClaimKind::Started).await;
    assert_eq!(claimed, Claimed::Now);
    session.note_claimed(7);
    drop(starting);
    assert!(ending.await.unwrap(), "the end is delivered");
}
