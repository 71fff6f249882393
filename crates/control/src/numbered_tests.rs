use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use super::*;

/// Counts how often a future asks to be polled again.
#[derive(Default)]
struct WakeCount(AtomicUsize);

impl Wake for WakeCount {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn a_reader_that_is_behind_when_events_are_lost_sleeps_until_the_next() {
    let events = NumberedEvents::new();
    events.push(|_| ("one", 1));
    events.push(|_| ("two", 1));
    events.lose();
    let count = Arc::new(WakeCount::default());
    let waker = Waker::from(Arc::clone(&count));
    let mut context = Context::from_waker(&waker);
    let mut reading = pin!(events.next(ReadPosition(0)));
    assert!(reading.as_mut().poll(&mut context).is_pending());
    assert_eq!(count.0.load(Ordering::Relaxed), 0);
    events.push(|_| ("four", 1));
    assert_eq!(count.0.load(Ordering::Relaxed), 1);
    let Poll::Ready(item) = reading.as_mut().poll(&mut context) else {
        panic!("the event is there");
    };
    assert_eq!((item.missed, item.number, item.value), (3, 4, "four"));
}

#[tokio::test]
async fn a_reader_that_was_up_to_date_is_told_that_events_are_lost() {
    let events = NumberedEvents::new();
    events.push(|_| ("one", 1));
    events.lose();
    events.push(|_| ("three", 1));
    let item = events.next(ReadPosition(1)).await;
    assert_eq!((item.missed, item.number), (1, 3));
}
