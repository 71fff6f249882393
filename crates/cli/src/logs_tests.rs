use super::LineNumbers;

#[test]
fn lines_are_numbered_however_they_are_cut() {
    let text = b"one\n\ntwo\nthree";
    for cut in 0..text.len() {
        let mut numbers = LineNumbers::default();
        let mut got = numbers.push(&text[..cut]);
        got.extend(numbers.push(&text[cut..]));
        let got = String::from_utf8(got).unwrap();
        assert_eq!(
            got, "     1  one\n     2  \n     3  two\n     4  three",
            "{cut}"
        );
    }
}
