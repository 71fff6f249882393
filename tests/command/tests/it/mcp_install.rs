//! `windlass mcp install`, for each client in a home of its own.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::programs::windlass;
use crate::support::{Project, Run, call, workspace};

/// Each client, and its config below the home and below the project, if it has one there.
const CLIENTS: [(&str, &str, Option<&str>); 11] = [
    ("claude", ".claude.json", Some(".mcp.json")),
    ("codex", ".codex/config.toml", Some(".codex/config.toml")),
    (
        "opencode",
        "config/opencode/opencode.json",
        Some("opencode.json"),
    ),
    (
        "gemini",
        ".gemini/settings.json",
        Some(".gemini/settings.json"),
    ),
    ("qwen", ".qwen/settings.json", Some(".qwen/settings.json")),
    (
        "cline",
        ".cline/data/settings/cline_mcp_settings.json",
        None,
    ),
    (
        "copilot",
        ".copilot/mcp-config.json",
        Some(".github/mcp.json"),
    ),
    ("pi", ".pi/agent/mcp.json", Some(".pi/mcp.json")),
    (
        "zed",
        "config/zed/settings.json",
        Some(".zed/settings.json"),
    ),
    (
        "vscode",
        "config/Code/User/mcp.json",
        Some(".vscode/mcp.json"),
    ),
    ("cursor", ".cursor/mcp.json", Some(".cursor/mcp.json")),
];

fn home(project: &Project) -> PathBuf {
    project.root().parent().unwrap().join("home")
}

fn install(project: &Project, args: &[&str]) -> Run {
    project.run(&[&["mcp", "install"], args].concat(), "")
}

#[track_caller]
fn installed(project: &Project, args: &[&str]) -> String {
    let run = install(project, args);
    assert_eq!(run.code(), Some(0), "{args:?}: {}", run.stderr());
    run.stdout()
}

/// The copies that were made beside a config.
fn backups(file: &Path) -> Vec<PathBuf> {
    let name = file.file_name().unwrap().to_str().unwrap();
    let beside = fs::read_dir(file.parent().unwrap()).unwrap();
    let mut backups: Vec<PathBuf> = beside
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let other = path.file_name().unwrap().to_str().unwrap();
            let copy = path.extension().is_some_and(|extension| extension == "bak");
            copy && other.starts_with(&format!("{name}."))
        })
        .collect();
    backups.sort();
    backups
}

fn write(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

#[test]
fn every_client_gets_what_is_printed_and_is_then_left_alone() {
    for (client, user, in_project) in CLIENTS {
        let project = Project::new();
        let user = ("user", home(&project).join(user));
        let in_project = in_project.map(|file| ("project", project.root().join(file)));
        for (scope, file) in std::iter::once(user).chain(in_project) {
            let printed = installed(&project, &[client, "--scope", scope, "--print"]);
            assert!(!file.exists(), "{client} {scope}: printing wrote it");
            assert!(printed.contains(windlass()), "{printed}");
            installed(&project, &[client, "--scope", scope, "--yes"]);
            assert_eq!(fs::read_to_string(&file).unwrap(), printed, "{client}");
            let again = installed(&project, &[client, "--scope", scope]);
            assert!(again.contains("has Windlass already"), "{again}");
            assert_eq!(backups(&file), [] as [PathBuf; 0]);
        }
    }
}

#[test]
fn a_config_that_was_there_is_kept_as_a_copy_and_its_change_is_shown() {
    for (client, user, _) in CLIENTS {
        let project = Project::new();
        let file = home(&project).join(user);
        let (before, line) = if client == "codex" {
            ("model = \"mine\" # good\n", "model = \"mine\" # good")
        } else {
            ("{\n  \"mine\": [1, 2]\n}\n", "\"mine\": [1, 2]")
        };
        write(&file, before);
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        let said = installed(&project, &[client, "--yes"]);
        assert!(
            said.contains("\n+++ ") && said.contains("windlass"),
            "{said}"
        );
        let after = fs::read_to_string(&file).unwrap();
        assert!(
            after.contains(line) && after.contains("windlass"),
            "{after}"
        );
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640, "{client}");
        let backups = backups(&file);
        assert_eq!(backups.len(), 1, "{client}: {backups:?}");
        assert_eq!(fs::read_to_string(&backups[0]).unwrap(), before);
    }
}

#[test]
fn a_config_behind_a_link_is_changed_where_it_is() {
    let project = Project::new();
    let file = home(&project).join(".codex/config.toml");
    let real = home(&project).join("dotfiles/codex.toml");
    write(&real, "model = \"mine\"\n");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    symlink(&real, &file).unwrap();
    installed(&project, &["codex", "--yes"]);
    assert!(file.is_symlink());
    let after = fs::read_to_string(&real).unwrap();
    assert!(after.contains("[mcp_servers.windlass]"), "{after}");
}

#[test]
fn nothing_is_written_where_nobody_can_be_asked() {
    for (client, user, _) in CLIENTS {
        let project = Project::new();
        let run = install(&project, &[client]);
        assert_eq!(run.code(), Some(2), "{}", run.stderr());
        assert!(run.stdout().contains("+++ "), "{}", run.stdout());
        assert!(
            run.stderr().contains("`--yes` writes it"),
            "{}",
            run.stderr()
        );
        assert!(!home(&project).join(user).exists());
    }
}

#[test]
fn at_a_terminal_the_person_decides() {
    for (key, code, written) in [("y", None, true), ("n", Some(1), false)] {
        let project = Project::new();
        let mut drive = project.drive();
        let command = format!("{} mcp install codex", windlass());
        let arguments = json!({"action": "spawn", "id": "t", "command": command, "terminal": true});
        let asks = json!({"until": [{"id": "t", "pattern": "Write .*config.toml"}]});
        drive.run([call("shell", arguments), call("await", asks)]);
        drive.content(
            "shell",
            json!({"action": "apply", "id": "t", "keys": [key]}),
        );
        if written {
            let offers = json!({"until": [{"id": "t", "pattern": "Add this to .*AGENTS.md"}]});
            drive.content("await", offers);
            drive.content(
                "shell",
                json!({"action": "apply", "id": "t", "keys": ["n"]}),
            );
        }
        let ended = drive.content("await", json!({"all": ["t"]}));
        let ended = &ended["completed"][0];
        assert!(!project.root().join("AGENTS.md").exists(), "{ended}");
        assert_eq!(ended["exit_code"].as_i64(), code, "{ended}");
        let file = home(&project).join(".codex/config.toml");
        assert_eq!(file.exists(), written, "{ended}");
    }
}

#[test]
fn a_config_that_cannot_be_read_is_left_alone() {
    for (client, user, _) in CLIENTS {
        let project = Project::new();
        let file = home(&project).join(user);
        write(&file, "{ broken = ");
        let run = install(&project, &[client, "--yes"]);
        assert_eq!(run.code(), Some(2), "{}", run.stdout());
        let said = run.stderr();
        assert!(said.contains(user) && said.contains("`--print`"), "{said}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "{ broken = ");
        assert_eq!(backups(&file), [] as [PathBuf; 0]);
    }
}

#[test]
fn the_clients_that_are_here_are_listed() {
    let project = Project::new();
    let list = |args: &[&str]| {
        // Whatever the machine itself has does not count.
        let mut command = project.windlass(&[&["mcp", "install"], args].concat());
        let output = command.env("PATH", "/nowhere").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(
        list(&[]).starts_with("No agent is installed"),
        "{}",
        list(&[])
    );
    fs::create_dir_all(home(&project).join(".cursor")).unwrap();
    installed(&project, &["codex", "--yes"]);
    let rows = list(&["--json"]);
    let rows: Vec<Value> = serde_json::from_str(&rows).unwrap();
    let rows: Vec<_> = rows
        .iter()
        .map(|row| (row["client"].as_str().unwrap(), &row["installed"]))
        .collect();
    assert_eq!(rows, [("codex", &true.into()), ("cursor", &false.into())]);
    let said = list(&[]);
    assert!(said.ends_with("windlass mcp install cursor\n"), "{said}");
}

#[test]
fn a_scope_that_a_client_does_not_have_is_refused() {
    let project = Project::new();
    let run = install(&project, &["cline", "--scope", "project", "--yes"]);
    assert_eq!(run.code(), Some(2), "{}", run.stdout());
    assert_snapshot!(
        run.stderr(),
        @"windlass: Cline has no config per project; leave out `--scope`"
    );
}

#[test]
fn the_guide_shows_what_is_printed() {
    let guide = workspace().join("docs/guide/agents.md");
    let guide = fs::read_to_string(guide).unwrap();
    let project = Project::new();
    for (client, ..) in CLIENTS {
        let opens = |line: &str| line.starts_with("```") && line.ends_with(&format!(" {client}"));
        let mut lines = guide.lines();
        assert!(lines.any(opens), "the guide has no block `{client}`");
        let block: Vec<&str> = lines.take_while(|line| *line != "```").collect();
        let printed = installed(&project, &[client, "--print"]);
        let printed = printed.replace(windlass(), "/usr/local/bin/windlass");
        assert_eq!(block.join("\n") + "\n", printed, "{client}");
    }
}
