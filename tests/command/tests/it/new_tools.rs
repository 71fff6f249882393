//! `windlass tools new`: what it writes works.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::json;
use windlass_outside::needs;

use crate::filtered::filtered;
use crate::programs::program;
use crate::support::{Project, files_below, workspace};

/// Writes a tool; returns what was said.
#[track_caller]
fn new(project: &Project, name: &str, lang: &str) -> String {
    let run = project.run(&["tools", "new", name, "--lang", lang], "");
    assert_eq!(run.code(), Some(0), "{}", run.stderr());
    run.stdout()
}

/// The tool is offered, asks, and greets.
#[track_caller]
fn check(project: &Project, name: &str) {
    let run = project.run(&["tools", "check"], "");
    assert_eq!(run.code(), Some(0), "{}{}", run.stdout(), run.stderr());
    let run = project.run(&["tools", name, "--dialect", "anthropic"], "");
    let schema: serde_json::Value = serde_json::from_str(&run.stdout()).unwrap();
    assert_eq!(schema["description"], json!("Greets somebody."));
    let properties = &schema["parameters"]["properties"];
    assert_eq!(
        *properties,
        json!({"name": {"type": "string", "description": "Whom to greet."}})
    );
    let quiet = project
        .drive()
        .content(name, json!({"name": "\"world\" 'n all"}));
    assert_eq!(quiet, json!("Hello, \"world\" 'n all!"));
    // A preset answer in the config is an answer too.
    project.write(
        ".windlass/config.toml",
        &format!("[conversation.tools.{name}]\nquestions.loud = {{ answer = true }}\n"),
    );
    let loud = project.drive().content(name, json!({"name": "world"}));
    assert_eq!(loud, json!("HELLO, WORLD!"));
}

#[test]
fn a_new_tool_in_python_works() {
    needs!("python3");
    let project = Project::new();
    assert_snapshot!(new(&project, "greet", "python"), @r#"
    wrote .windlass/tools/greet.py
    wrote .windlass/tools/greet.toml

    next:
      windlass tools check
      windlass call greet '{"name": "world"}'
    "#);
    check(&project, "greet");
}

#[test]
fn a_new_tool_in_shell_works() {
    let project = Project::new();
    new(&project, "say-hello", "sh");
    check(&project, "say-hello");
    assert_snapshot!(project.read(".windlass/tools/say-hello.toml"), @r#"
    [conversation.tools.say-hello]
    source = "local"
    command = "sh .windlass/tools/say-hello.sh {{context.action}} {{tool.arguments.name}} {{tool.answers.loud}}"
    "#);
}

#[test]
fn a_new_tool_in_rust_works() {
    let project = Project::new();
    let said = new(&project, "hello_rust", "rust");
    assert_snapshot!(said, @r#"
    wrote .windlass/tools/hello_rust/Cargo.toml
    wrote .windlass/tools/hello_rust/src/main.rs
    wrote .windlass/tools/hello_rust/.gitignore
    wrote .windlass/tools/hello_rust.toml

    next:
      cargo build --release --manifest-path .windlass/tools/hello_rust/Cargo.toml --target-dir .windlass/tools/hello_rust/target
      windlass trust
      windlass tools check
      windlass call hello_rust '{"name": "world"}'
    "#);
    // The program that was built before the tests has this source.
    let folder = ".windlass/tools/hello_rust";
    let built = workspace().join("examples/as-written/src/bin/hello_rust.rs");
    let built = fs::read_to_string(built).unwrap();
    assert_eq!(project.read(&format!("{folder}/src/main.rs")), built);
    let manifest = project.read(&format!("{folder}/Cargo.toml"));
    let (_, sdk) = manifest
        .split_once("windlass-sdk = { path = \"")
        .unwrap_or_else(|| panic!("{manifest}"));
    let sdk = Path::new(sdk.split('"').next().unwrap()).join("Cargo.toml");
    let sdk = fs::read_to_string(sdk).unwrap();
    assert!(sdk.contains("name = \"windlass-sdk\""), "{sdk}");
    let folder = project.root().join(folder);
    fs::create_dir_all(folder.join("target/release")).unwrap();
    let program = program("hello_rust");
    fs::copy(program, folder.join("target/release/hello_rust")).unwrap();
    check(&project, "hello_rust");
}

#[test]
fn nothing_is_overwritten() {
    let project = Project::new();
    new(&project, "greet", "sh");
    let before = files_below(&project.root());
    let refused = |name: &str, lang: &str| {
        let run = project.run(&["tools", "new", name, "--lang", lang], "");
        assert_eq!(run.code(), Some(2));
        assert_eq!(files_below(&project.root()).len(), before.len());
        run.stderr()
    };
    assert_snapshot!(
        refused("greet", "python"),
        @"windlass: tool `greet` exists already in .windlass/tools/greet.toml:1:21; choose another name"
    );
    assert_eq!(
        refused("git", "sh"),
        "windlass: `git` is a built-in tool; choose another name\n"
    );
    assert!(refused("no spaces", "sh").contains("cannot be a tool's name"));
    // The config is gone, the program is not.
    fs::remove_file(project.root().join(".windlass/tools/greet.toml")).unwrap();
    let run = project.run(&["tools", "new", "greet", "--lang", "sh"], "");
    assert_eq!(run.code(), Some(2));
    assert_snapshot!(filtered(&run.stderr()), @"windlass: `[folder]/project/.windlass/tools/greet.sh` exists already and was not changed");
    assert!(!project.root().join(".windlass/tools/greet.toml").exists());
}

#[test]
fn a_missing_sdk_is_reported_with_what_would_work() {
    let project = Project::new();
    let args = ["tools", "new", "a", "--lang", "rust", "--sdk", "nowhere"];
    let run = project.run(&args, "");
    assert_eq!(run.code(), Some(2));
    assert_snapshot!(run.stderr(), @"windlass: `nowhere` does not contain the SDK; give the folder of the package `windlass-sdk` with `--sdk`, or in WINDLASS_SDK: No such file or directory (os error 2)");
    assert!(files_below(&project.root()).is_empty());
}
