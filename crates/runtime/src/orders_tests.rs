use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

fn order(id: &str) -> OrderId {
    OrderId(id.into())
}

#[tokio::test]
async fn an_order_is_carried_out_once_and_answered_each_time() {
    let ledger = OrderLedger::default();
    let count = AtomicUsize::new(0);
    for _ in 0..3 {
        let carry_out = async {
            count.fetch_add(1, Ordering::Relaxed);
            Err(InputError::QueueFull)
        };
        let outcome = ledger.once(&order("a"), carry_out).await;
        assert_eq!(outcome, Err(InputError::QueueFull));
    }
    assert_eq!(count.load(Ordering::Relaxed), 1);
    let other = ledger.once_now(&order("b"), || Ok(()));
    assert_eq!(other, Ok(()));
    let again = ledger.once_now(&order("b"), || panic!("carried out twice"));
    assert_eq!(again, Ok(()));
}

#[tokio::test]
async fn an_order_that_arrives_again_waits_for_the_first() {
    let ledger = Arc::new(OrderLedger::default());
    let (release, released) = tokio::sync::oneshot::channel();
    let id = order("a");
    let first = ledger.once(&id, async {
        released.await.unwrap();
        Err(InputError::NotOpen)
    });
    let second = ledger.once(&id, async { panic!("carried out twice") });
    let release = async { release.send(()).unwrap() };
    let (first, second, ()) = tokio::join!(first, second, release);
    assert_eq!(first, Err(InputError::NotOpen));
    assert_eq!(second, Err(InputError::NotOpen));
}

#[tokio::test]
async fn an_order_whose_sender_gave_up_can_be_given_again() {
    let ledger = OrderLedger::default();
    {
        let id = order("a");
        let never = ledger.once(&id, std::future::pending());
        tokio::pin!(never);
        assert!(futures_util::poll!(never).is_pending());
    }
    assert_eq!(ledger.once(&order("a"), async { Ok(()) }).await, Ok(()));
}

#[test]
fn the_ledger_is_bounded() {
    let ledger = OrderLedger::default();
    for number in 0..10 * REMEMBERED {
        let _ = ledger.once_now(&order(&number.to_string()), || Ok(()));
    }
    assert_eq!(ledger.orders.lock().len(), REMEMBERED);
}
