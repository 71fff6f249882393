use super::*;

fn open(folder: &Path) -> (LineLog, Vec<String>) {
    LineLog::open(folder).unwrap().expect("nobody has it")
}

#[test]
fn lines_are_there_after_the_process_was_killed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("log");
    let (mut log, lines) = open(&folder);
    assert!(lines.is_empty());
    log.append("one", Vec::new).unwrap();
    log.append("two", Vec::new).unwrap();
    assert!(LineLog::open(&folder).unwrap().is_none(), "it has an owner");
    drop(log);
    let (mut log, lines) = open(&folder);
    assert_eq!(lines, ["one", "two"]);
    log.append("three", Vec::new).unwrap();
    drop(log);
    assert_eq!(open(&folder).1, ["one", "two", "three"]);
}

#[test]
fn the_oldest_lines_go_when_the_files_are_full() {
    let folder = tempfile::tempdir().unwrap();
    let (mut log, _) = open(folder.path());
    log.full = 100;
    for number in 0..200 {
        let first = || vec!["first".to_owned()];
        log.append(&format!("line {number}"), first).unwrap();
    }
    drop(log);
    let (_, lines) = open(folder.path());
    assert!(lines.len() < 40, "{lines:?}");
    assert_eq!(lines[0], "first");
    assert_eq!(lines.last().unwrap(), "line 199");
    let numbers: Vec<u32> = lines
        .iter()
        .filter_map(|line| line.strip_prefix("line ")?.parse().ok())
        .collect();
    let expected: Vec<u32> = (numbers[0]..200).collect();
    assert_eq!(numbers, expected);
}

#[test]
fn a_death_between_two_renames_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (mut log, _) = open(folder.path());
    log.append("one", Vec::new).unwrap();
    drop(log);
    fs::rename(folder.path().join(NEWER), folder.path().join(OLDER)).unwrap();
    fs::write(folder.path().join(NEXT), "two\n").unwrap();
    assert_eq!(open(folder.path()).1, ["one", "two"]);
}

#[test]
fn a_log_that_is_in_use_is_not_removed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("log");
    let (log, _) = open(&folder);
    remove_if_free(&folder);
    assert!(folder.exists());
    drop(log);
    remove_if_free(&folder);
    assert!(!folder.exists());
}
