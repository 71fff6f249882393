//! Tools whose programs describe them: what comes of it, and how often anybody
//! is asked.

use std::fs;
use std::time::{Duration, SystemTime};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::{Project, call, files_below};

/// The answer of the seed, literally.
pub(crate) const CARGO_CHECK: &str = r#"{
  "tools": [
    {
      "name": "cargo_check",
      "summary": "Run cargo check for the given package.",
      "description": "Longer description with details...",
      "parameters": {
        "package": {
          "type": "string",
          "summary": "Package to check."
        }
      }
    }
  ]
}"#;

/// A program that describes these tools, counts how often it was asked in the
/// file `asked`, and otherwise repeats its second argument.
pub(crate) fn program(answer: &str) -> String {
    format!(
        "case \"$1\" in\n*'\"action\":\"schema\"'*) echo x >> asked; cat <<'END'\n{answer}\nEND\n;;\n*) printf '%s' \"$2\" ;;\nesac\n"
    )
}

/// A project whose tools are those of the program `tools.sh`.
fn project(answer: &str, config: &str) -> Project {
    let project = Project::with_config(config);
    project.write("tools.sh", &program(answer));
    project
}

/// The number of times that the program was run for its description.
fn asked(project: &Project) -> usize {
    let asked = fs::read_to_string(project.root().join("asked"));
    asked.map_or(0, |asked| asked.lines().count())
}

#[track_caller]
fn json_of(project: &Project, args: &[&str]) -> Value {
    let run = project.run(&[&["--json"], args].concat(), "");
    assert_eq!((run.code(), run.stderr().as_str()), (Some(0), ""));
    serde_json::from_str(&run.stdout()).unwrap()
}

/// The seed's minimal registration.
const MINIMAL: &str =
    "[conversation.tools.cargo_check]\nsource = \"local\"\ncommand = \"sh tools.sh\"\n";

#[test]
fn two_lines_give_a_tool_with_its_whole_schema() {
    let project = project(CARGO_CHECK, MINIMAL);
    insta::assert_json_snapshot!(json_of(&project, &["tools", "cargo_check", "--dialect", "anthropic"]), @r#"
    {
      "name": "cargo_check",
      "description": "Run cargo check for the given package.",
      "parameters": {
        "type": "object",
        "properties": {
          "package": {
            "type": "string",
            "description": "Package to check."
          }
        },
        "required": [
          "package"
        ],
        "additionalProperties": false
      }
    }
    "#);
    let listed = json_of(&project, &["tools"]);
    let listed = listed.as_array().unwrap();
    assert!(listed.contains(&json!({
        "name": "cargo_check",
        "source": "local",
        "actions": [],
        "summary": "Run cargo check for the given package.",
        "definition": "sh (.windlass/config.toml:1:21)",
    })));
    let mut drive = project.drive();
    let content = drive.content("cargo_check", json!({"package": "a b"}));
    assert_eq!(
        content,
        json!(r#"{"name":"cargo_check","arguments":{"package":"a b"},"answers":{},"options":{}}"#)
    );
    let error = drive.error("cargo_check", json!({}));
    assert_snapshot!(error, @"missing `package`");
    let documentation = drive.content("describe_tools", json!({"tools": ["cargo_check"]}));
    let documentation = documentation.as_str().unwrap();
    assert!(documentation.contains("Longer description with details..."));
}

#[test]
fn a_parameter_that_is_removed_from_the_program_is_gone() {
    let project = project(CARGO_CHECK, MINIMAL);
    let parameters =
        || json_of(&project, &["tools", "cargo_check"])["parameters"]["properties"].clone();
    assert!(parameters()["package"].is_object());
    let without = r#"{"tools":[{"name":"cargo_check","parameters":{}}]}"#;
    project.write("tools.sh", &program(without));
    assert_eq!(parameters(), json!({}));
}

#[test]
fn one_program_with_ten_tools_is_asked_once_and_then_never() {
    let names: Vec<String> = (0..10).map(|number| format!("tool_{number}")).collect();
    let tools: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
    let tables = names
        .iter()
        .map(|name| format!("[conversation.tools.{name}]\ncommand = \"sh tools.sh\"\n"));
    let config: Vec<String> = tables.collect();
    let project = project(&json!({"tools": tools}).to_string(), &config.concat());
    assert_eq!(json_of(&project, &["tools"]).as_array().unwrap().len(), 13);
    assert_eq!(asked(&project), 1);
    assert_eq!(json_of(&project, &["tools"]).as_array().unwrap().len(), 13);
    let mut drive = project.drive();
    let calls = names.iter().map(|name| call(name, json!({})));
    drive.send(&calls.collect::<Value>());
    let replies = drive.next()["replies"].clone();
    assert_eq!(replies.as_array().unwrap().len(), 10);
    assert!(
        replies
            .as_array()
            .unwrap()
            .iter()
            .all(|reply| reply["is_error"] == json!(false))
    );
    assert_eq!(asked(&project), 1, "the second start asks nobody");
    project.run(&["tools", "check"], "");
    assert_eq!(asked(&project), 2, "a check asks anew");
}

#[test]
fn an_answer_is_forgotten_when_its_program_changes() {
    let project = project(CARGO_CHECK, MINIMAL);
    json_of(&project, &["tools"]);
    json_of(&project, &["tools"]);
    assert_eq!(asked(&project), 1);
    let script = fs::File::options()
        .append(true)
        .open(project.root().join("tools.sh"));
    let earlier = SystemTime::now() - Duration::from_hours(1);
    script.unwrap().set_modified(earlier).unwrap();
    json_of(&project, &["tools"]);
    assert_eq!(asked(&project), 2, "its time has changed");
    json_of(&project, &["tools"]);
    assert_eq!(asked(&project), 2);
    let other = "conversation.tools.cargo_check.command=sh ./tools.sh";
    json_of(&project, &["tools", "--set", other]);
    assert_eq!(asked(&project), 3, "its command line has changed");
    json_of(&project, &["tools"]);
    assert_eq!(asked(&project), 3, "each command line has an answer");
}

#[test]
fn a_broken_cache_means_asking_again() {
    let project = project(CARGO_CHECK, MINIMAL);
    json_of(&project, &["tools"]);
    let cache = project.cache_dir().join("descriptions");
    let files = files_below(&cache);
    assert_eq!(files.len(), 1);
    for (times, broken) in [(2, "{"), (3, ""), (4, r#"{"tools":[]}"#)] {
        fs::write(&files[0], broken).unwrap();
        let tool = json_of(&project, &["tools", "cargo_check"]);
        assert!(tool["parameters"]["properties"]["package"].is_object());
        assert_eq!(asked(&project), times, "{broken}");
    }
    fs::remove_dir_all(&cache).unwrap();
    fs::write(&cache, "in the way").unwrap();
    json_of(&project, &["tools"]);
    assert_eq!(asked(&project), 5, "and where nothing can be kept");
}

#[test]
fn a_program_is_not_asked_for_what_the_config_defines() {
    let config = format!("{MINIMAL}parameters.crate = {{ type = \"string\" }}\n");
    let project = project(CARGO_CHECK, &config);
    let tool = json_of(&project, &["tools", "cargo_check"]);
    assert!(tool["parameters"]["properties"]["crate"].is_object());
    assert_eq!(asked(&project), 0);
}

#[test]
fn the_config_has_the_last_word() {
    let answer = json!({"tools": [{
        "name": "check",
        "summary": "Theirs.",
        "examples": ["check it"],
        "parameters": {
            "package": {"type": "string", "summary": "Theirs."},
            "target": {"type": "object", "properties": {
                "os": {"type": "string", "enum": ["linux", "mac"]},
                "tags": {"type": "array", "items": {"type": "string"}, "default": []},
            }},
        },
    }]});
    let config = r#"
        [conversation.tools.mine]
        source = "local.check"
        command = "sh tools.sh {{context}} {{tool}}"
        summary = "Mine."
        parameters.package = { summary = "Mine.", default = "all" }
        parameters.target.properties.os.summary = "Which one."
    "#;
    let project = project(&answer.to_string(), config);
    insta::assert_json_snapshot!(json_of(&project, &["tools", "mine"]), @r#"
    {
      "name": "mine",
      "description": "Mine.",
      "parameters": {
        "type": "object",
        "properties": {
          "package": {
            "type": "string",
            "description": "Mine.",
            "default": "all"
          },
          "target": {
            "type": "object",
            "properties": {
              "os": {
                "type": "string",
                "enum": [
                  "linux",
                  "mac"
                ],
                "description": "Which one."
              },
              "tags": {
                "type": "array",
                "default": [],
                "items": {
                  "type": "string"
                }
              }
            },
            "required": [
              "os"
            ]
          }
        },
        "required": [
          "target"
        ],
        "additionalProperties": false
      }
    }
    "#);
    let mut drive = project.drive();
    let content = drive.content("mine", json!({"target": {"os": "mac"}}));
    assert!(
        content.as_str().unwrap().starts_with(r#"{"name":"check""#),
        "the program is called by its own name for the tool: {content}"
    );
    let documentation = drive.content("describe_tools", json!({"tools": ["mine"]}));
    assert!(documentation.as_str().unwrap().contains("- check it"));
}

#[test]
fn a_described_tool_lasts_without_a_word_in_the_config() {
    let project = Project::with_config(
        "[conversation.tools.ticker]\nsource = \"local\"\ncommand = \"sh tools.sh\"\n",
    );
    let answer = r#"{"tools":[{"name":"ticker","spawn":{"stateful":true,"actions":["spawn","fetch","abort"],"io":"state"}}]}"#;
    project.write(
        "tools.sh",
        &format!(
            "case \"$1\" in\n*'\"action\":\"schema\"'*) echo '{answer}' ;;\n*) echo '{{\"type\":\"running\",\"content\":\"tick\"}}'; exec sleep 1000 ;;\nesac\n"
        ),
    );
    let listed = json_of(&project, &["tools"]);
    let ticker = listed
        .as_array()
        .unwrap()
        .iter()
        .find(|tool| tool["name"] == json!("ticker"));
    assert_eq!(
        ticker.unwrap()["actions"],
        json!(["spawn", "fetch", "abort"])
    );
    let mut drive = project.drive();
    let spawned = drive.content("ticker", json!({"action": "spawn", "id": "t"}));
    assert_eq!(spawned["state"], json!("running"), "{spawned}");
    let waited = drive.content(
        "await",
        json!({"until": [{"id": "t", "pattern": "tick"}], "timeout_secs": 60}),
    );
    assert_eq!(waited["matched"][0]["line"], json!("tick"), "{waited}");
    let ended = drive.content("ticker", json!({"action": "abort", "id": "t"}));
    assert_eq!(ended["state"], json!("stopped"), "{ended}");
    let refused = drive.error(
        "ticker",
        json!({"action": "apply", "id": "t", "input": "x"}),
    );
    assert_snapshot!(refused, @"`apply` is not an action of this tool; it has spawn, fetch, abort");
}

#[test]
fn two_programs_are_asked_at_the_same_time() {
    let project = Project::with_config(
        "[conversation.tools.a]\ncommand = \"sh a.sh\"\ndescribe_timeout_secs = 60\n[conversation.tools.b]\ncommand = \"sh b.sh\"\ndescribe_timeout_secs = 60\n",
    );
    // Each answers only once the other has been asked too.
    for (own, other) in [("a", "b"), ("b", "a")] {
        let answer = json!({"tools": [{"name": own}]});
        project.write(
            &format!("{own}.sh"),
            &format!(
                "touch {own}.up; while ! test -e {other}.up; do sleep 0.01; done; echo '{answer}'\n"
            ),
        );
    }
    let listed = json_of(&project, &["tools"]);
    assert_eq!(listed.as_array().unwrap().len(), 5);
}

#[test]
fn a_tool_called_like_a_subcommand_is_shown_after_two_dashes() {
    let project =
        Project::with_config("[conversation.tools.check]\ncommand = \"true\"\nparameters = {}\n");
    assert_eq!(
        json_of(&project, &["tools", "--", "check"])["name"],
        json!("check")
    );
}
