//! Sandboxes and limits of tools on a host: resolved there, enforced there, told here.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use windlass_outside::needs;

use crate::programs::windlass;
use crate::support::{Project, eventually, files_below};

/// A machine that is this one, with a home, a configuration and a project of its own.
struct FarMachine {
    folder: tempfile::TempDir,
}

impl FarMachine {
    fn new() -> Self {
        // Not below `/tmp`, of which a sandbox has its own.
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        for name in ["home/.ssh", "config/windlass", "project", "state", "tmp"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("home/.ssh/id"), "far secret\n").unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The configuration of the near user: `shell` runs there, with these lines in its table.
    fn config(&self, lines: &str) -> String {
        let variable = |name: &str, folder: &str| format!("{name}={}", self.path(folder).display());
        let via = json!([
            "env",
            variable("HOME", "home"),
            variable("XDG_CONFIG_HOME", "config"),
            variable("XDG_STATE_HOME", "state"),
            variable("XDG_CACHE_HOME", "cache"),
            variable("TMPDIR", "tmp"),
            windlass(),
            "host"
        ]);
        let root = self.path("project").display().to_string();
        format!(
            "[hosts.there]\nvia = {via}\nroot = \"{root}\"\nlease_secs = 10\n\
             [conversation.tools.shell]\nrun = \"unattended\"\nhost = \"there\"\n{lines}"
        )
    }

    fn project(&self, lines: &str) -> Project {
        Project::with_own_config(&self.config(lines))
    }
}

fn line(command: &str) -> Value {
    json!({"command": command})
}

fn quoted(path: &Path) -> String {
    path.display().to_string()
}

#[test]
fn a_sandbox_on_a_host_has_the_folders_of_the_host() {
    let far = FarMachine::new();
    let project = far.project("sandbox = \"workspace\"\n");
    let mut drive = project.drive();
    let said = drive.content("shell", line("pwd; echo x > new; cat new"));
    assert_eq!(
        said,
        json!(format!("{}\nx\n", quoted(&far.path("project"))))
    );
    assert!(far.path("project/new").exists());
    let error = drive.error("shell", line("echo evil > /etc/windlass-test"));
    assert!(
        error.contains(
            "; denied: write to /etc/windlass-test; allowed: writes the project, /tmp (private)"
        ),
        "{error}"
    );
    // The secrets are those of the far user's home.
    let secret = quoted(&far.path("home/.ssh/id"));
    let error = drive.error("shell", line(&format!("cat {secret}")));
    assert!(
        error.contains("denied: read of") || error.contains("denied: read"),
        "{error}"
    );
    assert!(!error.contains("far secret"), "{error}");
    // The near project is nothing to the far side.
    let near = project.root().join("evil");
    drive.one("shell", line(&format!("echo evil > {}", near.display())));
    assert!(!near.exists());
}

#[test]
fn a_sandbox_on_a_host_leaves_no_folders() {
    let far = FarMachine::new();
    let project = far.project("sandbox = \"workspace\"\n");
    let mut drive = project.drive();
    assert_eq!(
        drive.content("shell", line("echo x > /tmp/x; cat /tmp/x")),
        json!("x\n")
    );
    assert!(fs::read_dir(far.path("tmp")).unwrap().count() > 0);
    eventually("the far end has forgotten the program", || {
        let files = files_below(&far.path("state/windlass/hosts"));
        !files.iter().any(|file| file.extension().is_some())
    });
    drive.close_input();
    drive.wait();
    eventually("the private folder is removed", || {
        fs::read_dir(far.path("tmp")).unwrap().count() == 0
    });
}

#[test]
fn a_person_lets_a_call_run_outside_on_a_host() {
    let far = FarMachine::new();
    let project = far.project("sandbox = \"workspace\"\n");
    let mut drive = project.drive_asking();
    let target = quoted(&far.path("home/made"));
    drive.send(&json!([{"id": "1", "tool": "shell", "arguments": {"command": format!("echo x > {target}")}}]));
    let asked = drive.next();
    assert_eq!(asked["request"]["permission"], "shell.outside", "{asked}");
    drive.send(&json!({"permission": asked["request"]["id"], "reply": "once"}));
    let reply = drive.next();
    assert_eq!(reply["replies"][0]["is_error"], false, "{reply}");
    assert!(far.path("home/made").exists());
}

#[test]
fn limits_of_the_tool_and_of_the_far_user_hold_on_a_host() {
    let far = FarMachine::new();
    fs::write(
        far.path("config/windlass/config.toml"),
        "[conversation.tools.\"*\"]\nlimits = { processes = 32 }\n",
    )
    .unwrap();
    let project = far.project("limits = { file_size = \"1MiB\" }\n");
    let mut drive = project.drive();
    let error = drive.error(
        "shell",
        line("for i in $(seq 100); do sleep 1000 & done; wait"),
    );
    assert!(
        error.contains("it exceeded the limit processes = 32, and was ended"),
        "{error}"
    );
    let error = drive.error(
        "shell",
        line("exec dd if=/dev/zero of=big bs=64k count=100 2>/dev/null"),
    );
    assert!(
        error.contains("it exceeded the limit file_size = 1MiB"),
        "{error}"
    );
}

#[test]
fn a_port_in_a_sandbox_on_a_host_is_awaited() {
    needs!("python3");
    let far = FarMachine::new();
    let project = far.project("sandbox = { network = \"loopback\" }\n");
    let mut drive = project.drive();
    let server = "exec python3 -u -c 'import socket; s = socket.create_server((\"127.0.0.1\", 4873)); input()'";
    drive.content(
        "shell",
        json!({"action": "spawn", "id": "it", "command": server}),
    );
    let awaited = drive.content(
        "await",
        json!({"until": [{"id": "it", "port": 4873}], "timeout_secs": 30}),
    );
    assert!(!awaited.to_string().contains("timed out"), "{awaited}");
    drive.content("shell", json!({"action": "abort", "id": "it"}));
}

#[test]
fn a_host_with_an_invalid_configuration_is_refused() {
    let far = FarMachine::new();
    let file = far.path("config/windlass/config.toml");
    fs::write(&file, "[conversation.tools.\"*\"]\nlimits = 5\n").unwrap();
    let project = far.project("");
    let error = project.drive().error("shell", line("true"));
    let says = |error: &str| error.contains(&quoted(&file)) && error.contains("limits");
    assert!(says(&error), "{error}");
    let checked = project.run(&["hosts", "check", "there"], "");
    assert_eq!(checked.code(), Some(1), "{}", checked.stdout());
    assert!(says(&checked.stdout()), "{}", checked.stdout());
}

#[test]
fn a_sandbox_holds_after_the_far_end_was_replaced() {
    let far = FarMachine::new();
    let project = far.project("sandbox = \"workspace\"\n");
    let mut drive = project.drive();
    let script = "until test -e go; do sleep 0.05; done; echo evil > /etc/windlass-test";
    drive.content(
        "shell",
        json!({"action": "spawn", "id": "it", "command": script}),
    );
    let pid = || {
        let sessions = fs::read_dir(far.path("state/windlass/hosts")).ok()?;
        let mut locks = sessions.flatten().filter_map(|session| {
            let text = fs::read_to_string(session.path().join("lock")).ok()?;
            text.trim().parse::<u32>().ok()
        });
        locks.find(|pid| !crate::processes::has_exited(*pid))
    };
    let first = pid().unwrap();
    crate::processes::kill(first);
    eventually("another far end has taken over", || {
        pid().is_some_and(|pid| pid != first)
    });
    fs::write(far.path("project/go"), "").unwrap();
    let ended = drive.content("await", json!({"all": ["it"]})).to_string();
    assert!(
        ended.contains("denied: write to /etc/windlass-test"),
        "{ended}"
    );
}
