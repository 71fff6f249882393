//! The commands of daily use: `run`, `logs`, `kill --all`, `config`, `doctor`,
//! `sessions show`, `mcp uninstall`, and lists on a terminal.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};
use windlass_outside::model::{Script, Turn};

use crate::http_support::Serve;
use crate::query::asked;
use crate::query_terminal::sit_at;
use crate::support::{Project, call, eventually, spawn};

#[test]
fn a_command_runs_here_with_its_output_input_and_exit_code() {
    let project = Project::new();
    let run = project.run(&["run", "--", "sh", "-c", "echo out; exit 7"], "");
    assert_eq!((run.code(), run.stdout().as_str()), (Some(7), "out\n"));
    let run = project.run(&["run", "--", "cat"], "in and out\n");
    assert_eq!(
        (run.code(), run.stdout().as_str()),
        (Some(0), "in and out\n")
    );
    let run = project.run(&["run", "--", "sh", "-c", "kill -9 $$"], "");
    assert_eq!(run.code(), Some(137));
    let run = project.run(&["run", "--", "printf", "%s|", "a b", "$HOME", "it's"], "");
    assert_eq!(run.stdout(), "a b|$HOME|it's|");
    let run = project.run(&["run", "--", "no-such-program"], "");
    assert_eq!(run.code(), Some(127), "{}", run.stdout());
}

#[test]
fn a_command_that_runs_here_is_seen_and_ended_from_elsewhere() {
    let project = Project::new();
    let mut running = project
        .windlass(&[
            "run",
            "--id",
            "here",
            "--",
            "sh",
            "-c",
            "echo up; exec sleep 1000",
        ])
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    eventually("it is listed", || {
        project.run(&["ps"], "").stdout().contains("here")
    });
    let killed = project.run(&["kill", "--all"], "");
    assert_eq!(killed.code(), Some(0), "{}", killed.stdout());
    assert_ne!(running.wait().unwrap().code(), Some(0));
    let again = project.run(&["kill", "--all"], "").stdout();
    assert_snapshot!(again, @"Nothing is running, so nothing was ended.");
}

#[test]
fn a_detached_command_runs_in_the_server_with_this_folder_and_environment() {
    let project = Project::new();
    let none = project.run(&["run", "-d", "--", "true"], "");
    assert_eq!(none.code(), Some(2));
    assert_snapshot!(none.stderr(), @"windlass: no server is running; start `windlass serve`, or leave out `-d`");
    let _serve = Serve::start(&project);
    project.write("below/file", "here");
    let mut command = project.windlass(&[
        "run",
        "-d",
        "--id",
        "far",
        "--",
        "sh",
        "-c",
        "cat file; echo $FLAVOUR",
    ]);
    command
        .env("FLAVOUR", "mint")
        .current_dir(project.root().join("below"));
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(said.contains("`far` runs in `windlass serve`"), "{said}");
    eventually("it has printed", || {
        project.run(&["logs", "far"], "").stdout() == "heremint\n"
    });
}

#[test]
pub(crate) fn logs_are_cut_by_lines_time_and_pattern() {
    let project = Project::new();
    let mut drive = project.drive();
    drive.run([spawn("n", "seq 1 20000; exec cat")]);
    eventually("all of it is there", || {
        project
            .run(&["logs", "n"], "")
            .stdout()
            .ends_with("20000\n")
    });
    let logs = |args: &[&str]| project.run(&[&["logs", "n"], args].concat(), "").stdout();
    assert_eq!(logs(&["-n", "2"]), "19999\n20000\n");
    assert_eq!(logs(&["-n", "0"]), "");
    assert_eq!(logs(&["-n", "20000"]), logs(&[]));
    assert_eq!(logs(&["--grep", "^199.7$"]).lines().count(), 10);
    assert_eq!(logs(&["--since", "1h"]), logs(&[]));
    let json: Value = serde_json::from_str(&logs(&["-n", "1", "--json"])).unwrap();
    assert_eq!(json["lines"], json!(["20000"]));
    assert_eq!(json["handle"], "n");
    let wrong = project.run(&["logs", "n", "--since", "soon"], "");
    assert_eq!(wrong.code(), Some(2));
    let wrong = project.run(&["logs", "n", "--grep", "("], "");
    assert!(
        wrong.stderr().contains("regular expression"),
        "{}",
        wrong.stderr()
    );
}

#[test]
fn a_session_tells_handles_actions_exit_codes_and_output() {
    let project = Project::new();
    let mut drive = project.drive();
    drive.run([
        spawn("build", "echo error: no; exit 101"),
        call("shell", json!({"command": "echo fine"})),
    ]);
    drive.finish();
    let shown = project.run(&["sessions", "show", "last"], "").stdout();
    let lines: Vec<&str> = shown.lines().collect();
    assert!(
        lines[1].starts_with("  ✗ shell spawn build echo error: no; exit 101 (exit 101, "),
        "{shown}"
    );
    assert_eq!(lines[2], "      error: no", "{shown}");
    assert!(lines[3].starts_with("  ✓ shell echo fine ("), "{shown}");
    assert_eq!(lines[4], "      fine", "{shown}");
    let listed = project.run(&["sessions"], "").stdout();
    let short = listed.lines().nth(1).unwrap().split(' ').next().unwrap();
    let by_short = project.run(&["sessions", "show", short], "").stdout();
    let calls = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(calls(&by_short), calls(&shown), "the id as it is printed");
}

#[test]
fn every_value_of_the_configuration_has_its_origin() {
    let project =
        Project::with_config("[conversation.tools.shell]\nrun = \"ask\"\ntimeout_secs = 5\n");
    project.write_own("[providers.llm.mine]\napi = \"chat\"\nbase_url = \"http://127.0.0.1:1/v1\"\nheaders.X-Key = \"geheim\"\n");
    let set = [
        "config",
        "show",
        "--set",
        "conversation.tools.shell.timeout_secs=9",
    ];
    let shown = project.run(&set, "").stdout();
    let line = |key: &str| {
        let line = shown.lines().find(|line| line.starts_with(key));
        line.unwrap_or_else(|| panic!("{key}: {shown}"))
    };
    assert!(
        line("conversation.tools.shell.run").contains(".windlass/config.toml:2"),
        "{shown}"
    );
    assert!(
        line("conversation.tools.shell.timeout_secs").contains("--set"),
        "{shown}"
    );
    assert!(
        line("providers.llm.mine.base_url").contains("config.toml:3"),
        "{shown}"
    );
    assert!(!shown.contains("geheim"), "{shown}");
    let one = project.list(&["config", "show", "conversation.tools.shell.run"]);
    assert_eq!(one.len(), 1);
    assert_eq!(
        (&one[0]["value"], &one[0]["line"]),
        (&json!("ask"), &json!(2))
    );
    assert_eq!(one[0]["layer"], json!("project file"));
    defaults_are_shown(&project);
    let files = project.list(&["config", "path"]);
    assert!(
        files.iter().all(|file| file["state"] == "read"),
        "{files:?}"
    );
    assert_eq!(project.run(&["config", "check"], "").code(), Some(0));
    project.write(
        ".windlass/config.toml",
        "[conversation.tools.shell]\nrunn = 1\n",
    );
    let wrong = project.run(&["config", "check"], "");
    assert_eq!(wrong.code(), Some(2));
    assert_snapshot!(wrong.stderr(), @"
    windlass: the configuration is invalid
    .windlass/config.toml:2:1: unknown key `runn` in `conversation.tools.shell`; did you mean `run`?
    2 | runn = 1
      | ^^^^
    ");
}

#[test]
fn the_doctor_tells_faults_with_the_remedy() {
    let project = Project::new();
    let well = project.run(&["doctor"], "");
    assert_eq!(well.code(), Some(0), "{}", well.stdout());
    assert!(
        well.stdout().contains("No problems were found."),
        "{}",
        well.stdout()
    );
    let told = project.run(&["doctor", "--json"], "");
    for part in [
        "seccomp",
        "mount namespace",
        "network namespace",
        "Landlock",
        "cgroup",
    ] {
        assert!(told.stdout().contains(part), "{part}: {}", told.stdout());
    }
    project.write_own("[assistant]\nmodell = \"x\"\n");
    let ill = project.run(&["doctor"], "");
    assert_eq!(ill.code(), Some(1), "{}", ill.stdout());
    assert!(
        ill.stdout().contains("windlass config edit"),
        "{}",
        ill.stdout()
    );
}

#[test]
fn an_agent_is_set_up_and_rid_of_windlass_again() {
    for (client, file, before) in [
        (
            "claude",
            ".claude.json",
            "{\n  \"mine\": [1, 2],\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"}\n  }\n}\n",
        ),
        (
            "codex",
            ".codex/config.toml",
            "model = \"mine\" # good\n\n[mcp_servers.other]\ncommand = \"x\"\n",
        ),
    ] {
        let project = Project::new();
        let file = project.root().parent().unwrap().join("home").join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, before).unwrap();
        let run = project.run(&["mcp", "install", client, "--yes", "--agents-md"], "");
        assert_eq!(run.code(), Some(0), "{}", run.stderr());
        assert!(fs::read_to_string(&file).unwrap().contains("windlass"));
        assert!(project.read("AGENTS.md").contains("\"action\": \"spawn\""));
        let run = project.run(&["mcp", "uninstall", client, "--yes"], "");
        assert_eq!(run.code(), Some(0), "{}", run.stderr());
        let after = fs::read_to_string(&file).unwrap();
        assert!(
            !after.contains("windlass") && after.contains("other"),
            "{after}"
        );
        let again = project.run(&["mcp", "uninstall", client], "");
        assert!(
            again.stdout().contains("does not have Windlass"),
            "{}",
            again.stdout()
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_fits_the_terminal() {
    let asked = asked("unattended", []).await;
    let binary = asked.project.windlass(&["tools"]);
    let sitting = sit_at(asked, binary);
    let (exit, rows) = sitting.ends().await;
    assert_eq!(exit, Some(0), "{rows}");
    assert_eq!(rows.lines().count(), 4, "a row each: {rows}");
    assert!(rows.contains("SUMMARY") && rows.contains('…'), "{rows}");
}

#[tokio::test(flavor = "multi_thread")]
async fn models_are_named_where_the_provider_lists_them() {
    let server = windlass_outside::model::ModelServer::start(Script::new(Vec::<Turn>::new()));
    let server = server.await.unwrap();
    let project = Project::with_own_config(&format!(
        "[providers.llm.ollama]\nbase_url = \"{}\"\n[providers.llm.gone]\napi = \"chat\"\nbase_url = \"http://127.0.0.1:1/v1\"\n",
        server.url()
    ));
    let found = tokio::task::block_in_place(|| project.list(&["models"]));
    let of = |name: &str| {
        found
            .iter()
            .find(|it| it["provider"] == name)
            .unwrap()
            .clone()
    };
    assert_eq!(of("ollama")["state"], "reached");
    assert_eq!(of("ollama")["models"], json!(["scripted"]));
    assert_eq!(of("gone")["state"], "not reached");
    assert_eq!(of("gone")["note"], "not running");
    assert_eq!(of("anthropic")["state"], "not set up");
}

#[test]
fn the_log_tells_a_developer_of_tools_what_runs() {
    let project = Project::with_config(
        "[conversation.tools.lint]\nsource = \"local\"\ncommand = \"echo {{tool.arguments.name}}\"\nparameters.name.type = \"string\"\n",
    );
    let mut command = project.windlass(&["call", "lint", "{\"name\": \"it\"}"]);
    let output = command.env("WINDLASS_LOG", "debug").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    for wanted in [
        "the configuration is loaded",
        "a tool is offered",
        "a call runs",
        "a call is answered",
    ] {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
    assert!(!said.contains('\x1b'), "no colour in a pipe: {said}");
}

/// Values that nothing sets, and those of variables.
fn defaults_are_shown(project: &Project) {
    let values = |args: &[&str]| {
        let mut command = project.windlass(&[&["config", "show", "--json"], args].concat());
        let variables = [
            ("WINDLASS_MODEL", "ollama/qwen3"),
            ("OLLAMA_HOST", "0.0.0.0:4711"),
            ("WINDLASS_SET", "kept.max=3"),
        ];
        let output = command.envs(variables).output().unwrap();
        let values: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
        values
    };
    let all = values(&["--set", "mcp.tasks=never"]);
    let shown = |key: &str| {
        let value = all.iter().find(|value| value["key"] == key);
        let value = value.unwrap_or_else(|| panic!("{key}: {all:?}"));
        (value["value"].clone(), value["layer"].clone())
    };
    for (key, value, layer) in [
        ("conversation.tools.*.timeout_secs", json!(600), "default"),
        ("conversation.tools.*.run.spawn", json!("ask"), "default"),
        (
            "conversation.tools.*.spawn.stateful",
            Value::Null,
            "default",
        ),
        ("conversation.record", json!(true), "default"),
        ("mcp.max_block_secs", json!(50), "default"),
        ("mcp.tasks", json!("never"), "command line"),
        ("kept.max", json!(3), "environment"),
        ("assistant.model", json!("ollama/qwen3"), "environment"),
        (
            "providers.llm.ollama.base_url",
            json!("http://127.0.0.1:4711"),
            "environment",
        ),
        ("providers.llm.mine.api", json!("chat"), "user file"),
        (
            "conversation.tools.shell.timeout_secs",
            json!(5),
            "project file",
        ),
    ] {
        assert_eq!(shown(key), (value, json!(layer)), "{key}");
    }
    let changed = values(&["--changed"]);
    assert!(changed.iter().all(|value| value["layer"] != "default"));
    assert_eq!(changed.len(), 8, "{changed:?}");
    let wrong = project.run(&["config", "show", "conversation.tols"], "");
    assert_eq!(wrong.code(), Some(2), "{}", wrong.stdout());
    assert!(
        wrong
            .stderr()
            .contains("did you mean `conversation.tools`?"),
        "{}",
        wrong.stderr()
    );
    let other = project.run(&["config", "show", "conversation.tools.git.run.spawn"], "");
    assert!(
        other
            .stderr()
            .contains("`conversation.tools.*.run.spawn` applies to every tool"),
        "{}",
        other.stderr()
    );
}

#[test]
fn a_handle_that_needs_permission_waits_in_its_own_row() {
    let project = Project::with_own_config("[conversation.tools.shell]\nrun = \"ask\"\n");
    let mut drive = project.drive_asking();
    drive.send(&json!([spawn("web", "echo asked")]));
    let mut listed = String::new();
    eventually("the request is listed", || {
        listed = project.run(&["ps"], "").stdout();
        listed.contains("waits for you")
    });
    let rows: Vec<&str> = listed
        .lines()
        .filter(|row| !row.starts_with("reply:"))
        .collect();
    assert_eq!(rows.len(), 2, "{listed}");
    assert!(
        rows[1].starts_with("web") && rows[1].contains("? Run `shell`? echo asked"),
        "{listed}"
    );
    let held = project.run(&["ps", "--held"], "").stdout();
    assert!(held.starts_with("No kept handle is without"), "{held}");
}
