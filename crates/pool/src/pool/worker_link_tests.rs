use futures_util::StreamExt;
use windlass_outside::needs;

use super::*;
use crate::test_broker::TestBroker;

#[tokio::test]
async fn a_request_for_a_link_that_was_lost_with_the_connection_is_repeated() {
    needs!("nats-server");
    let test = TestBroker::start().await;
    let (broker, worker) = (test.connect().await, test.connect().await);
    let opens = worker.client.subscribe(worker.names.open("w1")).await;
    let mut opens = opens.unwrap();
    // The broker has handled the subscription when it replies to this.
    worker.starts().await.unwrap();
    let link = WorkerLink {
        reader: StoredReader {
            broker: broker.clone(),
            replays: Arc::default(),
        },
        worker: String::from("w1"),
        runtime: String::from("a test"),
        stored_output: 0,
        heard: Arc::new(Mutex::new(Instant::now())),
        groups: Arc::default(),
        refused: Arc::default(),
        dead: watch::Sender::new(None),
    };
    let answering = async {
        // No reply to the first one arrives.
        opens.next().await.unwrap();
        broker.client.force_reconnect().await.unwrap();
        let second = opens.next().await.unwrap();
        let reply = second.reply.unwrap();
        worker.client.publish(reply, "".into()).await.unwrap();
        std::future::pending::<()>().await;
    };
    tokio::select! {
        opened = link.open_any([1; 16]) => if let Err(error) = opened { panic!("{error}") },
        () = answering => {}
    }
}
