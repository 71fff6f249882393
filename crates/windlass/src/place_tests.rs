use super::*;

#[test]
fn logs_of_the_dead_are_removed_and_others_stay() {
    let state = tempfile::tempdir().unwrap();
    let logs = state.path().join("logs");
    let mine = new_log_dir(state.path()).unwrap();
    let another = new_log_dir(state.path()).unwrap();
    assert_ne!(mine, another);
    let ended = RuntimeMark::new(&marks(&logs)).unwrap();
    let dead = logs.join(format!("{}-1a", ended.id()));
    let spared = logs.join(format!("{}-2b", ended.id()));
    drop(ended);
    let killed = logs.join("01ARZ3NDEKTSV4RRFFQ69G5FAV-3c");
    let its_mark = marks(&logs).join("01ARZ3NDEKTSV4RRFFQ69G5FAV.lock");
    std::fs::write(&its_mark, "").unwrap();
    let strange = logs.join("my-notes");
    for folder in [&mine, &dead, &killed, &spared, &strange] {
        std::fs::create_dir_all(folder).unwrap();
    }

    remove_logs_of_the_dead(&logs, std::slice::from_ref(&spared));

    for stays in [&mine, &spared, &strange] {
        assert!(stays.exists(), "{}", stays.display());
    }
    for goes in [&dead, &killed, &its_mark] {
        assert!(!goes.exists(), "{}", goes.display());
    }
}

#[test]
fn a_project_has_one_name_and_another_has_another() {
    let name = workspace_id(Path::new("/a"));
    assert_eq!(name, workspace_id(Path::new("/a")));
    assert_ne!(name, workspace_id(Path::new("/b")));
}
