use super::*;

fn check(framing: Framing, text: &str, expected: &[&str]) {
    // However the bytes are cut, the frames are the same.
    for size in 1..=text.len() {
        let mut frames = Frames::new(framing);
        let mut found = Vec::new();
        for piece in text.as_bytes().chunks(size) {
            frames.push(piece, &mut found).unwrap();
        }
        frames.end(&mut found);
        assert_eq!(found, expected, "{size} bytes at a time");
    }
}

#[test]
fn events_give_their_data() {
    check(
        Framing::Events,
        "event: a\ndata: {\"x\":\"ä\"}\n\n: a comment\n\ndata:two\n\n",
        &["{\"x\":\"ä\"}", "two"],
    );
}

#[test]
fn lines_may_end_in_carriage_returns() {
    check(
        Framing::Events,
        "data: one\r\n\r\ndata: two\r\n\r\n",
        &["one", "two"],
    );
}

#[test]
fn data_of_several_lines_is_joined() {
    check(Framing::Events, "data: a\ndata: b\n\n", &["a\nb"]);
}

#[test]
fn the_last_event_may_lack_its_end() {
    check(Framing::Events, "data: a\n\ndata: [DONE]", &["a", "[DONE]"]);
}

#[test]
fn every_line_is_a_frame_where_lines_are() {
    check(
        Framing::Lines,
        "{}\n\n{\"a\":1}\r\n{}",
        &["{}", "{\"a\":1}", "{}"],
    );
}
