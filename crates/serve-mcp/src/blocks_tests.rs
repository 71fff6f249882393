use super::*;

#[test]
fn images_sound_and_resources_are_blocks_and_logs_are_not() {
    let folder = std::env::temp_dir().join(format!("windlass blocks {}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("a%b.bin");
    std::fs::write(&file, "text").unwrap();
    let of = |mime: &str, name: Option<&str>| {
        let mut attachment = Attachment::file(&file, mime);
        if let Some(name) = name {
            attachment.filename = Some(name.to_owned());
        }
        let blocks = blocks(&[attachment]);
        serde_json::to_value(blocks.first()).unwrap()
    };
    let image = of("image/png", None);
    assert_eq!(image["type"], "image");
    assert_eq!(image["data"], STANDARD.encode("text"));
    assert_eq!(of("audio/wav", None)["type"], "audio");
    let resource = of("text/plain", Some("test://a"));
    assert_eq!(resource["type"], "resource");
    assert_eq!(resource["resource"]["uri"], "test://a");
    assert_eq!(resource["resource"]["text"], "text");
    assert!(of("text/plain", None).is_null());
    std::fs::remove_dir_all(folder).unwrap();
}
