use windlass_process::RemotePlace;

use super::*;

fn key(folder: &std::path::Path) -> HeldKey {
    HeldKey {
        folder: folder.to_owned(),
        name: "it".to_owned(),
        nonce: [7; 16],
        remote: Some(RemotePlace {
            host: "there".to_owned(),
            program: 3,
        }),
    }
}

#[test]
fn one_process_at_a_time_has_a_kept_program() {
    let folder = tempfile::tempdir().unwrap();
    let first = OwnedKept::take(key(folder.path())).unwrap();
    first.noter()(42);
    assert_eq!(first.noted_lease(), None);
    first.note_lease(Duration::from_secs(9));
    let second = OwnedKept::take(key(folder.path()));
    let own = std::process::id();
    assert!(matches!(second, Err(TakeOverError::Busy { owner, .. }) if owner == own));
    first.release();
    let third = OwnedKept::take(key(folder.path())).unwrap();
    assert_eq!(third.noted_read(), 42);
    assert_eq!(third.noted_lease(), Some(Duration::from_secs(9)));
}
