use super::*;

fn last(chunks: &[&str]) -> Option<String> {
    let mut bytewise = LastLine::default();
    let mut line = LastLine::default();
    for chunk in chunks {
        line.push(chunk.as_bytes());
        for byte in chunk.bytes() {
            bytewise.push(&[byte]);
        }
    }
    assert_eq!(line.get(), bytewise.get(), "byte by byte");
    line.get()
}

#[test]
fn the_last_line_that_says_something_is_reported() {
    for (chunks, expected) in [
        (&["a\nb\n"][..], Some("b")),
        (&["a\nb"], Some("b")),
        (&["a\n", "\n", "  \n", "\n"], Some("a")),
        (&["a\nb\n\n  \n\t"], Some("b")),
        (&["a\x1b[31m\n", "\x1b[0m"], Some("a")),
        (&["a\n\x1b[0m\n\x1b[K\n"], Some("a")),
        (&["err", "or: ", "x\r", "\n"], Some("error: x")),
        (&["one\ntwo", " three\n"], Some("two three")),
        (&[""], None),
        (&["\n \n"], None),
    ] {
        assert_eq!(last(chunks).as_deref(), expected, "{chunks:?}");
    }
}

#[test]
fn a_redrawn_line_is_reported_in_its_newest_form() {
    assert_eq!(last(&["10%\r20%\r", "30%\r"]).as_deref(), Some("30%"));
    assert_eq!(last(&["10%", "\r20%"]).as_deref(), Some("20%"));
    assert_eq!(last(&["10%\r100%\r\n"]).as_deref(), Some("100%"));
}

#[test]
fn many_redraws_do_not_hide_the_newest() {
    let mut line = LastLine::default();
    for step in 0..10_000 {
        line.push(format!("\rstep {step}").as_bytes());
    }
    assert_eq!(line.get().as_deref(), Some("step 9999"));
}

#[test]
fn a_long_line_is_cut() {
    let long = "é".repeat(5000);
    assert_eq!(last(&[&long]).unwrap(), "é".repeat(200));
    assert_eq!(last(&["x\n", &long, "\n"]).unwrap(), "é".repeat(200));
}
