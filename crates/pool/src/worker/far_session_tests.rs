use futures_util::StreamExt;
use tokio::io::{AsyncReadExt, DuplexStream};
use tokio::time::Instant;
use windlass_hold_wire::{HolderOrder, LINK_VERSION, NearHello, frame};
use windlass_host::{ProjectPlaces, ResourceLimits, ServeOptions};
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

/// The heartbeat of the runtime and the worker.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// A far end whose link is down, and the connection to the broker.
struct Unlinked {
    to_pipe: FrameWriter,
    added: mpsc::UnboundedReceiver<Vec<u8>>,
    adding: mpsc::UnboundedSender<Vec<u8>>,
    connection: watch::Sender<BrokerConnection>,
}

impl Unlinked {
    /// Returns it with the other end of its pipe.
    fn new() -> (Self, DuplexStream) {
        let (to_pipe, input) = tokio::io::duplex(PIPE);
        let (adding, added) = mpsc::unbounded_channel();
        let away = BrokerConnection {
            since: None,
            count: 0,
        };
        let unlinked = Self {
            to_pipe: FrameWriter::new(to_pipe),
            added,
            adding,
            connection: watch::Sender::new(away),
        };
        (unlinked, input)
    }

    /// Returns it with its far end, which serves without a program.
    async fn serving(folder: &std::path::Path) -> (Self, JoinHandle<()>) {
        let (mut unlinked, input) = Self::new();
        let options = ServeOptions {
            folder: folder.join("hosts"),
            limits: Ok(ResourceLimits::default()),
            labels: Vec::new(),
            places: |_| ProjectPlaces::default(),
        };
        let serving = windlass_task::spawn(async move {
            let served = serve(input, tokio::io::sink(), options, std::future::pending());
            served.await.unwrap();
        });
        let hello = NearHello {
            version: LINK_VERSION,
            program: String::from("a test"),
            session: [7; 16],
            lease: HEARTBEAT,
            heartbeat: HEARTBEAT,
            asks: Vec::new(),
        };
        let hello = NearFrame::Hello(hello).write();
        unlinked.to_pipe.write(&hello).await.unwrap();
        (unlinked, serving)
    }

    fn input(&mut self) -> FarEndInput<'_> {
        FarEndInput {
            to_pipe: &mut self.to_pipe,
            added: &mut self.added,
        }
    }

    /// Feeds the far end until a broker is connected.
    async fn beat(&mut self, limit: Duration) -> bool {
        let connection = self.connection.subscribe();
        self.input().beat(connection, HEARTBEAT, limit).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_far_end_serves_while_the_broker_is_away_for_an_hour() {
    let folder = tempfile::tempdir().unwrap();
    let (mut unlinked, serving) = Unlinked::serving(folder.path()).await;
    let connection = unlinked.connection.clone();
    let returning = async {
        tokio::time::sleep(Duration::from_hours(1)).await;
        let back = BrokerConnection {
            since: Some(Instant::now()),
            count: 1,
        };
        connection.send_replace(back);
    };
    let (is_back, ()) = tokio::join!(unlinked.beat(Duration::from_hours(2)), returning);
    assert!(is_back);
    assert!(!serving.is_finished());
}

#[tokio::test(start_paused = true)]
async fn a_far_end_lets_go_when_the_worker_stays_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let (mut unlinked, serving) = Unlinked::serving(folder.path()).await;
    let begun = Instant::now();
    assert!(!unlinked.beat(Duration::from_mins(1)).await);
    assert_eq!(begun.elapsed(), Duration::from_mins(1));
    assert!(!serving.is_finished());
    drop(unlinked);
    serving.await.unwrap();
    assert_eq!(begun.elapsed(), Duration::from_mins(1));
}

#[tokio::test(start_paused = true)]
async fn a_runtime_has_three_heartbeats_to_return() {
    let (mut unlinked, mut delivered) = Unlinked::new();
    let begun = Instant::now();
    let adding = unlinked.adding.clone();
    let claiming = async {
        tokio::time::sleep((HEARTBEAT * 3).saturating_sub(Duration::from_millis(1))).await;
        adding.send(b"start".to_vec()).unwrap();
    };
    tokio::join!(unlinked.input().deliver(HEARTBEAT * 3), claiming);
    assert_eq!(begun.elapsed(), HEARTBEAT * 3);
    drop(unlinked);
    let mut bytes = Vec::new();
    delivered.read_to_end(&mut bytes).await.unwrap();
    assert_eq!(bytes, frame(b"start"));
}
