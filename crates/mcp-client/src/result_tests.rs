use serde_json::json;

use super::*;

fn shown(result: Value) -> Result<String, String> {
    let result = serde_json::from_value(result).unwrap();
    read(result, None).result.map_err(|error| error.message)
}

#[test]
fn every_kind_of_content_is_reported() {
    let content = json!([
        {"type": "text", "text": "a"},
        {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
        {"type": "image", "data": "!", "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "file:///x", "text": "in x"}},
        {"type": "resource", "resource": {"uri": "file:///y", "blob": "AAAA"}},
        {"type": "resource_link", "uri": "file:///z", "name": "z"},
    ]);
    assert_eq!(
        shown(json!({ "content": content })).unwrap(),
        "a\n\
         [audio, audio/wav, 3 bytes]\n\
         [image, image/png, which cannot be read]\n\
         [resource file:///x]\nin x\n\
         [resource file:///y, application/octet-stream, 3 bytes]\n\
         [resource z: file:///z]"
    );
}

#[test]
fn what_is_no_text_is_attached() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("7.log");
    let content = json!([
        {"type": "text", "text": "a"},
        {"type": "image", "data": "AAAA", "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "file:///y", "blob": "AAAA", "mimeType": "x/y"}},
        {"type": "resource_link", "uri": "https://example.com/z", "name": "z", "mimeType": "text/html"},
    ]);
    let result = serde_json::from_value(json!({ "content": content })).unwrap();
    let attached = read(result, Some(&log)).attachments;
    let attached: Vec<_> = attached
        .iter()
        .map(|file| (file.mime.as_str(), file.filename.as_deref().unwrap()))
        .collect();
    assert_eq!(
        attached,
        [
            ("image/png", "7.1.png"),
            ("x/y", "file:///y"),
            ("text/html", "z")
        ]
    );
    assert_eq!(
        std::fs::read(folder.path().join("7.1.png")).unwrap(),
        [0; 3]
    );
}

#[test]
fn what_is_structured_is_reported_where_nothing_else_is() {
    let text = json!([{"type": "text", "text": "two"}]);
    let both = json!({"content": text, "structuredContent": {"n": 2}});
    assert_eq!(shown(both).unwrap(), "two");
    let alone = json!({"content": [], "structuredContent": {"n": 2}});
    assert_eq!(shown(alone).unwrap(), "{\"n\":2}");
}

#[test]
fn an_error_always_has_a_message() {
    let text = json!([{"type": "text", "text": "broken"}]);
    let said = json!({"content": text, "isError": true});
    assert_eq!(shown(said).unwrap_err(), "broken");
    let silent = json!({"content": [], "isError": true});
    assert_eq!(
        shown(silent).unwrap_err(),
        "the tool failed without a message"
    );
}

#[test]
fn a_file_is_named_by_its_kind_and_stays_in_its_folder() {
    for (kind, expected) in [
        ("image/png", "png"),
        ("image/svg+xml", "svg"),
        ("x/../../etc", "etc"),
        ("/..", "bin"),
        ("", "bin"),
    ] {
        assert_eq!(extension(kind), expected, "{kind}");
    }
}
