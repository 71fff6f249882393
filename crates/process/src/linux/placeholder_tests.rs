use std::fs;

use super::{FILES, is_one, make, remove};

#[test]
fn a_placeholder_is_what_was_made_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let names = FILES.iter().map(|(name, _)| *name);
    for name in names.chain([".claude", ".envrc"]) {
        let path = folder.path().join(name);
        assert!(!is_one(&path), "{name}");
        make(&path).unwrap();
        assert!(is_one(&path), "{name}");
        assert!(make(&path).is_err(), "{name}");
        remove(&path);
        assert!(!path.exists(), "{name}");
    }
    // Content of the user is left alone.
    let file = folder.path().join("opencode.json");
    fs::write(&file, "{} ").unwrap();
    assert!(!is_one(&file));
    let full = folder.path().join(".claude");
    fs::create_dir_all(full.join("x")).unwrap();
    assert!(!is_one(&full));
    remove(&full);
    assert!(full.exists());
}

#[test]
fn a_file_in_place_of_another_parses() {
    for (name, content) in FILES {
        let text = std::str::from_utf8(content).unwrap();
        if name.contains(".json") {
            assert_eq!(text.trim(), "{}", "{name}");
        } else {
            assert!(text == ".\n" || text.starts_with("# "), "{name}");
        }
    }
}
