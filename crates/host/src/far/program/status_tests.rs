use super::*;

fn reader(args: &[&str]) -> InputReader {
    InputReader {
        names: vec!["sh".to_owned()],
        args: args.iter().copied().map(str::to_owned).collect(),
        is_foreground: true,
    }
}

#[test]
fn readers_are_reported_completely_or_not_at_all() {
    let few = link_readers(vec![reader(&["-c", "read"]); READERS]).unwrap();
    assert_eq!(few.len(), READERS);
    assert_eq!(link_readers(vec![reader(&[]); READERS + 1]), None);
    let long = "x".repeat(READER_BYTES / 2);
    assert!(link_readers(vec![reader(&[&long])]).is_some());
    assert_eq!(link_readers(vec![reader(&[&long]), reader(&[&long])]), None);
    // The bytes of a word are not its only cost.
    assert_eq!(link_readers(vec![reader(&vec![""; READER_BYTES])]), None);
}
