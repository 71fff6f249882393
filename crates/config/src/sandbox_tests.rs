use super::*;
use crate::{Config, LoadOptions, ProjectTrust};

/// The configuration of a user and a trusted project.
fn load(user: &str, project: &str) -> Config {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().join("home");
    let root = folder.path().join("project");
    std::fs::create_dir_all(home.join("windlass")).expect("a folder");
    std::fs::create_dir_all(root.join(".windlass")).expect("a folder");
    std::fs::write(home.join("windlass/config.toml"), user).expect("a file");
    std::fs::write(root.join(".windlass/config.toml"), project).expect("a file");
    crate::load(&LoadOptions {
        cwd: root,
        config_home: Some(home),
        trust: ProjectTrust::Always,
        ..LoadOptions::default()
    })
    .expect("a configuration")
}

fn shell(config: &Config) -> crate::ToolSettings {
    config.builtin("shell").expect("a tool").settings
}

#[test]
fn a_word_and_a_table_are_read() {
    let config = load("[conversation.tools.\"*\"]\nsandbox = \"read-only\"", "");
    let mode = SandboxSettings::of_mode(SandboxMode::ReadOnly);
    assert_eq!(shell(&config).sandbox, Some(mode));
    let table = "[conversation.tools.shell]\nsandbox = { write = [\"target\"], deny = [\"~/x\"], \
                 network = { allow = [\"*.example.com\"] }, unavailable = \"warn\" }\n\
                 limits = { memory = \"200MiB\", processes = 64, wall_secs = 10 }";
    let settings = shell(&load(table, ""));
    let sandbox = settings.sandbox.expect("a sandbox");
    assert_eq!(sandbox.mode, SandboxMode::Workspace);
    assert_eq!(sandbox.write, Some(vec!["target".to_owned()]));
    assert_eq!(sandbox.deny, ["~/x"]);
    let host = HostPattern::parse("*.example.com").expect("a host");
    assert_eq!(sandbox.network, NetworkRule::Allow(vec![host]));
    assert_eq!(sandbox.unavailable, OnUnavailable::Warn);
    assert_eq!(settings.limits.memory, Some(200 << 20));
    assert_eq!(settings.limits.processes, Some(64));
}

#[test]
fn a_wrong_word_is_reported_with_those_that_work() {
    for (text, expected) in [
        ("sandbox = \"on\"", "workspace"),
        ("sandbox = { network = \"some\" }", "loopback"),
        (
            "sandbox = { network = { allow = [\"http://x\"] } }",
            "without `http://`",
        ),
        ("sandbox = { wirte = [] }", "did you mean `write`?"),
        ("sandbox = { write = [\"*.rs\"] }", "without `*`"),
        ("limits = { processes = 0 }", "of at least 1"),
        ("limits = { memory = \"lots\" }", "32KiB"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("c.toml");
        std::fs::write(&file, format!("[conversation.tools.\"*\"]\n{text}\n")).expect("a file");
        let options = LoadOptions {
            cwd: folder.path().to_owned(),
            explicit: vec![file],
            ..LoadOptions::default()
        };
        let error = format!("{:?}", crate::load(&options).expect_err(text));
        let shown = crate::load(&options).expect_err(text).to_string();
        assert!(
            shown.contains(expected) || error.contains(expected),
            "{text}: {shown}"
        );
    }
}

#[test]
fn a_project_does_not_loosen_the_users_sandbox() {
    let user =
        "[conversation.tools.\"*\"]\nsandbox = \"workspace\"\nlimits = { memory = \"1GiB\" }";
    let project = "[conversation.tools.\"*\"]\nsandbox = \"off\"\nlimits = { memory = \"2GiB\", processes = 9 }";
    let config = load(user, project);
    let settings = shell(&config);
    let workspace = SandboxSettings::of_mode(SandboxMode::Workspace);
    assert_eq!(settings.sandbox_floor, Some(workspace));
    assert_eq!(settings.limits.memory, Some(1 << 30));
    assert_eq!(settings.limits.processes, Some(9));
    let told = config.warnings.join("\n");
    assert!(
        told.contains("\"*\".sandbox` of the project has no effect"),
        "{told}"
    );
    assert!(
        told.contains("\"*\".limits` of the project has no effect"),
        "{told}"
    );
}
