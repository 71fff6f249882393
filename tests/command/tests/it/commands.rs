//! The subcommands besides `drive`: what they print and how they exit.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::filtered::filtered;
use crate::processes::{VICTIMS, Victim, signal};
use crate::programs::windlass;
use crate::support::{Project, eventually};

#[track_caller]
fn check_call(args: &[&str], input: &str, stdout: &str, code: i32) {
    let project = Project::new();
    let run = project.run(&[&["call"], args].concat(), input);
    assert_eq!(run.stdout(), stdout, "{args:?}: {}", run.stderr());
    assert_eq!(run.code(), Some(code), "{args:?}: {}", run.stderr());
}

#[test]
fn a_call_exits_by_its_result() {
    check_call(&["shell", r#"{"command":"echo it"}"#], "", "it\n", 0);
    check_call(&["shell", r#"{"command":"printf it"}"#], "", "it\n", 0);
    check_call(&["shell", r#"{"command":"true"}"#], "", "", 0);
    check_call(&["shell", "-"], r#"{"command":"echo it"}"#, "it\n", 0);
    check_call(
        &["shell", r#"{"command":"echo it; exit 3"}"#],
        "",
        "it\nexited with code 3\n",
        1,
    );
}

#[test]
fn a_refused_call_exits_with_1_and_a_wrong_command_line_with_2() {
    let project = Project::new();
    let run = project.run(&["call", "nope"], "");
    assert_eq!(run.code(), Some(1), "{}", run.stderr());
    assert_snapshot!(run.stdout(), @"there is no tool `nope`; the tools are shell, git, await");
    for args in [
        &["call", "shell", "not json"][..],
        &["call", "shell", "[]"],
        &[
            "call",
            "shell",
            r#"{"action":"spawn","id":"x","command":"ls"}"#,
        ],
        &["call"],
        &["no-such-subcommand"],
        &["drive", "--no-such-flag"],
        &["drive", "-C", "/no/such/folder"],
        &["drive", "--config", "no-such-file.toml"],
    ] {
        let run = project.run(args, "");
        assert_eq!(run.code(), Some(2), "{args:?}: {}", run.stderr());
        assert_eq!(run.stdout(), "", "{args:?}");
        assert!(!run.stderr().is_empty(), "{args:?}");
    }
}

#[test]
fn a_call_may_be_answered_with_json() {
    let project = Project::new();
    let run = project.run(&["--json", "call", "shell", r#"{"command":"exit 3"}"#], "");
    let answer: Value = serde_json::from_str(&run.stdout()).unwrap();
    assert_eq!(
        answer,
        json!({"content": "exited with code 3", "is_error": true, "notices": []})
    );
    assert_eq!(run.code(), Some(1));
}

#[test]
fn a_call_tells_what_it_left_and_ends_it() {
    let victim = Victim::new();
    let project = Project::new();
    let arguments = json!({"command": format!("{} & echo ok", victim.sleep())});
    let run = project.run(&["call", "shell", &arguments.to_string()], "");
    assert_eq!(run.stdout(), "ok\n");
    assert_snapshot!(run.stderr(), @"windlass: `shell` left 1 process running until the session ends");
    assert!(victim.alive().is_empty());
}

#[test]
fn ctrl_c_ends_a_call() {
    let victim = Victim::new();
    let project = Project::new();
    let arguments = json!({"command": victim.script()}).to_string();
    let mut child = project
        .windlass(&["call", "shell", &arguments])
        .spawn()
        .unwrap();
    // The binary's own command line carries the number too.
    eventually("the victim is up", || victim.alive().len() == VICTIMS + 1);
    signal(child.id(), rustix::process::Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    eventually("nothing is left", || victim.alive().is_empty());
}

#[test]
fn tools_are_listed_and_shown() {
    let project = Project::with_config(
        r#"
        [conversation.tools.lint]
        source = "local"
        command = "true"
        summary = "Checks."
        parameters.package = { type = "string" }
        spawn.actions = ["spawn", "fetch", "abort"]
        "#,
    );
    let listed = project.list(&["tools"]);
    let find = |name: &str| {
        listed
            .iter()
            .find(|tool| tool["name"] == json!(name))
            .cloned()
    };
    assert_eq!(
        find("lint").unwrap(),
        json!({
            "name": "lint",
            "source": "local",
            "actions": ["spawn", "fetch", "abort"],
            "summary": "Checks.",
            "definition": ".windlass/config.toml:2:29",
        })
    );
    assert_eq!(
        find("shell").unwrap()["actions"],
        json!(["spawn", "fetch", "apply", "abort"])
    );
    assert_eq!(find("await").unwrap()["actions"], json!([]));

    let run = project.run(&["tools", "lint"], "");
    let shown = run.stdout();
    assert!(
        shown.contains("lint  Checks.") && shown.contains("package    string"),
        "{shown}"
    );
    let run = project.run(&["tools", "lint", "--json"], "");
    let schema: Value = serde_json::from_str(&run.stdout()).unwrap();
    assert_eq!(schema["name"], json!("lint"));
    assert!(schema["parameters"]["oneOf"].is_array(), "{schema}");

    let run = project.run(&["tools", "nope"], "");
    assert_eq!(run.code(), Some(2));
    assert_snapshot!(run.stderr(), @"windlass: there is no tool `nope`; the tools are shell, git, await, lint");
}

#[test]
fn schemas_are_shown_in_every_dialect() {
    let project = Project::new();
    for dialect in [
        "json-schema",
        "anthropic",
        "openai",
        "openai-strict",
        "gemini",
        "mcp",
        "ollama",
        "gemini-legacy",
        "llama-cpp",
    ] {
        let run = project.run(&["tools", "shell", "--dialect", dialect], "");
        assert_eq!(run.code(), Some(0), "{dialect}: {}", run.stderr());
        let schema: Value = serde_json::from_str(&run.stdout()).unwrap();
        assert_eq!(schema["name"], json!("shell"), "{dialect}");
        assert_eq!(schema["parameters"]["type"], json!("object"), "{dialect}");
        let flat = !["json-schema", "llama-cpp"].contains(&dialect);
        assert_eq!(
            schema["parameters"].get("oneOf").is_none(),
            flat,
            "{dialect}"
        );
        let run = project.run(&["tools", "--dialect", dialect], "");
        let schemas: Value = serde_json::from_str(&run.stdout()).unwrap();
        assert!(schemas.as_array().unwrap().len() >= 2, "{dialect}");
    }
    let run = project.run(&["tools", "--dialect", "klingon"], "");
    assert_eq!(run.code(), Some(2));
    assert_snapshot!(run.stderr(), @"windlass: `klingon` is not a schema dialect; use one of json-schema, anthropic, openai, openai-strict, gemini, gemini-legacy, mcp, ollama, llama-cpp");
}

#[test]
fn init_writes_a_config_once() {
    let project = Project::new();
    let run = project.run(&["init"], "");
    assert_eq!(run.code(), Some(0), "{}", run.stderr());
    let written = project.read(".windlass/config.toml");
    assert!(!written.is_empty());
    let run = project.run(&["tools"], "");
    assert_eq!(
        (run.code(), run.stderr().as_str()),
        (Some(0), ""),
        "what it wrote loads"
    );
    project.write(".windlass/config.toml", "# mine\n");
    let run = project.run(&["init"], "");
    assert_eq!(run.code(), Some(2));
    assert_snapshot!(filtered(&run.stderr()), @"windlass: `[folder]/project/.windlass/config.toml` exists already and was not changed");
    assert_eq!(project.read(".windlass/config.toml"), "# mine\n");
}

#[test]
fn completions_name_the_subcommands() {
    let project = Project::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = project.run(&["completions", shell], "");
        assert_eq!(run.code(), Some(0));
        assert!(run.stdout().contains("WINDLASS_COMPLETE"), "{shell}");
    }
}

/// The candidates that a shell is given for the last word.
fn completed(project: &Project, words: &[&str]) -> Vec<String> {
    let index = words.len().to_string();
    let mut command = project.windlass(&[&["--", "windlass"], words].concat());
    let output = command
        .env("WINDLASS_COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", index)
        .env("_CLAP_COMPLETE_COMP_TYPE", "9")
        .env("_CLAP_COMPLETE_SPACE", "true")
        .env("_CLAP_IFS", "\n")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn handles_sessions_and_tools_that_are_there_are_completed() {
    let project = Project::with_config(
        "[conversation.tools.lint]\nsource = \"local\"\ncommand = \"true\"\nparameters = {}\n",
    );
    assert!(completed(&project, &["ki"]).contains(&"kill".to_owned()));
    let nothing = completed(&project, &["kill", ""]);
    assert!(nothing.iter().all(|it| it.starts_with("--")), "{nothing:?}");
    let mut drive = project.drive();
    drive.run([crate::support::spawn("server", "exec sleep 1000")]);
    assert_eq!(completed(&project, &["kill", "ser"]), ["server"]);
    assert_eq!(completed(&project, &["call", "li"]), ["lint"]);
    let mut sessions = completed(&project, &["sessions", "show", ""]);
    sessions.retain(|it| !it.starts_with("--"));
    assert!(sessions.contains(&"last".to_owned()), "{sessions:?}");
    assert_eq!(sessions.len(), 2, "{sessions:?}");
    // A tool learns nothing of other runtimes.
    let line = format!(
        "WINDLASS_COMPLETE=bash _CLAP_COMPLETE_INDEX=2 {} -- windlass kill ser",
        windlass()
    );
    let said = drive.content("shell", json!({ "command": line }));
    assert!(!said.to_string().contains("server"), "{said}");
}

#[test]
fn a_slip_is_reported_with_the_word_that_was_meant() {
    let project = Project::new();
    let mut drive = project.drive();
    drive.run([crate::support::spawn("server", "exec sleep 1000")]);
    for (args, meant) in [
        (&["quary"][..], "query"),
        (&["ps", "--wach"], "--watch"),
        (&["kill", "sever"], "server"),
        (&["tools", "shel"], "shell"),
        (&["permissions", "explain", "shel"], "shell"),
        (&["models", "olama"], "ollama"),
        (&["ps", "--color", "alwys"], "always"),
        (&["query", "--model", "olama/x", "hi"], "ollama"),
    ] {
        let run = project.run(args, "");
        assert_eq!(run.code(), Some(2), "{args:?}: {}", run.stderr());
        assert!(run.stderr().contains(meant), "{args:?}: {}", run.stderr());
    }
}

#[test]
fn nothing_is_json_unasked_and_everything_is_when_asked() {
    let project = Project::new();
    let mut drive = project.drive();
    drive.run([crate::support::spawn("server", "echo up; exec sleep 1000")]);
    for args in [
        &["ps"][..],
        &["tools"],
        &["tools", "shell"],
        &["sessions"],
        &["sessions", "show", "last"],
        &["permissions"],
        &["permissions", "pending"],
        &["permissions", "explain", "shell", "{\"command\":\"ls\"}"],
        &["questions"],
        &["models", "--offline"],
        &["trust", "--list"],
        &["logs", "server"],
        &["config", "show"],
        &["config", "path"],
        &["config", "check"],
        &["doctor"],
        &["mcp", "install"],
        &["send", "server", "x"],
        &["kill", "server"],
    ] {
        let asked = project.run(&[args, &["--json"]].concat(), "");
        let value: Result<Value, _> = serde_json::from_str(&asked.stdout());
        assert!(
            value.is_ok(),
            "{args:?}: {}{}",
            asked.stdout(),
            asked.stderr()
        );
        let unasked = project.run(args, "");
        let value: Result<Value, _> = serde_json::from_str(&unasked.stdout());
        assert!(value.is_err(), "{args:?}: {}", unasked.stdout());
        assert!(
            !unasked.stdout().contains('\x1b'),
            "{args:?}: no colour in a pipe"
        );
    }
    let coloured = project.run(&["ps", "--color", "always"], "").stdout();
    assert!(coloured.contains("\x1b[1mHANDLE\x1b[0m"), "{coloured}");
}

#[test]
fn a_wrong_config_is_reported_with_its_place_and_nothing_runs() {
    let project = Project::with_own_config(
        "[conversation.tools.it]\nsource = \"local\"\ncomand = \"touch ran\"\n\n[conversation.tools.shell]\nrun = \"sometimes\"\n",
    );
    for args in [
        &["drive"][..],
        &["call", "shell", r#"{"command":"touch ran"}"#],
        &["tools"],
    ] {
        let run = project.run(
            args,
            r#"[{"tool":"shell","arguments":{"command":"touch ran"}}]"#,
        );
        assert_eq!(run.code(), Some(2), "{args:?}");
        assert_eq!(run.stdout(), "", "{args:?}");
        let stderr = run.stderr();
        for expected in [
            "windlass/config.toml:3:",
            "comand",
            "command",
            "windlass/config.toml:6:",
            "sometimes",
        ] {
            assert!(stderr.contains(expected), "`{expected}` is not in {stderr}");
        }
    }
    assert!(!project.root().join("ran").exists());
}

#[test]
fn the_config_may_be_added_to_on_the_command_line() {
    let project = Project::new();
    project.write(
        "more.toml",
        "[conversation.tools.hi]\ncommand = \"echo hi\"\nparameters = {}\n",
    );
    let run = project.run(&["--config", "more.toml", "call", "hi"], "");
    assert_eq!(
        (run.code(), run.stdout().as_str()),
        (Some(0), "hi\n"),
        "{}",
        run.stderr()
    );
    let set = [
        "--set",
        "conversation.tools.shell.run=skip",
        "call",
        "shell",
        r#"{"command":"touch ran"}"#,
    ];
    let run = project.run(&set, "");
    assert_eq!(
        run.stdout(),
        "skipped: the configuration sets `shell` not to run\n"
    );
}
