//! Recordings are read back and played.

use serde_json::Value;

use super::*;

/// Records these pieces; returns the header and the texts of the events.
fn check(pieces: &[&[u8]]) -> (Value, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("below/it.cast");
    let mut recording = RecordingFile::new(&path, TerminalSize { rows: 10, cols: 40 });
    for piece in pieces {
        recording.write(piece);
    }
    // Everything is available while the recording continues.
    let cast = std::fs::read_to_string(&path).unwrap();
    let mut lines = cast
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let header = lines.next().unwrap();
    let texts = lines.map(|event| {
        assert!(event[0].is_f64() && event[1] == "o", "{event}");
        event[2].as_str().unwrap().to_owned()
    });
    (header, texts.collect())
}

#[test]
fn the_header_is_that_of_an_asciicast() {
    let (header, texts) = check(&[]);
    assert_eq!(
        (&header["version"], &header["width"], &header["height"]),
        (&json!(2), &json!(40), &json!(10))
    );
    assert!(header["timestamp"].as_u64().unwrap() > 1_600_000_000);
    assert_eq!(texts, [""; 0]);
}

#[test]
fn every_piece_is_an_event_with_its_control_characters() {
    let (_, texts) = check(&[b"one\r\n", b"\x1b[1mtwo\x1b[0m"]);
    assert_eq!(texts, ["one\r\n", "\u{1b}[1mtwo\u{1b}[0m"]);
}

#[test]
fn a_character_that_is_cut_comes_whole() {
    let (_, texts) = check(&[b"a\xe2\x94", b"\x82b"]);
    assert_eq!(texts, ["a", "│b"]);
    let (_, texts) = check(&[b"\xe2", b"\x94", b"\x82"]);
    assert_eq!(texts, ["│"]);
}

#[test]
fn what_is_no_text_is_replaced() {
    let (_, texts) = check(&[b"a\xffb", b"c"]);
    assert_eq!(texts, ["a\u{fffd}b", "c"]);
    // A character may be cut behind what is none.
    let (_, texts) = check(&[b"\xff\xe2\x94", b"\x82"]);
    assert_eq!(texts.concat(), "\u{fffd}│");
}

#[test]
fn nobody_else_may_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("below/it.cast");
    RecordingFile::new(&path, TerminalSize::default());
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
}

#[test]
fn a_recording_that_cannot_be_made_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("it.cast");
    std::fs::write(&path, "another's").unwrap();
    RecordingFile::new(&path, TerminalSize::default()).write(b"lost");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "another's");
}
