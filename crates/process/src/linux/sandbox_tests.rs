use windlass_sandbox::{Confinement, ProjectPlaces, SandboxMode, SandboxSettings, resolve};

use super::without_landlock;

fn confinement() -> Confinement {
    let settings = SandboxSettings::of_mode(SandboxMode::Workspace);
    let places = ProjectPlaces {
        root: "/srv/project".into(),
        home: "/home/user".into(),
        ..ProjectPlaces::default()
    };
    resolve(&settings, None, &places)
        .confinement
        .expect("a sandbox")
}

#[test]
fn mounts_protect_files_from_truncation_where_landlock_does_not() {
    let confinement = confinement();
    let has = |version, has_mounts, what: &str| {
        let missing = without_landlock(&confinement, Some(version), has_mounts);
        missing.iter().any(|part| part.contains(what))
    };
    assert!(has(2, false, "truncating"));
    assert!(!has(2, true, "truncating"));
    assert!(!has(3, false, "truncating"));
    // Mounts do not stop signals.
    assert!(has(2, true, "signals"));
    assert!(has(5, true, "signals"));
    assert!(without_landlock(&confinement, Some(6), false).is_empty());
}
