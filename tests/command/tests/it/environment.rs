//! Which variables tools get, and which limits leave room for a command.

use std::process::{Command, Stdio};

use insta::assert_snapshot;
use serde_json::Value;
use windlass_outside::{needs, skip};

use crate::programs::windlass;
use crate::support::Project;

/// What the shell's `env` shows of these variables.
fn shown(config: &str, variables: &[&str]) -> String {
    let project = Project::with_own_config(config);
    let mut command = project.windlass(&["call", "shell", r#"{"command": "env | sort"}"#]);
    output(&mut command, variables)
}

fn output(command: &mut Command, variables: &[&str]) -> String {
    for name in variables {
        command.env(name, format!("value-of-{name}"));
    }
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    text
}

const VARIABLES: [&str; 6] = [
    "GITHUB_TOKEN",
    "AWS_REGION",
    "OPENAI_API_KEY",
    "WINDLASS_TOKEN",
    "SSH_AUTH_SOCK",
    "ORDINARY",
];

#[test]
fn a_tool_gets_no_credentials() {
    let shown = shown("conversation.tools.shell.run = \"unattended\"", &VARIABLES);
    for name in VARIABLES {
        let wanted = matches!(name, "SSH_AUTH_SOCK" | "ORDINARY");
        let value = format!("value-of-{name}");
        assert_eq!(shown.contains(&value), wanted, "{name}: {shown}");
    }
}

#[test]
fn lists_pass_on_and_hide() {
    let shown = shown(
        "[conversation.tools.\"*\"]\npass_env = [\"NOTHING\"]\n\
         [conversation.tools.shell]\nrun = \"unattended\"\n\
         pass_env = [\"GITHUB_TOKEN\", \"AWS_*\", \"*\"]\nhide_env = [\"ORDINARY\"]\n",
        &VARIABLES,
    );
    for name in VARIABLES {
        // A provider's key is passed on by its own name only, our token never.
        let wanted = matches!(name, "GITHUB_TOKEN" | "AWS_REGION" | "SSH_AUTH_SOCK");
        let value = format!("value-of-{name}");
        assert_eq!(shown.contains(&value), wanted, "{name}: {shown}");
    }
}

#[test]
fn a_tool_tells_what_is_hidden_from_it() {
    let project =
        Project::with_own_config("conversation.tools.shell.pass_env = [\"GITHUB_TOKEN\"]");
    let mut command = project.windlass(&["tools", "shell", "--json"]);
    let shown = output(&mut command, &VARIABLES);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let hidden = shown["hidden_variables"].as_array().unwrap();
    for name in ["AWS_REGION", "OPENAI_API_KEY", "WINDLASS_TOKEN"] {
        assert!(hidden.iter().any(|it| it == name), "{name}: {hidden:?}");
    }
    assert!(!hidden.iter().any(|it| it == "GITHUB_TOKEN"), "{hidden:?}");
}

#[test]
fn a_list_that_means_nothing_is_an_error() {
    for (config, said) in [
        (
            "conversation.tools.shell.pas_env = [\"A\"]",
            "did you mean `pass_env`?",
        ),
        (
            "conversation.tools.shell.env = [\"A\"]",
            "did you mean `pass_env`?",
        ),
        (
            "conversation.tools.shell.pass_env = [\"WINDLASS_TOKEN\"]",
            "without `WINDLASS_TOKEN`",
        ),
        (
            "conversation.tools.shell.hide_env = \"A\"",
            "an array of names of variables",
        ),
    ] {
        let run = Project::with_own_config(config).run(&["tools"], "");
        assert_eq!(run.code(), Some(2), "{config}");
        assert!(run.stderr().contains(said), "{config}: {}", run.stderr());
    }
}

/// A key is in no environment that anybody could look at, the runtime's own
/// neither; a command of the person's own has what it needs.
#[test]
fn a_key_leaves_the_environment_of_the_runtime() {
    if !rustix::process::geteuid().is_root() {
        skip!("only root can read the environment of the runtime");
    }
    let project = Project::with_config("conversation.tools.shell.run = \"unattended\"");
    // As root everything can be read; so this shows that there is nothing.
    let line = r#"{"command": "cut -d' ' -f4 /proc/$PPID/stat | xargs -I{} cut -d' ' -f4 /proc/{}/stat | xargs -I{} cat /proc/{}/environ | tr '\\0' '\\n' | grep -a value-of; true"}"#;
    let mut command = project.windlass(&["call", "shell", line]);
    let shown = output(
        &mut command,
        &["OPENAI_API_KEY", "GITHUB_TOKEN", "ORDINARY"],
    );
    assert!(shown.contains("value-of-ORDINARY"), "{shown}");
    assert!(!shown.contains("value-of-OPENAI_API_KEY"), "{shown}");
    assert!(!shown.contains("value-of-GITHUB_TOKEN"), "{shown}");
}

/// Runs a command below this limit, as an ordinary user: root has no limit of
/// processes.
fn limited(limit: &str) -> (Option<i32>, String) {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let binary = folder.path().join("windlass");
    std::fs::copy(windlass(), &binary).unwrap();
    for path in [folder.path(), &binary] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = Command::new("setpriv");
    if rustix::process::geteuid().is_root() {
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
    }
    let output = command
        .args(["prlimit", limit])
        .arg(&binary)
        .arg("tools")
        .current_dir("/")
        .env("HOME", "/nonexistent")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), errors)
}

#[test]
fn limits_that_leave_no_room_are_errors() {
    needs!("setpriv", "prlimit");
    let (code, errors) = limited("--nproc=1");
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("threads could be started"), "{errors}");
    let (code, errors) = limited("--nofile=16");
    assert_eq!(code, Some(2), "{errors}");
    assert_snapshot!(errors, @"windlass: at least 32 open files are needed, and the limit is 16; raise it (`ulimit -n`)");
}
