use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn seal(command: &str, time: u64) -> Value {
    json!({"command": [command], "files": [["/bin/it", 1, time, 0]]})
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn an_answer_is_found_as_long_as_nothing_has_changed() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::new(folder.path().join("made when needed"));
    let answer = json!({"tools": [{"name": "a", "b": null}]});
    assert_eq!(cache.find(&seal("it", 1)), None);
    cache.remember(&seal("it", 1), &answer);
    assert_eq!(cache.find(&seal("it", 1)), Some(answer.clone()));
    assert_eq!(cache.find(&seal("it", 2)), None);
    assert_eq!(cache.find(&seal("it -v", 1)), None);
    cache.remember(&seal("it", 2), &answer);
    assert_eq!(cache.find(&seal("it", 1)), None);
    let files = files(&folder.path().join("made when needed"));
    assert_eq!(files.len(), 1, "the older answer is gone");
    let mode = files[0].metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_broken_file_is_no_answer_and_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::new(folder.path().to_owned());
    let answer = json!({"tools": []});
    cache.remember(&seal("it", 1), &answer);
    for broken in ["", "{", "[]", r#"{"asked":null}"#, "\u{0}"] {
        std::fs::write(&files(folder.path())[0], broken).unwrap();
        assert_eq!(cache.find(&seal("it", 1)), None, "{broken:?}");
    }
    cache.remember(&seal("it", 1), &answer);
    assert_eq!(cache.find(&seal("it", 1)), Some(answer));
}

#[test]
fn a_folder_that_cannot_be_written_to_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let cache = Cache::new(file.join("below a file"));
    cache.remember(&seal("it", 1), &json!({}));
    assert_eq!(cache.find(&seal("it", 1)), None);
}
