use super::*;

#[test]
fn logs_of_the_dead_are_removed_and_others_stay() {
    let state = tempfile::tempdir().unwrap();
    let logs = state.path().join("logs");
    let mine = new_log_dir(state.path());
    // No process has a number beyond the largest that the system gives.
    let dead = logs.join("4194305-1");
    let strange = logs.join("notes");
    for folder in [&mine, &dead, &strange] {
        std::fs::create_dir_all(folder).unwrap();
    }

    remove_logs_of_the_dead(&logs, &[]);

    assert!(mine.exists());
    assert!(!dead.exists());
    assert!(strange.exists());
}

#[test]
fn a_project_has_one_name_and_another_has_another() {
    let name = workspace_id(Path::new("/a"));
    assert_eq!(name, workspace_id(Path::new("/a")));
    assert_ne!(name, workspace_id(Path::new("/b")));
}
