use super::*;

/// A ring of letters, each of weight 1.
fn ring_of(items: usize, letters: &str) -> NumberedRing<char> {
    let mut ring = NumberedRing::new(RingBounds { items, weight: 100 });
    for letter in letters.chars() {
        ring.push(|_| (letter, 1));
    }
    ring
}

/// `MISSED NUMBER VALUE` of everything after a number.
fn read(ring: &NumberedRing<char>, mut after: u64) -> String {
    let mut read = Vec::new();
    while let Some(item) = ring.after(after) {
        after = item.number;
        read.push(format!("{} {} {}", item.missed, item.number, item.value));
    }
    read.join("; ")
}

#[test]
fn a_reader_gets_each_item_in_order() {
    assert_eq!(read(&ring_of(9, "abc"), 0), "0 1 a; 0 2 b; 0 3 c");
    assert_eq!(read(&ring_of(9, "abc"), 2), "0 3 c");
    assert_eq!(read(&ring_of(9, "abc"), 3), "");
    assert_eq!(read(&ring_of(9, ""), 0), "");
}

#[test]
fn a_reader_learns_how_many_items_were_dropped() {
    assert_eq!(read(&ring_of(2, "abcd"), 0), "2 3 c; 0 4 d");
    assert_eq!(read(&ring_of(2, "abcd"), 1), "1 3 c; 0 4 d");
    assert_eq!(read(&ring_of(2, "abcd"), 2), "0 3 c; 0 4 d");
}

#[test]
fn the_newest_item_is_kept_however_heavy_it_is() {
    let mut ring = ring_of(9, "ab");
    ring.push(|number| {
        assert_eq!(number, 3);
        ('c', 1000)
    });
    assert_eq!((ring.len(), read(&ring, 0).as_str()), (1, "2 3 c"));
    ring.push(|_| ('d', 1));
    assert_eq!((ring.len(), read(&ring, 0).as_str()), (1, "3 4 d"));
}

#[test]
fn skipped_numbers_are_missed() {
    let mut ring = ring_of(9, "ab");
    ring.skip_to(2);
    assert_eq!(read(&ring, 0), "0 1 a; 0 2 b");
    ring.skip_to(5);
    assert!(ring.is_empty());
    assert_eq!(read(&ring, 0), "");
    ring.push(|_| ('f', 1));
    assert_eq!(read(&ring, 1), "4 6 f");
}

#[test]
fn a_ring_goes_on_where_another_ended() {
    let mut ring = NumberedRing::new(RingBounds {
        items: 2,
        weight: 100,
    });
    ring.resume(7, [('a', 1), ('b', 1), ('c', 1)]);
    ring.push(|_| ('d', 1));
    assert_eq!(ring.last(), 8);
    assert_eq!(read(&ring, 5), "1 7 c; 0 8 d");
}
