use super::*;

#[test]
fn a_reader_gets_what_is_new_and_no_more() {
    let mut log = Log::new();
    log.push("one");
    assert_eq!(log.read(View::New, 100).text, "one");
    assert_eq!(log.read(View::New, 100).text, "");
    log.push("two\n");
    assert_eq!(log.read(View::New, 100).text, "two");
    assert_eq!(log.read(View::All, 100).text, "one\ntwo");
    assert_eq!(log.preview(5), "e\ntwo");
}

#[test]
fn what_is_too_long_loses_its_middle_at_letters() {
    let mut log = Log::new();
    log.push("äöüäöü");
    let read = log.read(View::New, 6);
    assert_eq!(read.text, "ä\n[… 8 bytes left out …]\nü");
    assert_eq!(read.omitted_bytes, 8);
}

#[test]
fn memory_is_bounded_and_what_is_gone_is_counted() {
    let mut log = Log::new();
    for _ in 0..5000 {
        log.push(&"x".repeat(99));
    }
    assert!(log.text.len() <= KEPT && log.text.len() > KEPT / 4);
    assert_eq!(log.end(), 500_000);
    let read = log.read(View::New, 1000);
    assert!(read.omitted_bytes > 490_000);
    assert!(log.text.starts_with('x'));
}
