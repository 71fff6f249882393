//! Order, numbers, falling behind, and the end.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};

use futures_util::FutureExt;

use super::*;

/// An event that carries a number.
fn event(number: usize) -> SessionEvent {
    SessionEvent::QuestionClosed {
        ask: number.to_string(),
    }
}

fn filled(capacity: usize, count: usize) -> Arc<Journal> {
    let journal = Journal::new(capacity, None);
    for number in 1..=count {
        journal.append(event(number));
    }
    journal
}

/// What can be read without waiting, as missed, number and event.
fn read(tail: &mut Tail) -> Vec<(u64, u64, SessionEvent)> {
    let mut read = Vec::new();
    while let Some(Some((missed, entry))) = tail.next().now_or_never() {
        read.push((missed, entry.number, entry.event));
    }
    read
}

#[test]
fn events_are_read_once_in_order_and_numbered_from_one() {
    let journal = filled(10, 3);
    let mut tail = journal.tail(0);
    assert_eq!(
        read(&mut tail),
        [(0, 1, event(1)), (0, 2, event(2)), (0, 3, event(3))]
    );
    journal.append(event(4));
    assert_eq!(read(&mut tail), [(0, 4, event(4))]);
    assert_eq!(journal.last(), 4);
}

#[test]
fn a_reader_begins_after_the_number_it_names() {
    let journal = filled(10, 3);
    assert_eq!(read(&mut journal.tail(2)), [(0, 3, event(3))]);
    let mut ahead = journal.tail(5);
    for number in 4..=6 {
        journal.append(event(number));
    }
    assert_eq!(read(&mut ahead), [(0, 6, event(6))]);
}

#[test]
fn readers_do_not_disturb_each_other() {
    let journal = filled(10, 2);
    let mut first = journal.tail(0);
    let mut second = first.clone();
    assert_eq!(read(&mut first).len(), 2);
    assert_eq!(read(&mut second).len(), 2);
}

#[test]
fn a_reader_that_falls_behind_is_told_how_many_it_missed() {
    let journal = filled(3, 10);
    let mut tail = journal.tail(0);
    assert_eq!(
        read(&mut tail),
        [(7, 8, event(8)), (0, 9, event(9)), (0, 10, event(10))]
    );
}

#[test]
fn it_holds_no_more_than_its_capacity() {
    let journal = filled(3, 1000);
    assert_eq!(read(&mut journal.tail(0)).len(), 3);
    assert_eq!(read(&mut filled(0, 2).tail(0)), [(1, 2, event(2))]);
}

#[test]
fn nothing_is_taken_after_closed_and_readers_come_to_an_end() {
    let journal = filled(10, 1);
    journal.append(SessionEvent::Closed);
    journal.append(event(3));
    assert_eq!(journal.last(), 2);
    let mut tail = journal.tail(0);
    assert_eq!(
        read(&mut tail),
        [(0, 1, event(1)), (0, 2, SessionEvent::Closed)]
    );
    assert_eq!(tail.next().now_or_never(), Some(None));
}

/// Counts how often it is woken.
#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn every_waiting_reader_is_woken_once_by_an_event() {
    let journal = Journal::new(4, None);
    let counts: Vec<Arc<Count>> = (0..3).map(|_| Arc::default()).collect();
    for count in &counts {
        let waker = Waker::from(Arc::clone(count));
        let context = Context::from_waker(&waker);
        // Polled twice, as a future in a select is.
        for _ in 0..2 {
            assert!(journal.events.poll_after(0, &context).is_pending());
        }
    }
    journal.append(event(1));
    journal.append(event(2));
    for count in &counts {
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
    }
}

#[test]
fn a_dropped_wait_loses_nothing() {
    let journal = Journal::new(4, None);
    let mut tail = journal.tail(0);
    assert_eq!(tail.next().now_or_never(), None);
    journal.append(event(1));
    assert_eq!(read(&mut tail), [(0, 1, event(1))]);
}

#[tokio::test]
async fn a_reader_on_another_thread_sees_every_event() {
    let journal = Journal::new(10_000, None);
    let mut tail = journal.tail(0);
    let writer = {
        let journal = Arc::clone(&journal);
        std::thread::spawn(move || {
            for number in 1..=5_000 {
                journal.append(event(number));
            }
            journal.append(SessionEvent::Closed);
        })
    };
    let mut expected = 1;
    while let Some((missed, entry)) = tail.next().await {
        assert_eq!((missed, entry.number), (0, expected));
        expected += 1;
    }
    assert_eq!(expected, 5_002);
    writer.join().unwrap();
}

#[test]
fn large_events_push_older_ones_out_and_the_newest_stays() {
    let large = |bytes: usize| SessionEvent::QuestionAsked(Arc::new(ask_of(bytes)));
    let journal = Journal::new(1000, None);
    for _ in 0..20 {
        journal.append(large(1 << 20));
    }
    assert_eq!(read(&mut journal.tail(0)).len(), 7);
    journal.append(large(9 << 20));
    let left = read(&mut journal.tail(0));
    assert_eq!(left.len(), 1);
    assert_eq!((left[0].0, left[0].1), (20, 21));
}

fn ask_of(bytes: usize) -> Ask {
    Ask {
        ask: "q".into(),
        call: None,
        handle: None,
        tool: "tool".into(),
        question: windlass_protocol::Question {
            id: "q".into(),
            text: "x".repeat(bytes),
            pre_amble: None,
            answer_type: windlass_protocol::AnswerType::Text,
            default: None,
            secret: false,
        },
        content: None,
        form: None,
        rendering: None,
    }
}
