//! Many readers and many callers at once. `cargo xtask bench --only load` does
//! the same for longer.

use windlass_outside::load::{Load, LoadTarget};

use crate::http_support::Serve;
use crate::support::Project;

/// Everybody sees everything once and in order, however many they are.
async fn check(load: Load) {
    let project = Project::new();
    let serve = Serve::start(&project);
    let target = LoadTarget {
        address: serve.address.clone(),
        token: serve.token.clone(),
    };
    let outcome = load.put_on(&target).await.unwrap();
    assert_eq!(outcome.latencies.len(), load.calls);
    assert_eq!((outcome.lost, outcome.out_of_order), (0, 0));
    assert_eq!(outcome.answers, outcome.answers_given);
    let at_least = (load.readers * load.calls / load.callers) as u64;
    assert!(outcome.answers >= at_least, "{outcome:?}");
}

#[tokio::test]
async fn two_hundred_readers_see_everything() {
    check(Load {
        readers: 200,
        callers: 4,
        calls: 40,
        rate: Some(20.0),
    })
    .await;
}

#[tokio::test]
async fn nothing_is_lost_of_fast_calls() {
    check(Load {
        readers: 5,
        callers: 5,
        calls: 250,
        rate: None,
    })
    .await;
}
