use proptest::prelude::*;

use super::*;

fn all(store: &ByteStore) -> Vec<u8> {
    assert!(store.gap().is_empty());
    store.part(0..store.end()).bytes()
}

#[test]
fn memory_keeps_the_newest() {
    let mut store = ByteStore::new(8, None, 0);
    for chunk in ["abc", "defgh", "ij", "0123456789", "x"] {
        store.append(chunk.as_bytes());
    }
    assert_eq!(store.start(), 13);
    assert_eq!(store.gap(), 0..13);
    assert_eq!(store.part(13..99).bytes(), b"3456789x");
}

#[test]
fn the_log_is_made_only_when_output_outgrows_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let mut store = ByteStore::new(8, Some(path.clone()), 1 << 20);
    store.append(b"12345678");
    assert!(!path.exists());
    store.append(b"9");
    assert_eq!(std::fs::read(&path).unwrap(), b"12345678");
    assert_eq!(all(&store), b"123456789");
    assert_eq!(store.spill(), LogNote::At(path.clone()));
    assert_eq!(std::fs::read(&path).unwrap(), b"123456789");
}

#[test]
fn small_appends_are_logged_many_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let mut store = ByteStore::new(1000, Some(path.clone()), 1 << 20);
    let mut sizes = std::collections::BTreeSet::new();
    for _ in 0..10_000 {
        store.append(b"x");
        sizes.extend(std::fs::metadata(&path).ok().map(|file| file.len()));
    }
    assert!(sizes.len() <= 10, "{} writes", sizes.len());
}

#[test]
fn a_log_that_cannot_be_made_leaves_memory_working() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let mut store = ByteStore::new(4, Some(file.join("log")), 1 << 20);
    store.append(b"123456");
    assert!(matches!(store.spill(), LogNote::Failed(_)));
    assert_eq!(store.gap(), 0..2);
    assert_eq!(store.part(2..6).bytes(), b"3456");
}

/// `/dev/full` opens but takes no byte, as a full disk would.
#[cfg(target_os = "linux")]
#[test]
fn a_log_that_cannot_be_written_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let mut store = ByteStore::new(4, Some(path.clone()), 1 << 20);
    store.append(b"12345");
    let LogState::Open(log) = &mut store.log else {
        panic!("the log is open");
    };
    let full = File::options().read(true).write(true).open("/dev/full");
    log.replace_file(full.unwrap());
    store.append(b"6789");
    assert!(matches!(store.spill(), LogNote::Failed(_)));
    assert!(!path.exists());
    store.append(b"abc");
    assert_eq!(store.part(store.start()..store.end()).bytes(), b"9abc");
}

#[test]
fn where_the_log_has_ended_the_gap_reaches_to_memory() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = ByteStore::new(8, Some(folder.path().join("log")), 1 << 20);
    store.append(b"0123456789");
    let LogState::Open(log) = &mut store.log else {
        panic!("the log is open");
    };
    log.end_here();
    store.append(&[b'x'; 20]);
    assert_eq!(store.gap(), 10..22);
    assert_eq!(store.part(0..10).bytes(), b"0123456789");
    assert_eq!(store.part(22..30).bytes(), [b'x'; 8]);
}

#[test]
fn an_output_without_memory_is_all_in_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = ByteStore::new(0, Some(folder.path().join("log")), 1 << 20);
    store.append(b"abc");
    store.append(b"");
    store.append(b"def");
    assert_eq!(all(&store), b"abcdef");
}

proptest! {
    #[test]
    fn memory_is_bounded_and_nothing_is_lost(
        memory in 0_usize..300,
        chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..700), 0..12),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut store = ByteStore::new(memory, Some(folder.path().join("log")), 1 << 20);
        for chunk in &chunks {
            store.append(chunk);
            prop_assert!(store.ring.len() <= memory);
            prop_assert!(store.ring.capacity() <= memory, "{} > {}", store.ring.capacity(), memory);
        }
        let whole = chunks.concat();
        prop_assert_eq!(all(&store), &whole[..]);
        if let LogNote::At(path) = store.spill() {
            prop_assert_eq!(std::fs::read(path).unwrap(), whole);
        }
    }
}
