//! Hosts that this program is installed on when it is first used.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use windlass_outside::needs;

use crate::hosts::ssh_to;
use crate::programs::windlass;
use crate::support::{Project, Run};
use crate::term_sitting::outside;

/// This program without what only debuggers need: it is copied, and its checksum is computed.
fn small_binary(folder: &Path, project: &Project) -> PathBuf {
    let small = folder.join("windlass");
    outside(
        project,
        "strip",
        &["-o", &small.display().to_string(), windlass()],
    );
    small
}

/// Words that reach this machine with a home of its own, over a pipe.
fn with_home(home: &Path, path: &str) -> Vec<String> {
    let home = format!("HOME={}", home.display());
    let words = ["env", "-i", &home, &format!("PATH={path}"), "SHELL=/bin/sh"];
    words.map(str::to_owned).to_vec()
}

fn config(via: &[String]) -> String {
    format!(
        "[hosts.there]\nvia = {}\ninstall = true\nlease_secs = 10\n\
         [conversation.tools.shell]\nrun = \"unattended\"\nhost = \"there\"\n",
        json!(via)
    )
}

fn run(project: &Project, binary: &Path, args: &[&str]) -> Run {
    let output = project
        .program(&binary.display().to_string())
        .args(args)
        .output();
    Run::of(output.unwrap())
}

/// The programs that are installed in a home.
fn installed(home: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(home.join(".cache/windlass/bin"));
    let files = files.into_iter().flatten().flatten();
    files.map(|file| file.path()).collect()
}

#[test]
fn a_program_is_installed_on_first_use_over_a_pipe() {
    needs!("strip", "sha256sum");
    let folder = tempfile::tempdir().unwrap();
    let project = Project::new();
    let binary = small_binary(folder.path(), &project);
    let home = folder.path().join("home");
    fs::create_dir(&home).unwrap();
    let path = std::env::var("PATH").unwrap();
    // A tail that runs an installed program is left out.
    let tail = ["windlass", "host"].map(str::to_owned);
    let via = [&with_home(&home, &path)[..], &tail].concat();
    project.write_own(&config(&via));
    let first = run(&project, &binary, &["hosts", "check", "there"]);
    assert_eq!(first.code(), Some(0), "{}", first.stdout());
    assert!(
        first.stdout().contains("this program was copied there"),
        "{}",
        first.stdout()
    );
    assert!(
        first.stdout().contains("kept      handles can outlive"),
        "{}",
        first.stdout()
    );
    assert!(first.stdout().contains("sandbox   "), "{}", first.stdout());
    let files = installed(&home);
    assert_eq!(files.len(), 1, "{files:?}");
    assert_eq!(fs::read(&files[0]).unwrap(), fs::read(&binary).unwrap());
    let second = run(&project, &binary, &["hosts", "check", "there"]);
    assert!(
        second.stdout().contains("was there already"),
        "{}",
        second.stdout()
    );
    let drive = &binary.display().to_string();
    let mut drive = {
        let mut command = project.program(drive);
        command.arg("drive");
        project.lines_of(command)
    };
    let said = drive.content("shell", json!({"command": "echo $HOME"}));
    assert_eq!(said, json!(format!("{}\n", home.display())));
}

#[test]
fn a_program_is_installed_over_ssh() {
    needs!("ssh", "sshd", "ssh-keygen", "strip", "sha256sum");
    let folder = tempfile::tempdir().unwrap();
    let project = Project::new();
    let binary = small_binary(folder.path(), &project);
    let home = folder.path().join("home");
    fs::create_dir(&home).unwrap();
    let options = [
        "StrictHostKeyChecking=no",
        "UserKnownHostsFile=/dev/null",
        "BatchMode=yes",
    ];
    let mut via = ssh_to(folder.path(), &project, "", &options);
    via.extend(["env".to_owned(), format!("HOME={}", home.display())]);
    project.write_own(&config(&via));
    let first = run(&project, &binary, &["hosts", "check", "there"]);
    assert!(
        first.stdout().contains("this program was copied there"),
        "{}",
        first.stdout()
    );
    let second = run(&project, &binary, &["hosts", "check", "there"]);
    assert!(
        second.stdout().contains("was there already"),
        "{}",
        second.stdout()
    );
}

/// The reply of `hosts check` where programs of these names are scripts of ours.
fn check_with(scripts: &[(&str, &str)]) -> (String, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let project = Project::new();
    let binary = small_binary(folder.path(), &project);
    let (home, bin) = (folder.path().join("home"), folder.path().join("bin"));
    for folder in [&home, &bin] {
        fs::create_dir(folder).unwrap();
    }
    for (name, script) in scripts {
        let file = bin.join(name);
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        outside(&project, "chmod", &["+x", &file.display().to_string()]);
    }
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    project.write_own(&config(&with_home(&home, &path)));
    let checked = run(&project, &binary, &["hosts", "check", "there"]);
    assert_eq!(checked.code(), Some(1), "{}", checked.stdout());
    (checked.stdout(), installed(&home))
}

#[test]
fn another_machine_gets_nothing() {
    needs!("strip");
    let (said, files) = check_with(&[("uname", "echo Linux riscv64")]);
    assert!(
        said.contains("Linux riscv64") && said.contains("without `install`"),
        "{said}"
    );
    assert_eq!(files, Vec::<PathBuf>::new());
}

#[test]
fn the_error_for_a_machine_without_a_shell_does_not_ask_for_windlass_there() {
    needs!("strip");
    let (said, _) = check_with(&[("sh", "exit 127")]);
    assert!(said.contains("must be able to run `sh` there"), "{said}");
    assert!(!said.contains("install `windlass`"), "{said}");
}

#[test]
fn a_copy_with_another_checksum_is_not_used() {
    needs!("strip");
    let (said, files) = check_with(&[("sha256sum", "echo 1234 file")]);
    assert!(said.contains("its checksum there is 1234"), "{said}");
    assert_eq!(files, Vec::<PathBuf>::new());
}

#[test]
fn a_disk_that_is_full_is_reported_and_nothing_of_the_copy_is_run() {
    needs!("strip");
    let (said, files) = check_with(&[("head", "exec /usr/bin/head -c 1000")]);
    assert!(said.contains("it cannot be written to"), "{said}");
    assert_eq!(files, Vec::<PathBuf>::new());
}
