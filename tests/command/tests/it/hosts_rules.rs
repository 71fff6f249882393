//! Permission rules for tools on hosts: the host, the command and its folder.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::programs::windlass;
use crate::support::{Drive, Project, call};

/// `shell` may run on three hosts with this root, and asks unless rules decide.
fn ruled(root: &str, rules: &str) -> Project {
    let host = |name: &str| {
        format!(
            "[hosts.{name}]\nvia = {}\nroot = \"{root}\"\n",
            json!([windlass(), "host"])
        )
    };
    Project::with_own_config(&format!(
        "{}{}{}[conversation.tools.shell]\nrun = \"ask\"\nhosts = [\"build\", \"box\", \"prod\"]\n\
         permissions = {{ {rules} }}\n",
        host("build"),
        host("box"),
        host("prod"),
    ))
}

/// The patterns of the request that a call causes, which is replied to.
#[track_caller]
fn asked(drive: &mut Drive, arguments: Value, reply: &str) -> Value {
    drive.send(&json!([call("shell", arguments)]));
    let request = drive.next()["request"].clone();
    drive.send(&json!({"permission": request["id"], "reply": reply}));
    let replied = drive.next()["replies"][0].clone();
    assert_eq!(replied["is_error"], json!(reply == "reject"), "{replied}");
    request
}

#[test]
fn a_host_is_allowed_together_with_a_command() {
    let rules = r#""host:build" = "allow", "true a" = "allow", "host:prod" = "deny""#;
    let project = ruled("/tmp", rules);
    let mut drive = project.drive_asking();
    let on = |host: &str, command: &str| json!({"command": command, "host": host});
    drive.content("shell", on("build", "true a"));
    drive.content("shell", json!({"command": "true a"}));
    let request = asked(&mut drive, on("build", "true b"), "reject");
    assert_eq!(request["patterns"], json!(["true b", "host:build"]));
    let request = asked(&mut drive, on("box", "true a"), "reject");
    assert_eq!(request["patterns"], json!(["true a", "host:box"]));
    let denied = drive.error("shell", on("prod", "true a"));
    assert_snapshot!(denied, @"the configuration denies `host:prod` of `shell`; nothing has run");
}

#[test]
fn always_covers_the_command_and_the_host() {
    let project = ruled("/tmp", "");
    let mut drive = project.drive_asking();
    let on = |host: &str, command: &str| json!({"command": command, "host": host});
    let request = asked(&mut drive, on("build", "true a"), "always");
    assert_eq!(request["always"], json!(["true *", "host:build"]));
    drive.content("shell", on("build", "true b"));
    asked(&mut drive, on("box", "true b"), "reject");
    asked(&mut drive, on("build", "false"), "reject");
    let listed = project.list(&["permissions"]);
    let patterns: Vec<&Value> = listed.iter().map(|rule| &rule["pattern"]).collect();
    assert!(patterns.contains(&&json!("host:build")), "{listed:?}");
    // The next session remembers both.
    drop(drive);
    let mut drive = project.drive_asking();
    drive.content("shell", on("build", "true c"));
}

#[test]
fn a_folder_of_the_host_is_inside_of_its_root() {
    let far = tempfile::tempdir().unwrap();
    let root = far.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("work/only/there")).unwrap();
    let work = root.join("work").display().to_string();
    let rules = r#""pwd" = "allow", "host:build" = "allow""#;
    let project = ruled(&work, rules);
    let mut drive = project.drive_asking();
    let there = |cwd: &str| json!({"command": "pwd", "host": "build", "cwd": cwd});
    let inside = format!("{work}/only/there");
    for cwd in ["only/there", &inside, "only/there/../there"] {
        let said = drive.content("shell", there(cwd));
        assert_eq!(said, json!(format!("{inside}\n")), "{cwd}");
    }
    // A folder of this machine's project is one of the host's project.
    let near = project.root().join("only").display().to_string();
    let said = drive.content("shell", there(&near));
    assert_eq!(said, json!(format!("{work}/only\n")));
    let above = root.display().to_string();
    for cwd in ["..", &above, "only/../.."] {
        let request = asked(&mut drive, there(cwd), "once");
        let expected = json!(["pwd", format!("cd {cwd}"), "host:build"]);
        assert_eq!(request["patterns"], expected, "{cwd}");
    }
    // The disk of this machine decides only here.
    let here = |cwd: &str| json!({"command": "pwd", "cwd": cwd});
    let request = asked(&mut drive, here(&inside), "once");
    assert_eq!(request["patterns"], json!(["pwd", format!("cd {inside}")]));
}
