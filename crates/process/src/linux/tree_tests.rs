use super::*;

#[test]
fn a_name_may_hold_anything() {
    let line = b"42 (a) b (c)) S 7 8 9 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 3 0 12345 1000 1 2 3";
    let member = Member::parse(42, line).unwrap();
    let expected = Member {
        pid: 42,
        name: b"a) b (c)".to_vec(),
        state: b'S',
        parent: 7,
        group: 8,
        session: 9,
        threads: 3,
        start: 12345,
    };
    assert_eq!(member, expected);
}

#[test]
fn a_cut_line_is_refused() {
    assert_eq!(Member::parse(42, b"42 (name) S 7 8"), None);
    assert_eq!(Member::parse(42, b""), None);
}

#[test]
fn both_walks_find_the_same() {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let parent = Member::read(own).unwrap().parent;
    let pids = |members: Vec<Member>| {
        let mut pids: Vec<i32> = members.into_iter().map(|it| it.pid).collect();
        pids.sort_unstable();
        pids
    };
    assert!(pids(descendants(parent)).contains(&own));
    assert!(pids(descendants_by_scan(parent)).contains(&own));
    assert!(!pids(descendants_by_scan(own)).contains(&own));
}
