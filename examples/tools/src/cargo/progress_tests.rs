use super::*;

#[test]
fn a_bar_says_how_far_it_is() {
    let bar = "    Building [=======>          ] 12/80: serde, syn(build)";
    assert_eq!(progress_of(bar), Some((12, 80)));
    assert_eq!(progress_of("   Compiling serde v1.0.0"), None);
    assert_eq!(progress_of("    Building [ broken"), None);
}

#[test]
fn a_redrawn_bar_is_a_line_each_time() {
    let said = "   Compiling a\n    Building [>  ] 0/2: a\r    Building [=> ] 1/2: b\rerror: x";
    let lines: Vec<String> = lines(said.as_bytes()).collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[3], "error: x");
}
