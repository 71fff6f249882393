use windlass_protocol::{Millis, SessionId};

use super::*;

fn touched() -> Write {
    Write::Touched {
        session: SessionId::from_suffix("a"),
        at: Millis(1),
    }
}

#[test]
fn a_backlog_keeps_the_oldest_and_counts_the_rest() {
    let mut backlog = Backlog {
        writes: vec![touched(); 10],
    };
    assert_eq!(backlog.bound_to(OVERHEAD * 4), 6);
    assert_eq!(backlog.writes.len(), 4);
    assert_eq!(backlog.bound_to(OVERHEAD * 4), 0);
}

#[test]
fn a_loss_stays_reported_when_the_record_works_again() {
    let standing = Standing::default();
    assert_eq!(standing.trouble(), None);
    standing.fails("disk full".to_owned(), 3);
    standing.lose(2);
    standing.is_well();
    let trouble = standing.trouble().unwrap();
    assert_eq!((trouble.error, trouble.waiting, trouble.lost), (None, 0, 2));
}
