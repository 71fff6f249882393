//! The journal's wake-ups under every interleaving of its threads.
//!
//! This takes the source of the feed itself and puts loom's lock in place of
//! the real one. A wake-up that could be lost shows as a deadlock. What a
//! handle's status wakes is tokio's `watch`, which is checked there.

#[path = "../src/feed.rs"]
mod feed;
#[allow(dead_code, unreachable_pub, reason = "others use the rest of it")]
#[path = "../src/ring.rs"]
mod ring;

mod sync {
    /// loom's mutex with the face of `parking_lot`'s.
    #[derive(Debug)]
    pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(loom::sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> loom::sync::MutexGuard<'_, T> {
            self.0.lock().expect("no test panics while it holds a lock")
        }
    }
}

use std::future::poll_fn;

use loom::future::block_on;
use loom::sync::Arc;
use loom::thread;

use crate::feed::{Feed, More};
use crate::ring::{RingBounds, RingItem};

type Letters = Arc<Feed<char>>;

/// Tries every interleaving with up to three preemptions: wake-ups that are
/// lost at all are lost with fewer, and two readers take minutes without a
/// bound.
fn model(test: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(test);
}

/// A feed that keeps this many items.
fn feed_of(items: usize) -> Feed<char> {
    Feed::new(RingBounds { items, weight: 100 })
}

/// Reads until nothing follows.
fn read_all(feed: &Letters) -> Vec<(u64, char)> {
    let mut read = Vec::new();
    let mut after = 0;
    while let Some(RingItem {
        missed,
        number,
        value,
    }) = block_on(poll_fn(|context| feed.poll_after(after, context)))
    {
        assert_eq!(number, after + 1 + missed);
        after = number;
        read.push((missed, value));
    }
    read
}

#[test]
fn a_reader_that_waits_is_woken() {
    model(|| {
        let feed: Letters = Arc::new(feed_of(4));
        let writer = thread::spawn({
            let feed = Arc::clone(&feed);
            move || {
                feed.append(More::Follows, 1, |_| 'a');
                feed.append(More::Never, 1, |_| 'b');
            }
        });
        assert_eq!(read_all(&feed), [(0, 'a'), (0, 'b')]);
        writer.join().unwrap();
        assert_eq!(feed.last(), 2);
    });
}

#[test]
fn two_readers_are_both_woken() {
    model(|| {
        let feed: Letters = Arc::new(feed_of(4));
        let reader = thread::spawn({
            let feed = Arc::clone(&feed);
            move || read_all(&feed)
        });
        let writer = thread::spawn({
            let feed = Arc::clone(&feed);
            move || feed.append(More::Never, 1, |_| 'a')
        });
        assert_eq!(read_all(&feed), [(0, 'a')]);
        assert_eq!(reader.join().unwrap(), [(0, 'a')]);
        writer.join().unwrap();
    });
}

#[test]
fn two_writers_lose_nothing_and_agree_on_the_numbers() {
    model(|| {
        let feed: Letters = Arc::new(feed_of(4));
        let write = |letter| {
            let feed = Arc::clone(&feed);
            move || feed.append(More::Follows, 1, |_| letter)
        };
        let writer = thread::spawn(write('a'));
        write('b')();
        writer.join().unwrap();
        feed.append(More::Never, 1, |_| 'c');
        let letters: String = read_all(&feed)
            .into_iter()
            .map(|(_, letter)| letter)
            .collect();
        assert!(letters == "abc" || letters == "bac", "{letters}");
    });
}

#[test]
fn a_reader_that_falls_behind_knows_how_far() {
    model(|| {
        let feed: Letters = Arc::new(feed_of(1));
        let writer = thread::spawn({
            let feed = Arc::clone(&feed);
            move || {
                feed.append(More::Follows, 1, |_| 'a');
                feed.append(More::Never, 1, |_| 'b');
            }
        });
        let read = read_all(&feed);
        assert!(
            read == [(0, 'a'), (0, 'b')] || read == [(1, 'b')],
            "{read:?}"
        );
        writer.join().unwrap();
    });
}

#[test]
fn a_feed_that_goes_on_wakes_its_readers() {
    model(|| {
        let feed = feed_of(4);
        feed.skip_to(3);
        feed.resume(7, [('g', 1)]);
        let feed: Letters = Arc::new(feed);
        let writer = thread::spawn({
            let feed = Arc::clone(&feed);
            move || feed.append(More::Never, 1, |_| 'h')
        });
        assert_eq!(read_all(&feed), [(6, 'g'), (0, 'h')]);
        writer.join().unwrap();
    });
}
