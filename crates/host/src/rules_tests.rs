use super::*;

#[test]
fn a_sandbox_is_read_as_it_was_written() {
    let own = SandboxSettings {
        mode: SandboxMode::Workspace,
        read: Some(vec!["~/data".to_owned()]),
        write: Some(vec!["out".to_owned()]),
        deny: vec!["/srv/keys".to_owned()],
        network: NetworkRule::Allow(vec![HostPattern::parse("*.example.com:443").unwrap()]),
        unavailable: OnUnavailable::Warn,
    };
    let bound = SandboxSettings {
        mode: SandboxMode::ReadOnly,
        unavailable: OnUnavailable::Refuse,
        ..SandboxSettings::default()
    };
    let sandbox = UnresolvedSandbox {
        settings: own,
        bound: Some(bound),
    };
    let frame = sandbox_frame(&sandbox, Path::new("/srv/checkout"));
    assert_eq!(
        read_sandbox(&frame),
        Some((PathBuf::from("/srv/checkout"), sandbox))
    );
}

#[test]
fn a_word_that_is_not_understood_is_no_sandbox() {
    let sandbox = UnresolvedSandbox {
        settings: SandboxSettings::of_mode(SandboxMode::Workspace),
        bound: None,
    };
    let mut frame = sandbox_frame(&sandbox, Path::new("/"));
    frame.rules.mode = "stricter".to_owned();
    assert_eq!(read_sandbox(&frame), None);
}

#[test]
fn limits_are_read_as_they_were_written() {
    let limits = ResourceLimits {
        memory: Some(1 << 30),
        processes: Some(64),
        cpu: Some(Duration::from_secs(5)),
        open_files: None,
        file_size: Some(9),
        wall: Some(Duration::from_millis(1500)),
        disk: Some(1 << 33),
    };
    assert_eq!(read_limits(&limit_numbers(&limits)), limits);
}
