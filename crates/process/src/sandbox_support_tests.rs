use super::SandboxSupport;

/// Linux 6.1, with and without namespaces.
fn truncation(mounts: Result<(), Box<str>>) -> (bool, String) {
    let support = SandboxSupport {
        landlock: Some(2),
        seccomp: true,
        mounts,
        ..SandboxSupport::default()
    };
    let mut lines = support.lines().into_iter();
    let line = lines.find(|(_, text)| text.contains("truncated"));
    line.expect("a line about truncation")
}

#[test]
fn mounts_stand_in_for_an_old_landlock() {
    let (enforced, text) = truncation(Ok(()));
    assert!(enforced && text.contains("mounts"), "{text}");
    let (enforced, text) = truncation(Err(Box::from("not allowed")));
    assert!(!enforced && text.contains("6.2"), "{text}");
}
