use super::*;

#[test]
fn the_paragraph_follows_the_text_after_one_empty_line() {
    let start = format!("{HEADING}\n\nStart servers");
    assert!(with_paragraph("").starts_with(&start));
    for before in ["# Mine", "# Mine\n", "# Mine\n\n"] {
        let text = with_paragraph(before);
        assert!(text.starts_with(&format!("# Mine\n\n{start}")), "{text}");
    }
}
