use super::*;

fn lines(mut input: &[u8]) -> Vec<Line> {
    std::iter::from_fn(|| next(&mut input)).collect()
}

fn text(line: &str) -> Line {
    Line::Text(line.to_owned())
}

#[test]
fn lines_end_with_a_newline_or_the_input() {
    assert_eq!(lines(b""), []);
    assert_eq!(lines(b"a\n\nb"), [text("a"), text(""), text("b")]);
    assert_eq!(lines(b"a\r\n"), [text("a\r")]);
}

#[test]
fn a_line_that_is_not_utf8_is_bad_and_the_next_is_not() {
    let bad = Line::Bad("the line is not UTF-8".to_owned());
    assert_eq!(lines(b"\xff\nb\n"), [bad, text("b")]);
}

#[test]
fn a_line_may_be_as_long_as_the_limit_and_no_longer() {
    let longest = vec![b'x'; LONGEST];
    let mut input = longest.clone();
    input.push(b'\n');
    input.extend_from_slice(&longest);
    input.extend_from_slice(b"x\nnext");
    let read = lines(&input);
    assert_eq!(read.len(), 3);
    assert!(matches!(&read[0], Line::Text(line) if line.len() == LONGEST));
    let bad = "the line is longer than 8 MiB; send less at once".to_owned();
    assert_eq!(read[1], Line::Bad(bad));
    assert_eq!(read[2], text("next"));
}

#[test]
fn a_long_line_without_an_end_is_told_too() {
    let input = vec![b'x'; LONGEST + 10];
    assert!(matches!(lines(&input)[..], [Line::Bad(_)]));
}
