use super::{InvalidLineRange, LineRange};

fn check(text: &str, lines: Result<(u64, u64), InvalidLineRange>) {
    let lines = lines.map(|(first, last)| LineRange::new(first, last).unwrap());
    assert_eq!(text.parse(), lines, "{text}");
}

#[test]
fn a_range_is_two_numbers_or_one() {
    check("4-98", Ok((4, 98)));
    check("4–98", Ok((4, 98)));
    check(" 4 - 98 ", Ok((4, 98)));
    check("7", Ok((7, 7)));
    for text in ["", "0", "0-4", "9-4", "4-", "-4", "4-5-6", "a-b", "1.5"] {
        check(text, Err(InvalidLineRange));
    }
}

#[test]
fn a_number_alone_is_a_line() {
    let line: LineRange = serde_json::from_str("7").unwrap();
    assert_eq!(line.to_string(), "7");
    let lines: LineRange = serde_json::from_str("\"4–98\"").unwrap();
    assert_eq!(serde_json::to_string(&lines).unwrap(), "\"4-98\"");
}
