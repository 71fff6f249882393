//! Simulated machines: a directory with some programs.

use super::*;

/// The programs that are missing on a machine with these.
fn check(present: &[&str]) -> Vec<&'static str> {
    let machine = tempfile::tempdir().unwrap();
    for program in present {
        let file = machine.path().join(program);
        std::fs::write(&file, "").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    missing(machine.path().as_os_str())
        .iter()
        .map(|needed| needed.program)
        .collect()
}

#[test]
fn what_is_there_is_not_missing() {
    assert_eq!(
        check(
            &NEEDED
                .iter()
                .map(|needed| needed.program)
                .collect::<Vec<_>>()
        ),
        [""; 0]
    );
}

#[test]
fn what_is_not_there_is_missing_by_name() {
    let mut all: Vec<&str> = NEEDED.iter().map(|needed| needed.program).collect();
    all.retain(|program| !["git", "python3"].contains(program));
    assert_eq!(check(&all), ["git", "python3"]);
}

#[test]
fn a_file_that_cannot_be_run_is_no_program() {
    let machine = tempfile::tempdir().unwrap();
    let file = machine.path().join("git");
    std::fs::write(&file, "").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(!is_in(machine.path().as_os_str(), "git"));
}

#[test]
fn a_package_is_installed_once() {
    let missing = [
        Needed {
            program: "setsid",
            package: "util-linux",
        },
        Needed {
            program: "script",
            package: "util-linux",
        },
        Needed {
            program: "git",
            package: "git",
        },
    ];
    assert_eq!(packages(&missing), ["git", "util-linux"]);
}

#[test]
fn installing_needs_apt_get() {
    let machine = tempfile::tempdir().unwrap();
    let path = machine.path().as_os_str();
    let absent = Err("`apt-get` is not installed");
    assert_eq!(Installer::find(true, path), absent);
    assert_eq!(Installer::find(false, path), absent);
    let file = machine.path().join("apt-get");
    std::fs::write(&file, "").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(Installer::find(true, path), Ok(Installer { sudo: false }));
}

#[test]
fn a_skip_says_what_and_why() {
    let needed = Needed {
        program: "setsid",
        package: "util-linux",
    };
    assert_eq!(
        skip_line(&needed, "only root can install it"),
        "skipping the tests that need `setsid`: it is missing and only root can install it \
         (Debian package `util-linux`)"
    );
}
