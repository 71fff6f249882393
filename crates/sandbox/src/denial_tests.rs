use super::*;
use crate::{ProjectPlaces, SandboxMode, SandboxSettings, resolve};

struct Root;

impl UserAccess for Root {
    fn reads(&self, _: &Path) -> bool {
        true
    }

    fn writes(&self, _: &Path) -> bool {
        true
    }
}

struct Nobody;

impl UserAccess for Nobody {
    fn reads(&self, _: &Path) -> bool {
        false
    }

    fn writes(&self, _: &Path) -> bool {
        false
    }
}

fn told_to(user: &impl UserAccess, output: &str) -> Vec<String> {
    told_in(SandboxMode::Workspace, user, output)
}

fn told_in(mode: SandboxMode, user: &impl UserAccess, output: &str) -> Vec<String> {
    let places = ProjectPlaces {
        root: "/home/u/p".into(),
        home: "/home/u".into(),
        ..ProjectPlaces::default()
    };
    let settings = SandboxSettings::of_mode(mode);
    let confinement = resolve(&settings, None, &places)
        .confinement
        .expect("a sandbox");
    let denials = denials(output, Path::new("/home/u/p/sub"), &confinement, user);
    denials.iter().map(ToString::to_string).collect()
}

fn told(output: &str) -> Vec<String> {
    told_to(&Root, output)
}

#[test]
fn errors_of_common_programs_are_understood() {
    for (output, expected) in [
        (
            "/bin/bash: line 1: /etc/hosts: Read-only file system",
            "write to /etc/hosts",
        ),
        (
            "sh: 1: cannot create /etc/hosts: Permission denied",
            "write to /etc/hosts",
        ),
        (
            "touch: cannot touch '/etc/a b': Permission denied",
            "write to /etc/a b",
        ),
        (
            "mkdir: cannot create directory ‘/opt/x’: Read-only file system",
            "write to /opt/x",
        ),
        (
            "PermissionError: [Errno 13] Permission denied: '/etc/hosts'",
            "write to /etc/hosts",
        ),
        (
            "Error: EACCES: permission denied, open '/etc/hosts'",
            "write to /etc/hosts",
        ),
        (
            "bash: ../.git/hooks/pre-commit: Read-only file system",
            "write to /home/u/p/.git/hooks/pre-commit",
        ),
        (
            "mv: cannot move '../.git' to '../x': Device or resource busy\n",
            "",
        ),
        (
            "bash: ../.envrc: Is a directory",
            "write to /home/u/p/.envrc",
        ),
        (
            "cat: /home/u/.ssh/id_rsa: No such file or directory",
            "reading /home/u/.ssh/id_rsa",
        ),
        (
            "cat: /home/u/.npmrc: Permission denied",
            "reading /home/u/.npmrc",
        ),
        (
            "error: failed to open: `/home/u/.cargo/.package-cache`\n\nCaused by:\n  Permission denied (os error 13)",
            "write to /home/u/.cargo/.package-cache",
        ),
        (
            "error: failed to open: `/srv/x`\nCaused by:\n  Permission denied (os error 13)",
            "write to /srv/x",
        ),
        (
            "curl: (6) Could not resolve host: example.com",
            "the network",
        ),
        ("connect: Network is unreachable", "the network"),
        (
            "curl: (7) Failed to connect to 127.0.0.1 port 80 after 0 ms: Couldn't connect to server",
            "the network",
        ),
        (
            "Traceback (most recent call last):\n  File \"/usr/lib/python3/socket.py\", line 232, in __init__\n    \
             _socket.socket.__init__(self, family)\nPermissionError: [Errno 1] Operation not permitted",
            "the network",
        ),
        (
            "urllib.error.URLError: <urlopen error [Errno 1] Operation not permitted>",
            "the network",
        ),
        (
            "fatal: cannot copy '/usr/share/x' to '/opt/y': Read-only file system",
            "write to /opt/y",
        ),
        (
            "Error: EACCES: permission denied, open '/etc/hosts'\n    at open (/usr/lib/node/fs.js:1:2)",
            "write to /etc/hosts",
        ),
    ] {
        let expected: Vec<_> = [expected].into_iter().filter(|it| !it.is_empty()).collect();
        assert_eq!(told(output), expected, "{output}");
    }
}

#[test]
fn ordinary_errors_are_not_taken_for_denials() {
    for output in [
        "cat: /home/u/p/x: No such file or directory",
        "sh: 1: /home/u/p/run.sh: Permission denied",
        "all 3 tests passed in /etc",
        "see https://example.com/x: not found",
    ] {
        assert_eq!(told(output), [""; 0], "{output}");
    }
}

#[test]
fn files_that_the_user_could_not_have_are_not_told() {
    let output =
        "cat: /etc/shadow: Permission denied\ntouch: cannot touch '/etc/x': Permission denied";
    assert_eq!(told_to(&Nobody, output), [""; 0]);
}

#[test]
fn a_bare_name_is_a_file_of_the_working_folder() {
    for output in [
        "/bin/sh: 1: cannot create new: Read-only file system",
        "sh: 12: cannot create new: Read-only file system",
        "bash: line 1: new: Read-only file system",
        "bash: new: Read-only file system",
        "touch: cannot touch 'new': Read-only file system",
    ] {
        let told = told_in(SandboxMode::ReadOnly, &Root, output);
        assert_eq!(told, ["write to /home/u/p/sub/new"], "{output}");
    }
}

#[test]
fn the_shell_that_reports_an_error_is_not_its_file() {
    for output in [
        "/bin/sh: 1: Permission denied here",
        "/bin/bash: line 3: fork: Operation not permitted",
    ] {
        let told = told_in(SandboxMode::ReadOnly, &Root, output);
        assert_eq!(told, [""; 0], "{output}");
    }
}
