//! Permission rules as their users write, give and read them.

use serde_json::{Value, json};

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
    let explained = project.run(&["permissions", "explain", "shell", &arguments], "");
    let said = serde_json::from_str(&explained.stdout());
    (
        said.unwrap_or_else(|_| panic!("{}", explained.stderr())),
        explained.code(),
    )
}

/// Sends a call that is asked about and replies to that; gives the request
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
        "the configuration denies `rm *` of `shell`; nothing has run, do it another way"
    );
    let (request, reply) = asked(&mut drive, line("echo a; true x"), "once");
    assert_eq!(request["patterns"], json!(["echo a", "true x"]));
    assert_eq!(reply["content"], "a\n");
    let (request, reply) = asked(&mut drive, line("echo $(rm x)"), "reject");
    assert_eq!(request["patterns"], json!(["echo $(rm x)"]));
    assert_eq!(reply["is_error"], true);
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
    let (request, _) = asked(&mut drive, json!({"command": "test -e a/b"}), "always");
    assert_eq!(request["always"], json!(["test *"]));
    let mut other = project.drive_asking();
    other.one("shell", json!({"command": "test -e c/d"}));
    drop((drive, other));
    let mut later = project.drive_asking();
    later.one("shell", json!({"command": "test -e e"}));

    let listed = project.run(&["permissions"], "");
    let listed: Value = serde_json::from_str(&listed.stdout()).unwrap();
    assert_eq!(listed[0]["pattern"], "test *");
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
    asked(&mut later, json!({"command": "test -e e"}), "reject");
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
            "always": ["echo a *", "rm *"],
        })
    );
    assert_eq!(code, Some(1));
    let (asked, code) = explain(&project, json!({"command": "echo `ls`"}));
    assert_eq!((&asked["outcome"], code), (&json!("asked"), Some(0)));
    assert_eq!(
        asked["patterns"][0]["why"],
        "no rule matches, so `run = \"ask\"` decides; \
         the line was not taken apart, so only a rule of the same text allows it"
    );
    let apply = json!({"action": "apply", "id": "a", "input": "y"});
    assert_eq!(explain(&project, apply).0["outcome"], "allowed");
    let fetch = json!({"action": "fetch", "id": "a"});
    assert_eq!(explain(&project, fetch).0["outcome"], "allowed");
}

#[test]
fn a_wrong_word_is_told_with_its_place() {
    let project =
        Project::with_config("[conversation.tools.shell.permissions]\n\"rm *\" = \"forbid\"\n");
    let listed = project.run(&["tools"], "");
    assert_eq!(listed.code(), Some(2));
    let said = listed.stderr();
    assert!(
        said.contains("one of \"allow\", \"ask\", \"deny\""),
        "{said}"
    );
    assert!(said.contains("config.toml:2"), "{said}");
}
