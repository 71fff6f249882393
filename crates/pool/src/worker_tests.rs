use windlass_outside::needs;

use super::*;
use crate::test_broker::TestBroker;

#[tokio::test]
async fn of_two_workers_with_one_name_that_start_together_one_fails() {
    needs!("nats-server");
    let test = TestBroker::start().await;
    for _ in 0..5 {
        let stop = watch::Sender::new(false);
        let run = |name: &str| {
            let mut stopped = stop.subscribe();
            let stopped = async move {
                let _ = stopped.wait_for(|it| *it).await;
            };
            let options = test.worker(name);
            let stop = &stop;
            async move {
                let ended = Box::pin(run_worker(options, || {}, stopped)).await;
                // The other one may end now.
                stop.send_replace(true);
                ended
            }
        };
        let both = async { tokio::join!(run("w1"), run("w1")) };
        let (one, two) = tokio::time::timeout(Duration::from_secs(30), both)
            .await
            .expect("one of them fails");
        let failures: Vec<PoolError> = [one, two].into_iter().filter_map(Result::err).collect();
        assert!(
            matches!(&failures[..], [PoolError::Taken { .. }]),
            "{failures:?}"
        );
    }
}

#[tokio::test]
async fn a_worker_whose_name_another_one_has_taken_leaves() {
    needs!("nats-server");
    let test = TestBroker::start().await;
    let broker = test.connect().await;
    let ready = Notify::new();
    let options = test.worker("w1");
    let running = run_worker(options, || ready.notify_one(), std::future::pending());
    let taking = async {
        ready.notified().await;
        // The other one replies, and enters itself.
        let mut asked = broker
            .client
            .subscribe(broker.names.open("w1"))
            .await
            .unwrap();
        let bucket = broker.workers(None).await.unwrap();
        let (mut presence, _) = broker.presence(&bucket, "w1").await.unwrap();
        presence.instance = String::from("another");
        let presence = serde_json::to_vec(&presence).unwrap();
        bucket.put("w1", presence.into()).await.unwrap();
        while let Some(message) = asked.next().await {
            let reply = message.reply.unwrap();
            broker.client.publish(reply, "here".into()).await.unwrap();
        }
    };
    let ended = tokio::select! {
        ended = running => ended,
        () = taking => panic!("the broker has ended"),
    };
    assert!(matches!(ended, Err(PoolError::Taken { .. })), "{ended:?}");
    let bucket = broker.workers(None).await.unwrap();
    let left = broker.presence(&bucket, "w1").await;
    assert_eq!(left.unwrap().0.instance, "another", "its entry stays");
}
