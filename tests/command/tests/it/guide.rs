//! The programs of `docs/guide/writing-tools.md`, taken from it and run.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};
use windlass_outside::needs;

use crate::programs::program;
use crate::support::{Drive, Project, call, workspace};
use crate::term_sitting::outside;

/// A block of the guide, by the name after its language.
#[track_caller]
fn block(name: &str) -> String {
    let guide = workspace().join("docs/guide/writing-tools.md");
    let guide = fs::read_to_string(guide).unwrap();
    let mut lines = guide.lines();
    let opens = |line: &str| line.starts_with("```") && line.ends_with(&format!(" {name}"));
    assert!(lines.any(opens), "the guide has no block `{name}`");
    let block: Vec<&str> = lines.take_while(|line| *line != "```").collect();
    block.join("\n") + "\n"
}

/// A project with these files of the guide, and this config.
fn project(folder: &str, files: &[&str], configs: &[&str]) -> Project {
    let configs: Vec<String> = configs
        .iter()
        .map(|name| block(&format!("{folder}/{name}")))
        .collect();
    let project = Project::with_config(&configs.concat());
    for name in files {
        project.write(name, &block(&format!("{folder}/{name}")));
    }
    project
}

/// A project with this program of the guide's Rust package, built. Its source
/// in `examples/as-written` is the guide's, as a test there checks.
fn rust(name: &str, config: &str) -> Project {
    let project = project("rust", &[], &[config]);
    project.write("target/release/.keep", "");
    let place = project.root().join("target/release").join(name);
    fs::copy(program(name), place).unwrap();
    project
}

/// Both tools do what the guide says of them, whatever they are written in.
fn check(project: &Project) {
    check_schemas(project);
    check_save(project);
    check_countdown(&mut project.drive());
}

fn check_schemas(project: &Project) {
    let schema = |tool| {
        let run = project.run(&["tools", tool, "--dialect", "anthropic"], "");
        assert_eq!(run.code(), Some(0), "{}", run.stderr());
        serde_json::from_str::<Value>(&run.stdout()).unwrap()
    };
    let save = schema("save");
    assert_eq!(save["description"], json!("Saves text in a file."));
    assert_eq!(
        save["parameters"],
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "The file."},
                "text": {"type": "string", "description": "What to write."},
            },
            "required": ["path", "text"],
            "additionalProperties": false,
        })
    );
    let countdown = schema("countdown");
    let properties = &countdown["parameters"]["properties"];
    assert_eq!(
        properties["action"]["enum"],
        json!(["spawn", "fetch", "abort"])
    );
    assert_eq!(properties["from"]["type"], json!("integer"));
}

fn check_save(project: &Project) {
    let arguments = |text: &str| json!({"path": "notes.txt", "text": text});
    // No one is asked: the question's default is used.
    let mut drive = project.drive();
    let saved = drive.content("save", arguments("it's \"one\"\n$HOME"));
    assert_eq!(saved.as_str().unwrap().trim(), "saved notes.txt");
    assert_eq!(project.read("notes.txt"), "it's \"one\"\n$HOME");
    let kept = drive.content("save", arguments("two"));
    assert_eq!(kept.as_str().unwrap().trim(), "kept notes.txt");
    // The driver is asked, and says yes.
    let mut drive = project.drive_asking();
    drive.send(&json!([call("save", arguments("two"))]));
    let asked = drive.next();
    assert_eq!(asked["event"], json!("permission"), "{asked}");
    let permission = &asked["request"]["id"];
    drive.send(&json!({"permission": permission, "reply": "once"}));
    let asked = drive.next();
    assert_eq!(asked["question"]["id"], json!("overwrite"), "{asked}");
    drive.send(&json!({"answer": asked["ask"], "value": true}));
    let reply = drive.next();
    let content = reply["replies"][0]["content"].as_str().unwrap();
    assert_eq!(content.trim(), "saved notes.txt");
    assert_eq!(project.read("notes.txt"), "two");
}

fn check_countdown(drive: &mut Drive) {
    let spawn = |id: &str, pause_secs: f64| {
        let arguments = json!({"action": "spawn", "id": id, "from": 3, "pause_secs": pause_secs});
        call("countdown", arguments)
    };
    let reply = drive.run([
        spawn("quick", 0.01),
        call("await", json!({"all": ["quick"]})),
    ]);
    let said = |view: &Value| view["content"].as_str().unwrap_or_default().to_owned();
    let spawned = &reply["replies"][0]["content"];
    let awaited = &reply["replies"][1]["content"]["completed"][0];
    // The spawn may have shown part of the output; a stopped handle is shown whole.
    let before = match spawned["state"].as_str() {
        Some("running") => said(spawned),
        _ => String::new(),
    };
    let contents = [before, said(awaited)].join("\n");
    assert_eq!(contents.trim(), "3\n2\n1", "{reply}");
    assert_eq!(awaited["result"], json!("lift-off"), "{reply}");
    // One that would take for ever says its first word, and is aborted.
    let until = json!({"until": [{"id": "slow", "pattern": "^3$"}]});
    let reply = drive.run([spawn("slow", 10_000.0), call("await", until)]);
    let matched = &reply["replies"][1]["content"]["matched"][0];
    assert_eq!(matched["line"], json!("3"), "{reply}");
    let aborted = drive.content("countdown", json!({"action": "abort", "id": "slow"}));
    assert_eq!(aborted["state"], json!("stopped"), "{aborted}");
}

#[test]
fn the_tools_in_shell_do_what_the_guide_says() {
    check(&project(
        "sh",
        &["save.sh", "countdown.sh"],
        &["save.toml", "countdown.toml"],
    ));
}

#[test]
fn the_tools_in_python_do_what_the_guide_says() {
    needs!("python3");
    check(&project("python", &["tools.py"], &["tools.toml"]));
}

#[test]
fn the_tools_in_rust_do_what_the_guide_says() {
    check(&rust("my-tools", "tools.toml"));
}

#[test]
fn the_interactive_tool_of_the_guide_hands_over_to_git() {
    needs!("git");
    let project = rust("repo", "repo.toml");
    // A busy machine may take its time to come to the prompt.
    project.write(
        ".windlass/tools/patient.toml",
        "[conversation.tools.repo]\nsettle_max_secs = 50\n",
    );
    let git = |args: &[&str]| outside(&project, "git", args);
    git(&["init", "-q", "."]);
    git(&["config", "user.name", "Nobody"]);
    git(&["config", "user.email", "nobody@example.org"]);
    project.write("notes", "one\n");
    git(&["add", "notes"]);
    git(&["commit", "-q", "-m", "begin"]);
    project.write("notes", "two\n");
    let mut drive = project.drive();
    let log = drive.content("repo", json!({"command": "log"}));
    assert!(log.as_str().unwrap().ends_with(" begin\n"), "{log}");
    let spawn = json!({"action": "spawn", "id": "s", "command": "stage", "args": ["notes"]});
    let asked = drive.content("repo", spawn);
    assert_eq!(asked["awaiting_input"], json!(true), "{asked}");
    assert!(
        asked["content"]
            .as_str()
            .unwrap()
            .contains("Stage this hunk"),
        "{asked}"
    );
    drive.content("repo", json!({"action": "apply", "id": "s", "input": "y"}));
    let done = drive.content("await", json!({"all": ["s"]}));
    assert_eq!(done["completed"][0]["state"], json!("stopped"), "{done}");
    assert!(git(&["diff", "--cached"]).contains("+two"));
    let error = drive.error("repo", json!({"command": "push"}));
    assert_snapshot!(error, @r#"`command`: "push" is not one of "stage", "log""#);
}

/// A block that is named and not run could rot.
#[test]
fn every_named_block_of_the_guide_is_used_here() {
    let guide = workspace().join("docs/guide/writing-tools.md");
    let guide = fs::read_to_string(guide).unwrap();
    let names = guide
        .lines()
        .filter_map(|line| line.strip_prefix("```")?.split_once(' '))
        .map(|(_, name)| name);
    let here = concat!(
        include_str!("guide.rs"),
        include_str!("../../../../examples/as-written/tests/it/main.rs"),
    );
    for name in names {
        let file = name.split_once('/').unwrap().1;
        assert!(here.contains(&format!("{file}\"")), "`{name}` is not run");
    }
}
