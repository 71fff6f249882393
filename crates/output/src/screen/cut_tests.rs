use super::*;

#[test]
fn a_text_that_fits_is_shown_unchanged() {
    assert_eq!(cut("abc".to_owned(), 0, 3), ("abc".to_owned(), 0));
}

#[test]
fn head_and_tail_end_with_lines() {
    let lines: Vec<String> = (0..1000).map(|number| format!("line {number}\n")).collect();
    let text = lines.concat();
    let (told, omitted) = cut(text.clone(), 0, 100);
    assert_eq!(
        told,
        "line 0\nline 1\nline 2\nline 3\n[… 8,826 bytes omitted …]\nline 996\nline 997\nline 998\nline 999\n"
    );
    assert_eq!(omitted, 8826);
    let marker = "[… 8,826 bytes omitted …]\n".len() as u64;
    assert_eq!(told.len() as u64 - marker + omitted, text.len() as u64);
}

#[test]
fn what_was_lost_is_reported_at_the_beginning() {
    let (told, omitted) = cut("kept\n".to_owned(), 1234, 100);
    assert_eq!(told, "[… 1,234 bytes omitted …]\nkept\n");
    assert_eq!(omitted, 1234);
}

#[test]
fn no_limit_is_exceeded() {
    let text = "日本\nx\n".repeat(50);
    for limit in 0..text.len() {
        for lost in [0, 7] {
            assert!(cut(text.clone(), lost, limit).0.len() <= limit);
        }
    }
}
