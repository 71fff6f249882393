use super::*;
use crate::{ProjectPlaces, SandboxMode, SandboxSettings, resolve};

fn confinement(mode: SandboxMode, network: NetworkRule) -> Confinement {
    let settings = SandboxSettings {
        network,
        read: Some(vec![String::from("/srv/books")]),
        ..SandboxSettings::of_mode(mode)
    };
    let places = ProjectPlaces {
        root: PathBuf::from("/home/me/project"),
        home: PathBuf::from("/home/me"),
        own: vec![PathBuf::from("/home/me/.local/state/windlass")],
        ..ProjectPlaces::default()
    };
    resolve(&settings, None, &places).confinement.unwrap()
}

fn check(mode: SandboxMode, text: &str) -> bool {
    let network = NetworkRule::Allow(Vec::new());
    let widening: Widening = text.parse().unwrap();
    assert_eq!(widening.to_string(), text);
    let confinement = confinement(mode, network);
    let is_wider = confinement.widened(std::slice::from_ref(&widening)) != confinement;
    assert_eq!(is_wider, confinement.can_be_widened(&widening), "{text}");
    is_wider
}

#[test]
fn files_and_hosts_can_be_allowed() {
    for text in [
        "read /srv/music",
        "write /srv/out",
        "write /home/me/out/file",
        "connect crates.io:443",
    ] {
        assert!(check(SandboxMode::Workspace, text), "{text}");
    }
}

#[test]
fn secrets_and_what_runs_later_outside_cannot() {
    for text in [
        "read /home/me/.ssh",
        "read /home/me/.ssh/id_rsa",
        "read /home/me",
        "read /",
        "write /etc/shadow",
        "write /etc",
        "write /home/me",
        "write /home/me/.bashrc",
        "write /home/me/.config/autostart",
        "write /home/me/.local/state/windlass/token",
        "write /home/me/project",
        "write /home/me/project/.git/hooks/pre-commit",
        "write /home/me/project/.git",
        "write /srv/*",
        "write /srv/../etc",
        "write srv",
        "write /srv/a b",
        "connect *.io",
    ] {
        for mode in [SandboxMode::Workspace, SandboxMode::ReadOnly] {
            assert!(!check(mode, text), "{text}");
        }
    }
}

/// A program could put a link to anything in the place of the inner one.
#[test]
fn a_rule_within_another_is_none() {
    let confinement = confinement(SandboxMode::Workspace, NetworkRule::None);
    let rules = [
        "write /srv/out",
        "write /srv/out/inner",
        "write /srv",
        "write /home/me/project/src",
    ];
    let rules = rules.map(|text| text.parse().unwrap());
    let wider = confinement.widened(&rules);
    let more: Vec<_> = wider
        .writable
        .iter()
        .filter(|path| !confinement.writable.contains(path))
        .collect();
    assert_eq!(more, [Path::new("/srv")]);
}

#[test]
fn hosts_are_for_sandboxes_with_a_proxy() {
    let widening: Widening = "connect crates.io:443".parse().unwrap();
    for network in [NetworkRule::None, NetworkRule::Loopback, NetworkRule::Full] {
        let confinement = confinement(SandboxMode::Workspace, network);
        assert!(!confinement.can_be_widened(&widening));
    }
    for text in ["", "write", "run /bin/sh", "connect a b"] {
        assert_eq!(text.parse::<Widening>(), Err(NoWidening), "{text}");
    }
}
