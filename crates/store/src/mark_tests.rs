use super::*;

#[test]
fn a_mark_lives_as_long_as_its_holder() {
    let folder = tempfile::tempdir().unwrap();
    let mark = RuntimeMark::new(folder.path()).unwrap();
    let id = mark.id().to_owned();
    assert!(RuntimeMark::is_alive(folder.path(), &id));
    drop(mark);
    assert!(!RuntimeMark::is_alive(folder.path(), &id));
}

#[test]
fn a_mark_that_nobody_holds_is_dead_and_taken_away() {
    let folder = tempfile::tempdir().unwrap();
    let path = place(folder.path(), "x");
    File::create(&path).unwrap();
    assert!(!RuntimeMark::is_alive(folder.path(), "x"));
    assert!(!path.exists());
}

#[test]
fn a_sweep_takes_the_dead_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mark = RuntimeMark::new(folder.path()).unwrap();
    let dead = place(folder.path(), "x");
    File::create(&dead).unwrap();
    RuntimeMark::sweep(folder.path());
    assert!(!dead.exists());
    assert!(RuntimeMark::is_alive(folder.path(), mark.id()));
}
