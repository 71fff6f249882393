//! Tools in a sandbox, and with limits, through the binary.

use std::process::Command;

use insta::assert_snapshot;
use serde_json::{Value, json};
use windlass_outside::needs;

use crate::filtered::filtered;
use crate::programs::windlass;
use crate::support::{Project, call, eventually};
use crate::{describing, mcp_servers};

const WORKSPACE: &str = "[conversation.tools.\"*\"]\nsandbox = \"workspace\"\n";

fn line(command: &str) -> Value {
    json!({"command": command})
}

#[test]
fn a_denial_is_reported_with_what_is_allowed() {
    let project = Project::with_config(WORKSPACE);
    let mut drive = project.drive();
    assert_eq!(drive.content("shell", line("echo x > new; cat new")), "x\n");
    // The home folder of this test lies below `/tmp`, of which the program has its own.
    let outside = project.root().parent().unwrap().join("home/evil");
    drive.one("shell", line(&format!("echo evil > {}", outside.display())));
    assert!(!outside.exists());
    let error = drive.error("shell", line("echo evil > /etc/windlass-test"));
    assert!(
        error.contains(
            "; denied: write to /etc/windlass-test; allowed: writes the project, /tmp (private)"
        ),
        "{error}"
    );
    let error = drive.error(
        "shell",
        line("mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit"),
    );
    assert!(error.contains("denied: write to"), "{error}");
}

#[test]
fn a_sandbox_does_not_see_the_private_folder_of_another() {
    let project = Project::with_config(WORKSPACE);
    for base in ["/tmp", "/var/tmp"] {
        let temporary = tempfile::tempdir_in(base).unwrap();
        let drive = || {
            let mut windlass = project.windlass(&["drive"]);
            windlass.env("TMPDIR", temporary.path());
            project.lines_of(windlass)
        };
        let (mut first, mut second) = (drive(), drive());
        first.content("shell", line("echo for-my-eyes-only > /tmp/mine"));
        assert_eq!(second.content("shell", line("ls /tmp")), "");
        let find = format!("find {} -name mine 2>&1", temporary.path().display());
        let outside = Command::new("sh").args(["-c", &find]).output().unwrap();
        let found = String::from_utf8(outside.stdout).unwrap();
        assert!(found.ends_with("/tmp/mine\n"), "{found}");
        let read = second.one("shell", line(&format!("cat {found}")));
        assert_eq!(read["is_error"], true, "{read}");
        assert!(!read.to_string().contains("for-my-eyes-only"), "{read}");
        // A program sees its own at `/tmp` only.
        let again = first.one("shell", line(&format!("cat /tmp/mine {found}")));
        assert_eq!(again["is_error"], true, "{again}");
        assert!(again.to_string().contains("for-my-eyes-only"), "{again}");
    }
}

#[test]
fn a_person_can_let_a_call_run_again_outside() {
    let config = format!("{WORKSPACE}run = \"unattended\"\n");
    let project = Project::with_config(&config);
    let mut drive = project.drive_asking();
    let evil = "cat /etc/windlass-none 2>/dev/null; echo x > /var/tmp/windlass-outside-$PPID; ls /var/tmp/windlass-outside-$PPID && rm /var/tmp/windlass-outside-$PPID";
    drive.send(&json!([{"id": "1", "tool": "shell", "arguments": {"command": evil}}]));
    let asked = drive.next();
    let request = &asked["request"];
    assert_eq!(request["permission"], "shell.outside", "{asked}");
    let title = &request["metadata"]["rendering"]["title"];
    assert_eq!(title, "Run `shell` again, outside of its sandbox?");
    let fields = request["metadata"]["rendering"]["fields"].to_string();
    assert!(
        fields.contains("no; the sandbox denied write to /var/tmp/windlass-outside-"),
        "{fields}"
    );
    drive.send(&json!({"permission": request["id"], "reply": "once"}));
    let reply = drive.next();
    let content = reply["replies"][0]["content"].to_string();
    assert!(content.contains("/var/tmp/windlass-outside-"), "{reply}");
    assert_eq!(reply["replies"][0]["is_error"], false);
    // A no leaves the first reply.
    drive.send(&json!([{"id": "2", "tool": "shell", "arguments": {"command": "echo x > /etc/windlass-test"}}]));
    let asked = drive.next();
    drive.send(&json!({"permission": asked["request"]["id"], "reply": "reject"}));
    let reply = drive.next();
    assert_eq!(reply["replies"][0]["is_error"], true);
    assert!(
        reply["replies"][0]["content"]
            .to_string()
            .contains("denied: write to /etc/windlass-test"),
        "{reply}"
    );
}

#[test]
fn a_request_says_which_sandbox_a_call_would_run_in() {
    let project = Project::with_config(WORKSPACE);
    let mut drive = project.drive_asking();
    drive.send(&json!([{"id": "1", "tool": "shell", "arguments": {"command": "true"}}]));
    let request = drive.next()["request"].clone();
    let fields = request["metadata"]["rendering"]["fields"][0].clone();
    assert_eq!(fields["name"], "in sandbox");
    assert!(
        fields["lines"][0]
            .as_str()
            .unwrap()
            .starts_with("writes the project, /tmp (private)"),
        "{fields}"
    );
    drive.send(&json!({"permission": request["id"], "reply": "reject"}));
    drive.next();
}

#[test]
fn a_reply_names_the_limit() {
    let config = "[conversation.tools.\"*\"]\nlimits = { memory = \"200MiB\", processes = 64, wall_secs = 20, file_size = \"1MiB\" }\n";
    let project = Project::with_config(config);
    let mut drive = project.drive();
    let error = drive.error(
        "shell",
        line("python3 -c 'b = bytearray(600 << 20); print(1)'"),
    );
    assert!(error.contains("memory = 200MiB"), "{error}");
    let error = drive.error(
        "shell",
        line("for i in $(seq 100); do sleep 1000 & done; wait"),
    );
    assert!(
        error.contains("it exceeded the limit processes = 64, and was ended"),
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
    // A shell reports the end of its command with its own exit code.
    let error = drive.error(
        "shell",
        line("dd if=/dev/zero of=big bs=64k count=100 2>/dev/null"),
    );
    assert!(error.contains("file_size = 1MiB"), "{error}");
    assert_eq!(drive.content("shell", line("echo fine")), "fine\n");
}

#[test]
fn handles_of_one_sandbox_share_its_loopback() {
    let config = "[conversation.tools.\"*\"]\nsandbox = { network = \"loopback\" }\n";
    let project = Project::with_config(config);
    let mut drive = project.drive();
    let server = "exec python3 -m http.server 8123 --bind 127.0.0.1";
    drive.content(
        "shell",
        json!({"action": "spawn", "id": "s", "command": server}),
    );
    let until = json!({"until": [{"id": "s", "port": 8123}], "timeout_secs": 30});
    let waited = drive.content("await", until);
    assert!(waited.get("timed_out").is_none(), "{waited}");
    let get = "python3 -c 'import urllib.request as r; print(r.urlopen(\"http://127.0.0.1:8123/\").status)'";
    assert_eq!(drive.content("shell", line(get)), "200\n");
}

#[test]
fn home_as_a_project_is_read_only_and_reported() {
    let project = Project::new();
    let home = project.root().parent().unwrap().join("home");
    project.write_own(WORKSPACE);
    let output = project
        .windlass(&["tools"])
        .current_dir(&home)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_snapshot!(filtered(&errors), @"windlass: [folder]/home is too broad to be writable in a sandbox; programs can only read it");
}

/// Runs a call where no namespaces can be made, with this value of `unavailable`.
fn call_without_namespaces(unavailable: &str) -> (Option<i32>, String, String) {
    let project = Project::new();
    project.write_own(&format!(
        "[conversation.tools.\"*\".sandbox]\nunavailable = \"{unavailable}\"\n"
    ));
    let none =
        "echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set -all \"$@\"";
    let output = project
        .program("unshare")
        .args(["-Ur", "sh", "-c", none, "sh"])
        .arg(windlass())
        .args(["call", "shell", r#"{"command": "echo ran"}"#])
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn a_sandbox_that_cannot_be_enforced_is_refused_or_reported() {
    needs!("setpriv");
    let hooks = ".git/hooks, ";
    let (code, output, errors) = call_without_namespaces("refuse");
    assert_eq!((code, output.contains("ran")), (Some(1), false), "{errors}");
    let told = format!("{output}{errors}");
    assert!(
        told.contains("this system cannot keep it from writing") && told.contains(hooks),
        "{told}"
    );
    let (code, output, errors) = call_without_namespaces("warn");
    assert_eq!((code, output.as_str()), (Some(0), "ran\n"), "{errors}");
    let told = "windlass: the sandbox is weaker than configured: this system cannot keep programs from writing";
    assert!(errors.contains(told) && errors.contains(hooks), "{errors}");
}

#[test]
fn nothing_of_a_sandbox_is_left_after_a_kill() {
    let project = Project::with_own_config(WORKSPACE);
    let mut drive = project.drive();
    drive.content(
        "shell",
        json!({"action": "spawn", "id": "s", "command": "sleep 1000"}),
    );
    assert!(project.root().join(".claude").is_dir());
    drive.kill();
    eventually("the placeholders are gone", || {
        !project.root().join(".claude").exists()
    });
}

/// Some agents do not start if a folder has the name of their configuration, and a commit must not contain it.
#[test]
fn placeholders_disturb_neither_agents_nor_git() {
    needs!("git");
    let project = Project::with_own_config(WORKSPACE);
    let git = |words: &[&str]| {
        let done = project.program("git").args(words).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).unwrap()
    };
    git(&["init", "-q"]);
    let before = project.read(".git/info/exclude");
    let mut drive = project.drive();
    assert_eq!(
        drive.content("shell", line("git status --porcelain && cat opencode.json")),
        "{}\n"
    );
    for name in [
        "opencode.json",
        "opencode.jsonc",
        "crush.json",
        ".crush.json",
    ] {
        assert_eq!(project.read(name), "{}\n");
    }
    assert_eq!(git(&["status", "--porcelain"]), "");
    drive.kill();
    eventually("nothing of it is left", || {
        let names = ["opencode.json", ".crushrc", ".github", ".claude"];
        names.iter().all(|it| !project.root().join(it).exists())
            && project.read(".git/info/exclude") == before
    });
}

/// `docs/guide/sandbox.md` names both.
#[test]
fn sudo_and_ssh_fail_in_a_sandbox() {
    needs!("sudo", "ssh");
    let project = Project::with_own_config(WORKSPACE);
    let mut drive = project.drive();
    let error = drive.error("shell", line("sudo -n true"));
    assert!(error.contains("sudo: "), "{error}");
    let error = drive.error("shell", line("ssh -o BatchMode=yes 192.0.2.1 true"));
    assert!(error.contains("network none"), "{error}");
}

#[test]
fn servers_and_programs_that_describe_themselves_are_confined() {
    needs!("python3");
    let outside = tempfile::tempdir_in("/var/tmp").unwrap();
    let config = format!(
        "{WORKSPACE}[providers.mcp.fix]\ncommand = \"sh serve.sh\"\n\
         [conversation.tools.echo]\nsource = \"mcp.fix.echo\"\n\
         [conversation.tools.cargo_check]\nsource = \"local\"\ncommand = \"sh tools.sh\"\n"
    );
    let project = Project::with_config(&config);
    let attempt = |name: &str| {
        let path = outside.path().join(name);
        format!(
            "echo evil > {}; grep NoNewPrivs: /proc/self/status > {name}\n",
            path.display()
        )
    };
    let tools = attempt("described") + &describing::program(describing::CARGO_CHECK);
    project.write("tools.sh", &tools);
    // In the project: the checkout may be below `/tmp`, and a sandbox has one of its own.
    let server = std::fs::read_to_string(mcp_servers::FIXTURE).unwrap();
    project.write("server.py", &server);
    let serve = attempt("served") + "exec python3 server.py\n";
    project.write("serve.sh", &serve);
    let mut drive = project.drive();
    drive.content("echo", json!({"text": "hello"}));
    for name in ["described", "served"] {
        assert_eq!(project.read(name), "NoNewPrivs:\t1\n", "{name}");
    }
    assert_eq!(outside.path().read_dir().unwrap().count(), 0);
}

#[test]
fn the_tools_of_a_session_have_limits_together() {
    let config =
        "[conversation]\nlimits = { memory = \"250MiB\", processes = 12, cpu_secs = 600 }\n";
    let project = Project::with_own_config(config);
    let mut drive = project.drive();
    let hold = |size: u32| {
        format!("exec python3 -c 'b = bytearray({size} << 20); print(\"held\"); input()'")
    };
    drive.content(
        "shell",
        json!({"action": "spawn", "id": "small", "command": hold(100)}),
    );
    drive.content(
        "shell",
        json!({"action": "spawn", "id": "large", "command": hold(180)}),
    );
    drive.content("await", json!({"any": ["large"], "timeout_secs": 30}));
    let fetched = drive.one("shell", json!({"action": "fetch", "id": "large"}));
    assert!(
        fetched
            .to_string()
            .contains("exceeded its limit memory = 250MiB together"),
        "{fetched}"
    );
    let fetched = drive.one("shell", json!({"action": "fetch", "id": "small"}));
    assert!(fetched.to_string().contains("running"), "{fetched}");
    let error = drive.error(
        "shell",
        line("for i in $(seq 20); do sleep 1000 & done; wait"),
    );
    assert!(error.contains("its limit processes = 12"), "{error}");
    assert_eq!(drive.content("shell", line("echo fine")), "fine\n");
}

#[test]
fn git_commits_in_a_sandbox_and_cannot_be_led_elsewhere() {
    needs!("git");
    let project = Project::with_own_config(WORKSPACE);
    let git = |words: &[&str]| {
        let done = project.program("git").args(words).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "-q"]);
    git(&["config", "user.email", "a@example.com"]);
    git(&["config", "user.name", "a"]);
    let mut drive = project.drive();
    let commit = "echo x > file && git add file && git commit -qm first && git log --format=%s";
    assert_eq!(drive.content("shell", line(commit)), "first\n");
    for command in [
        "echo ../elsewhere > .git/commondir",
        "rm -f .git/commondir",
        "mkdir e && echo x > e/commondir && mv -f e/commondir .git/commondir",
        "git config core.fsmonitor evil",
    ] {
        let error = drive.error("shell", line(command));
        assert!(error.contains("exited with"), "{command}: {error}");
    }
    drop(drive);
    eventually("the placeholder is gone", || {
        !project.root().join(".git/commondir").exists()
    });
}

#[test]
fn a_person_can_widen_the_sandbox() {
    let config = format!("{WORKSPACE}run = \"unattended\"\n");
    let project = Project::with_config(&config);
    let mut drive = project.drive_asking();
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let path = folder.join("new");
    let write = format!("echo x >> {0} && cat {0}", path.display());
    drive.send(&json!([{"id": "1", "tool": "shell", "arguments": {"command": write}}]));
    let asked = drive.next();
    let request = &asked["request"];
    assert_eq!(request["permission"], "shell.outside", "{asked}");
    assert_eq!(
        request["always"],
        json!([format!("write {}", folder.display())])
    );
    let fields = request["metadata"]["rendering"]["fields"].to_string();
    assert!(
        fields.contains("runs it again inside instead, and lets its programs do this from now on"),
        "{fields}"
    );
    drive.send(&json!({"permission": request["id"], "reply": "always"}));
    let reply = drive.next();
    assert_eq!(reply["replies"][0]["content"], "x\n", "{reply}");
    // From now on nobody is asked about it, also in other sessions of the project. It is still a sandbox.
    assert_eq!(drive.content("shell", line(&write)), "x\nx\n");
    drop(drive);
    let mut drive = project.drive_asking();
    assert_eq!(drive.content("shell", line(&write)), "x\nx\nx\n");
    for elsewhere in ["/var/tmp/windlass-elsewhere", ".git/hooks/evil"] {
        let command = format!("mkdir -p .git/hooks; echo evil > {elsewhere}");
        drive.send(&json!([{"id": "2", "tool": "shell", "arguments": {"command": command}}]));
        let asked = drive.next();
        drive.send(&json!({"permission": asked["request"]["id"], "reply": "reject"}));
        let reply = drive.next();
        assert_eq!(reply["replies"][0]["is_error"], true, "{reply}");
    }
    // The rule is one of the remembered ones.
    let rules = project.run(&["permissions"], "").stdout();
    assert!(rules.contains("shell.sandbox"), "{rules}");
}

#[test]
fn what_runs_later_outside_is_no_wider_rule() {
    let config = format!("{WORKSPACE}run = \"unattended\"\n");
    let project = Project::with_config(&config);
    let mut drive = project.drive_asking();
    let command = "mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit";
    drive.send(&json!([{"id": "1", "tool": "shell", "arguments": {"command": command}}]));
    let asked = drive.next();
    let request = &asked["request"];
    assert_eq!(request["permission"], "shell.outside", "{asked}");
    let always = request["always"].to_string();
    assert!(!always.contains("write "), "{always}");
    drive.send(&json!({"permission": request["id"], "reply": "reject"}));
    assert_eq!(drive.next()["replies"][0]["is_error"], true);
}

/// A handle has stopped by then, and the assistant starts it again.
#[test]
fn a_person_is_asked_about_a_handle_that_was_denied_something() {
    let config = format!("{WORKSPACE}run = \"unattended\"\n");
    let project = Project::with_config(&config);
    let mut drive = project.drive_asking();
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let folder = folder.path().canonicalize().unwrap();
    for (reply, told) in [
        (
            "once",
            "the user allowed this call to run once outside its sandbox",
        ),
        (
            "always",
            "the user has widened the sandbox of `shell` (write ",
        ),
    ] {
        let command = format!("echo x > {}", folder.join(reply).display());
        let spawn = json!({"action": "spawn", "id": reply, "command": command});
        drive.send(&json!([{"id": "1", "tool": "shell", "arguments": spawn}]));
        // The reply and the request come in either order.
        let both = [drive.next(), drive.next()];
        let asked = both.iter().find(|it| it.get("request").is_some()).unwrap();
        let request = &asked["request"];
        assert_eq!(request["permission"], "shell.outside", "{asked}");
        drive.send(&json!({"permission": request["id"], "reply": reply}));
        let mut notices = String::new();
        eventually("the assistant is told", || {
            let answer = drive.run([call("shell", json!({"action": "fetch", "id": reply}))]);
            notices.push_str(&answer["notices"].to_string());
            notices.contains(told)
        });
        let again = json!({"action": "spawn", "id": reply, "command": command});
        drive.run([call("shell", again)]);
        eventually("it has run", || folder.join(reply).exists());
    }
}
