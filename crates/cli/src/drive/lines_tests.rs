use super::*;

/// The lines of the input, and what is wrong with those that are bad.
fn lines(mut input: &[u8]) -> Vec<String> {
    std::iter::from_fn(|| next(&mut input))
        .map(|line| match line {
            Ok(line) => String::from_utf8_lossy(&line).into_owned(),
            Err(fault) => format!("bad: {fault}"),
        })
        .collect()
}

#[test]
fn lines_end_with_a_newline_or_the_input() {
    assert_eq!(lines(b""), [""; 0]);
    assert_eq!(lines(b"a\n\nb"), ["a\n", "\n", "b"]);
    assert_eq!(lines(b"a\r\n"), ["a\r\n"]);
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
    assert_eq!(read[0].trim_end().len(), LONGEST);
    let bad = "bad: the line is longer than 8 MiB; send shorter lines";
    assert_eq!(read[1..], [bad, "next"]);
}

#[test]
fn a_long_line_without_an_end_is_reported_too() {
    let input = vec![b'x'; LONGEST + 10];
    let bad = "bad: the line is longer than 8 MiB; send shorter lines";
    assert_eq!(lines(&input), [bad]);
}
