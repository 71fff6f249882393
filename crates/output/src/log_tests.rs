use std::os::unix::fs::{MetadataExt, PermissionsExt};

use windlass_skip::skip;

use super::*;

fn disk(path: &Path) -> u64 {
    std::fs::metadata(path).unwrap().blocks() * 512
}

#[test]
fn the_file_and_its_folders_are_the_owners_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/log");
    Log::create(&path, 1 << 20, 0).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    assert_eq!(mode(&folder.path().join("a")), 0o700);
}

#[test]
fn a_file_that_is_there_already_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    std::fs::write(&path, "precious").unwrap();
    let error = Log::create(&path, 1 << 20, 0).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
}

#[test]
fn beyond_its_limit_the_log_keeps_head_and_newest_tail() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let limit = 256 << 10;
    let mut log = Log::create(&path, limit, 0).unwrap();
    let mut all = Vec::new();
    for number in 0..40_000_u32 {
        let line = format!("line {number}\n");
        log.append(line.as_bytes()).unwrap();
        all.extend_from_slice(line.as_bytes());
    }
    let end = all.len() as u64;
    let hole = log.hole();
    assert_eq!(hole.start, limit / 2);
    if hole.end == u64::MAX {
        // The log ended instead.
        assert!(disk(&path) <= limit + limit / 4);
        skip!("the file system of the temporary directory has no holes");
    }
    assert!(end - hole.end >= limit / 2, "the newest half is kept");
    assert!(disk(&path) <= limit + limit / 4, "{} on disk", disk(&path));
    let read = |range: Range<u64>| {
        let length = usize::try_from(range.end - range.start).unwrap();
        read_from(&log.file(), range.start, length)
    };
    let place = |at: u64| usize::try_from(at).unwrap();
    assert_eq!(read(0..hole.start), all[..place(hole.start)]);
    assert_eq!(read(hole.end..end), all[place(hole.end)..]);
    let note = read(hole.start..hole.start + HOLE_NOTE.len() as u64);
    assert_eq!(note, HOLE_NOTE);
}
