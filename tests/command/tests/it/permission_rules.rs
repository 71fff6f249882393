//! Permission rules as their users write, give and read them.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::filtered::filtered;
use crate::support::{Drive, Project, call};

const RULES: &str = r#"
[conversation.tools.shell]
run = { one_shot = "ask", spawn = "ask", apply = "ask" }
[conversation.tools.shell.permissions]
"echo *" = "allow"
"rm *" = "deny"
[conversation.tools.shell.permissions.apply]
"y" = "allow"
"#;

#[track_caller]
fn explain(project: &Project, arguments: Value) -> (Value, Option<i32>) {
    let arguments = arguments.to_string();
    let explained = project.run(
        &["--json", "permissions", "explain", "shell", &arguments],
        "",
    );
    let said = serde_json::from_str(&explained.stdout());
    (
        said.unwrap_or_else(|_| panic!("{}", explained.stderr())),
        explained.code(),
    )
}

/// Sends a call that is asked about and replies to that; returns the request
/// and the call's own reply.
fn asked(drive: &mut Drive, arguments: Value, reply: &str) -> (Value, Value) {
    drive.send(&json!([call("shell", arguments)]));
    let request = drive.next()["request"].clone();
    drive.send(&json!({"permission": request["id"], "reply": reply}));
    (request, drive.next()["replies"][0].clone())
}

#[test]
fn each_command_of_a_line_is_checked() {
    let project = Project::with_config(RULES);
    let mut drive = project.drive_asking();
    let line = |command: &str| json!({"command": command});
    assert_eq!(
        drive.content("shell", line("echo a && echo b")),
        json!("a\nb\n")
    );
    assert_eq!(
        drive.error("shell", line("echo a && rm -rf x")),
        "the configuration denies `rm *` of `shell`; nothing has run"
    );
    let (request, reply) = asked(&mut drive, line("echo a; true x"), "once");
    assert_eq!(request["patterns"], json!(["echo a", "true x"]));
    assert_eq!(reply["content"], "a\n");
    for hidden in ["echo $(rm x)", "sudo rm x", "bash -c 'rm x'", "r\\m x"] {
        assert_eq!(
            drive.error("shell", line(hidden)),
            "the configuration denies `rm *` of `shell`; nothing has run",
            "{hidden}"
        );
    }
    let (request, reply) = asked(&mut drive, line("echo $(true x)"), "reject");
    assert_eq!(request["patterns"], json!(["true x", "echo $(true x)"]));
    assert_eq!(reply["is_error"], true);
    // It may be `rm`.
    let (request, _) = asked(&mut drive, line("$x y"), "reject");
    assert_eq!(request["patterns"], json!(["$x y"]));
}

#[test]
fn what_is_typed_is_checked() {
    let project = Project::with_config(RULES);
    let mut drive = project.drive_asking();
    let spawn = json!({"action": "spawn", "id": "a", "command": "cat"});
    let (_, reply) = asked(&mut drive, spawn, "once");
    assert_eq!(reply["is_error"], false);
    let apply = |input: &str| json!({"action": "apply", "id": "a", "input": input});
    assert_eq!(drive.content("shell", apply("y"))["content"], "y\n");
    let (request, _) = asked(&mut drive, apply("n"), "reject");
    assert_eq!(request["permission"], "shell.apply");
    assert_eq!(request["patterns"], json!(["n"]));
}

#[test]
fn always_is_remembered_across_restarts_and_until_forgotten() {
    let project = Project::with_config(RULES);
    let mut drive = project.drive_asking();
    let (request, _) = asked(&mut drive, json!({"command": "ls -d a/b"}), "always");
    assert_eq!(request["always"], json!(["ls *"]));
    let mut other = project.drive_asking();
    other.one("shell", json!({"command": "ls -d c/d"}));
    drop((drive, other));
    let mut later = project.drive_asking();
    later.one("shell", json!({"command": "ls -d e"}));

    let listed = project.list(&["permissions"]);
    assert_eq!(listed[0]["pattern"], "ls *");
    assert_eq!(listed[0]["directory"], json!(project.root()));
    let id = listed[0]["id"].to_string();
    assert_eq!(
        project.run(&["permissions", "forget", &id], "").code(),
        Some(0)
    );
    assert_eq!(
        project.run(&["permissions", "forget", &id], "").code(),
        Some(2)
    );
    asked(&mut later, json!({"command": "ls -d e"}), "reject");
}

#[test]
fn explain_says_which_rule_decides_and_why() {
    let project = Project::with_config(RULES);
    let (denied, code) = explain(&project, json!({"command": "echo a && rm -rf x"}));
    assert_eq!(
        denied,
        json!({
            "outcome": "denied",
            "permission": "shell",
            "patterns": [
                {
                    "pattern": "echo a",
                    "why": "allow by `echo *` of the configuration",
                    "rule": {"permission": "shell", "pattern": "echo *", "action": "allow"},
                },
                {
                    "pattern": "rm -rf x",
                    "why": "deny by `rm *` of the configuration",
                    "rule": {"permission": "shell", "pattern": "rm *", "action": "deny"},
                },
            ],
            "always": ["echo *", "rm -rf x"],
        })
    );
    assert_eq!(code, Some(1));
    let (asked, code) = explain(&project, json!({"command": "echo x > y"}));
    assert_eq!((&asked["outcome"], code), (&json!("asked"), Some(0)));
    assert_snapshot!(
        asked["patterns"][0]["why"],
        @r#""no rule matches, so `run = \"ask\"` decides; no pattern can describe everything it does, so only a rule with its exact text allows it""#
    );
    let apply = json!({"action": "apply", "id": "a", "input": "y"});
    assert_eq!(explain(&project, apply).0["outcome"], "allowed");
    let fetch = json!({"action": "fetch", "id": "a"});
    assert_eq!(explain(&project, fetch).0["outcome"], "allowed");
}

#[test]
fn a_wrong_word_is_reported_with_its_place() {
    let project =
        Project::with_own_config("[conversation.tools.shell.permissions]\n\"rm *\" = \"forbid\"\n");
    let listed = project.run(&["tools"], "");
    assert_eq!(listed.code(), Some(2));
    let said = filtered(&listed.stderr());
    assert_snapshot!(said, @r#"
    windlass: the configuration is invalid
    [folder]/home/config/windlass/config.toml:2:10: `conversation.tools.shell.permissions."rm *"` must be one of "allow", "ask", "deny", not "forbid"
    2 | "rm *" = "forbid"
      |          ^^^^^^^^
    "#);
}

/// A call that only its surroundings make dangerous.
#[test]
fn variables_and_folders_outside_of_the_project_are_asked_about() {
    let project = Project::with_config(
        "[conversation.tools.shell.permissions]\n\"git status *\" = \"allow\"\n\
         \"SAFE=1 git status *\" = \"allow\"\n",
    );
    let mut drive = project.drive_asking();
    std::fs::create_dir(project.root().join("inside")).unwrap();
    let allowed = [
        json!({"command": "git status -s"}),
        json!({"command": "git status", "env": {"NO_COLOR": "1"}}),
        json!({"command": "git status", "env": {"SAFE": "1"}}),
        json!({"command": "git status", "cwd": "inside"}),
    ];
    for arguments in allowed {
        // It runs, whatever git says of the folder.
        let reply = drive.one("shell", arguments.clone());
        let content = reply["content"].as_str().unwrap();
        assert!(!content.contains("rejected"), "{arguments}: {reply}");
    }
    let elsewhere = tempfile::tempdir().unwrap();
    let asked_about = [
        json!({"command": "git status", "env": {"BASH_ENV": "x"}}),
        json!({"command": "git status", "env": {"BASH_FUNC_git%%": "() { touch x; }"}}),
        json!({"command": "git status", "env": {"PATH": "."}}),
        json!({"command": "git status", "env": {"GIT_EXTERNAL_DIFF": "x"}}),
        json!({"command": "GIT_CONFIG_COUNT=1 git status"}),
        json!({"command": "git status", "cwd": elsewhere.path()}),
        json!({"command": "git status", "cwd": ".."}),
        json!({"command": "git status > x"}),
        json!({"command": "git status; git statu"}),
    ];
    for arguments in asked_about {
        let (request, reply) = asked(&mut drive, arguments.clone(), "reject");
        assert_eq!(request["permission"], "shell", "{arguments}: {reply}");
    }
}

/// A rule that denies also holds where the rest is not asked about.
#[test]
fn a_denied_command_is_denied_or_asked_about_where_the_rest_is_unattended() {
    let project = Project::with_config(
        "[conversation.tools.shell]\nrun = \"unattended\"\n\
         [conversation.tools.shell.permissions]\n\"touch *\" = \"deny\"\n",
    );
    let mut drive = project.drive_asking();
    let made = project.root().join("made");
    for line in [
        "touch made",
        "\\touch made",
        "A=b touch made",
        "/usr/bin/touch made",
        "env touch made",
        "echo made | xargs touch",
        "bash -c 'touch made'",
        "eval 'touch made'",
        "echo $(touch made)",
        ">/dev/null touch made",
        "find . -maxdepth 0 -exec touch made \\;",
        "for i in 1; do touch made; done",
    ] {
        let said = drive.error("shell", json!({"command": line}));
        assert!(said.contains("denies `touch *`"), "{line}: {said}");
    }
    for line in [
        "x=touch; $x made",
        "/usr/bin/tou?h made",
        "echo 'touch made' | sh",
    ] {
        let (_, reply) = asked(&mut drive, json!({"command": line}), "reject");
        assert_eq!(reply["is_error"], true, "{line}");
    }
    assert!(!made.exists());
    for line in ["echo touch", "echo $HOME", "for i in 1 2; do echo $i; done"] {
        let reply = drive.one("shell", json!({"command": line}));
        assert_eq!(reply["is_error"], false, "{line}: {reply}");
    }
}
