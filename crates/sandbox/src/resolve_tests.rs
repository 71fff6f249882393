use std::path::Path;

use super::*;
use crate::{FileAccess, HostPattern, NetworkRule, OnUnavailable};

fn places() -> ProjectPlaces {
    ProjectPlaces {
        root: "/home/u/p".into(),
        home: "/home/u".into(),
        own: vec!["/home/u/.local/state/windlass".into()],
        ..ProjectPlaces::default()
    }
}

fn confined(settings: &SandboxSettings) -> Confinement {
    resolve(settings, None, &places())
        .confinement
        .expect("a sandbox")
}

fn mode(mode: SandboxMode) -> SandboxSettings {
    SandboxSettings::of_mode(mode)
}

/// Which of these can be read and written, as `rw`, `r-` or `--`.
fn check(confinement: &Confinement, expected: &[(&str, &str)]) {
    for (path, rights) in expected {
        let read = confinement.allows(Path::new(path), FileAccess::Read);
        let write = confinement.allows(Path::new(path), FileAccess::Write);
        let found = format!(
            "{}{}",
            if read { 'r' } else { '-' },
            if write { 'w' } else { '-' }
        );
        assert_eq!(&found, rights, "{path}");
    }
}

#[test]
fn off_is_no_sandbox() {
    let off = resolve(&mode(SandboxMode::Off), None, &places());
    assert_eq!(off, SandboxResolution::default());
}

#[test]
fn a_workspace_writes_the_project_and_caches_and_reads_all_but_secrets() {
    let confinement = confined(&mode(SandboxMode::Workspace));
    check(
        &confinement,
        &[
            ("/home/u/p/src/main.rs", "rw"),
            ("/home/u/p/.git/index", "rw"),
            ("/home/u/p/.git/hooks/pre-commit", "r-"),
            ("/home/u/p/.git/config", "r-"),
            ("/home/u/p/.windlass/config.toml", "r-"),
            ("/home/u/p/.envrc", "r-"),
            ("/home/u/p/.claude/settings.json", "r-"),
            ("/home/u/.cargo/registry/index", "rw"),
            ("/home/u/.cargo/bin/cargo", "r-"),
            ("/home/u/.cargo/credentials.toml", "--"),
            ("/home/u/.cache/pip/x", "rw"),
            ("/home/u/.cache/huggingface/token", "--"),
            ("/home/u/.bashrc", "r-"),
            ("/home/u/.ssh/id_ed25519", "--"),
            ("/home/u/.local/state/windlass/token", "--"),
            ("/etc/hosts", "r-"),
            ("/etc/shadow", "--"),
            ("/tmp/x", "rw"),
            ("/home/u/other/x", "r-"),
        ],
    );
    assert!(confinement.made.contains(&"/home/u/.cargo/registry".into()));
    assert_eq!(confinement.network, NetworkRule::None);
    assert_eq!(confinement.unavailable, OnUnavailable::Refuse);
}

#[test]
fn read_only_writes_no_project() {
    let confinement = confined(&mode(SandboxMode::ReadOnly));
    check(
        &confinement,
        &[
            ("/home/u/p/x", "r-"),
            ("/tmp/x", "rw"),
            ("/home/u/.npm/_cacache/x", "rw"),
        ],
    );
}

#[test]
fn home_and_the_root_folder_are_no_projects() {
    for root in ["/", "/home", "/home/u"] {
        let places = ProjectPlaces {
            root: root.into(),
            ..places()
        };
        let resolution = resolve(&mode(SandboxMode::Workspace), None, &places);
        let confinement = resolution.confinement.expect("a sandbox");
        check(&confinement, &[("/home/u/x", "r-"), ("/etc/x", "r-")]);
        assert_eq!(resolution.told.len(), 1, "{root}: {:?}", resolution.told);
        assert!(resolution.told[0].starts_with(&format!("{root} is too broad")));
    }
}

#[test]
fn a_table_lists_what_is_read_and_written() {
    let table = SandboxSettings {
        mode: SandboxMode::Workspace,
        read: Some(vec!["~/docs".into()]),
        write: Some(vec!["target".into(), "../q".into()]),
        deny: vec!["~/docs/private".into()],
        ..SandboxSettings::default()
    };
    check(
        &confined(&table),
        &[
            ("/home/u/p/target/x", "rw"),
            ("/home/u/p/src/x", "r-"),
            ("/home/u/q/x", "rw"),
            ("/home/u/docs/x", "r-"),
            ("/home/u/docs/private/x", "--"),
            ("/home/u/other", "--"),
            ("/usr/bin/env", "r-"),
            ("/home/u/.cache/x", "--"),
        ],
    );
}

#[test]
fn shell_profiles_stay_as_they_are_where_home_is_writable() {
    let table = SandboxSettings {
        mode: SandboxMode::Workspace,
        write: Some(vec!["~".into()]),
        ..SandboxSettings::default()
    };
    check(
        &confined(&table),
        &[
            ("/home/u/x", "rw"),
            ("/home/u/.bashrc", "r-"),
            ("/home/u/.cargo/bin/cargo", "r-"),
            ("/home/u/.ssh/config", "--"),
        ],
    );
}

#[test]
fn a_project_tightens_and_never_loosens() {
    let user = mode(SandboxMode::Workspace);
    let check_project = |project: &SandboxSettings| {
        resolve(project, Some(&user), &places())
            .confinement
            .expect("a sandbox")
    };
    let off = check_project(&mode(SandboxMode::Off));
    check(&off, &[("/home/u/p/x", "rw"), ("/etc/x", "r-")]);
    let stricter = check_project(&mode(SandboxMode::ReadOnly));
    check(&stricter, &[("/home/u/p/x", "r-")]);
    let laxer = check_project(&SandboxSettings {
        mode: SandboxMode::Workspace,
        write: Some(vec!["/".into(), "target".into()]),
        network: NetworkRule::Full,
        unavailable: OnUnavailable::Warn,
        ..SandboxSettings::default()
    });
    check(
        &laxer,
        &[
            ("/etc/x", "r-"),
            ("/home/u/p/target/x", "rw"),
            ("/home/u/p/.envrc", "r-"),
        ],
    );
    assert_eq!(laxer.network, NetworkRule::None);
    assert_eq!(laxer.unavailable, OnUnavailable::Refuse);
}

#[test]
fn hosts_of_a_project_count_where_the_user_allows_them() {
    let allow = |hosts: &[&str]| SandboxSettings {
        mode: SandboxMode::Workspace,
        network: NetworkRule::Allow(
            hosts
                .iter()
                .map(|host| HostPattern::parse(host).expect(host))
                .collect(),
        ),
        ..SandboxSettings::default()
    };
    let user = allow(&["*.crates.io"]);
    let project = allow(&["static.crates.io", "evil.net"]);
    let both = resolve(&project, Some(&user), &places())
        .confinement
        .expect("a sandbox");
    let expected = HostPattern::parse("static.crates.io").expect("a host");
    assert_eq!(both.network, NetworkRule::Allow(vec![expected]));
}

#[test]
fn a_linked_work_tree_writes_its_repository_without_hooks_and_configuration() {
    let places = ProjectPlaces {
        git_folders: vec!["/srv/repo/.git".into()],
        ..places()
    };
    let resolution = resolve(&mode(SandboxMode::Workspace), None, &places);
    check(
        &resolution.confinement.expect("a sandbox"),
        &[
            ("/srv/repo/.git/objects/x", "rw"),
            ("/srv/repo/.git/hooks/x", "r-"),
            ("/srv/repo/.git/config", "r-"),
            ("/home/u/p/.git", "r-"),
        ],
    );
}
