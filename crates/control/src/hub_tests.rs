use std::pin::pin;
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
    let hub = Hub::new();
    hub.push("update", "one");
    hub.push("update", "two");
    hub.lose();
    let count = Arc::new(WakeCount::default());
    let waker = Waker::from(Arc::clone(&count));
    let mut context = Context::from_waker(&waker);
    let mut reading = pin!(hub.next(ReadPosition(0)));
    assert!(reading.as_mut().poll(&mut context).is_pending());
    assert_eq!(count.0.load(Ordering::Relaxed), 0);
    hub.push("update", "four");
    assert_eq!(count.0.load(Ordering::Relaxed), 1);
    let Poll::Ready((missed, item)) = reading.as_mut().poll(&mut context) else {
        panic!("the event is there");
    };
    assert_eq!((missed, item.number, &*item.data), (3, 4, "four"));
}

#[tokio::test]
async fn a_reader_that_was_up_to_date_is_told_that_events_are_lost() {
    let hub = Hub::new();
    hub.push("update", "one");
    hub.lose();
    hub.push("update", "three");
    let (missed, item) = hub.next(ReadPosition(1)).await;
    assert_eq!((missed, item.number), (1, 3));
}

fn logged(folder: &Path) -> HubLog {
    let (log, lines) = crate::line_log::LineLog::open(folder).unwrap().unwrap();
    HubLog::new(log, &lines)
}

#[tokio::test]
async fn a_reader_goes_on_at_the_hub_of_the_next_server() {
    let folder = tempfile::tempdir().unwrap();
    let hub = Hub::resume(logged(folder.path()));
    hub.push("update", "one");
    let read = hub.id(1);
    hub.push("update", "two");
    drop(hub);

    let hub = Hub::resume(logged(folder.path()));
    let (place, missed) = hub.place(Some(&read));
    assert!(!missed);
    hub.push("update", "three");
    let (missed, item) = hub.next(place).await;
    assert_eq!((missed, item.number, &*item.data), (0, 2, "two"));
    let (missed, item) = hub.next(ReadPosition(item.number)).await;
    assert_eq!((missed, item.number, &*item.data), (0, 3, "three"));
    let (_, missed) = hub.place(Some("another-1"));
    assert!(missed, "that is another hub's");
}

#[tokio::test]
async fn what_another_server_has_told_meanwhile_is_missed() {
    let folder = tempfile::tempdir().unwrap();
    let hub = Hub::resume(logged(folder.path()));
    hub.push("update", "one");
    hub.let_go();
    let other = Hub::resume(logged(folder.path()));
    other.push("update", "two");
    other.push("update", "three");
    drop(other);
    hub.take_back(logged(folder.path()));
    hub.push("update", "four");
    let (missed, item) = hub.next(ReadPosition(1)).await;
    assert_eq!((missed, item.number, &*item.data), (2, 4, "four"));
}
