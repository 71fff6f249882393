use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn views() -> Views {
    let view = |result: &str| HandleView {
        result: Some(result.to_owned()),
        ..HandleView::new(HandleId::new("a").unwrap(), HandleState::Stopped)
    };
    (view("the rest"), Some(view("all of it")), Vec::new())
}

#[test]
fn a_stored_result_is_read_back_from_a_private_file_that_goes_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("new/1.result.json");
    let stored = StoredResult::new(&views(), Some(file.clone()), None);
    let mode = fs::metadata(&file).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    let id = HandleId::new("a").unwrap();
    assert_eq!(stored.view(&id, View::New), views().0);
    assert_eq!(Some(stored.view(&id, View::All)), views().1);
    drop(stored);
    assert!(!file.exists());
}

#[test]
fn without_a_folder_it_stays_in_memory() {
    let id = HandleId::new("a").unwrap();
    let stored = StoredResult::new(&views(), None, None);
    assert_eq!(stored.view(&id, View::New), views().0);
    let stored = StoredResult::new(&views(), Some("/proc/no/1.json".into()), None);
    assert_eq!(stored.view(&id, View::New), views().0);
}

#[test]
fn a_file_that_is_gone_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("1.result.json");
    let stored = StoredResult::new(&views(), Some(file.clone()), None);
    fs::remove_file(&file).unwrap();
    let view = stored.view(&HandleId::new("a").unwrap(), View::New);
    assert!(view.error.is_some());
    assert_eq!(view.state, HandleState::Stopped);
}
