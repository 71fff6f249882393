#![expect(
    clippy::needless_pass_by_value,
    reason = "values are written in place, and read better without a borrow"
)]

use std::io::Cursor;

use insta::assert_snapshot;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_protocol::{HandleAction, Parameters};

use super::*;
use crate::{Exec, InteractiveCommand, Stateful, TypedQuestion};

/// Where a test reads what was printed.
#[derive(Clone, Default)]
struct Printed(Arc<Mutex<Vec<u8>>>);

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs the program as Windlass does; returns its answer and its exit code.
fn run(tools: Tools, context: &Value, tool: &Value) -> (Value, ExitCode) {
    let printed = Printed::default();
    let args = [context.to_string(), tool.to_string()];
    let code = tools.run_on(&args, Cursor::new(""), printed.clone());
    let bytes = printed.0.lock().unwrap();
    (serde_json::from_slice(&bytes).unwrap_or(Value::Null), code)
}

fn call(tools: Tools, name: &str, arguments: Value) -> Value {
    answered(tools, name, arguments, json!({}))
}

fn answered(tools: Tools, name: &str, arguments: Value, answers: Value) -> Value {
    let context = json!({"action": "run", "root": "/project"});
    let tool = json!({"name": name, "arguments": arguments, "answers": answers});
    run(tools, &context, &tool).0
}

fn schema(tools: Tools) -> Value {
    let (answer, code) = run(tools, &json!({"action": "schema", "root": "/"}), &json!({}));
    assert_eq!(code, ExitCode::SUCCESS);
    answer
}

/// Run cargo check for the given package.
///
/// Longer description with details...
#[derive(Deserialize, JsonSchema)]
struct CargoCheck {
    /// Package to check.
    package: String,
}

impl Stateful for CargoCheck {
    async fn run(self, _: ToolHandle) -> Result<String, Error> {
        Ok(self.package)
    }
}

fn cargo_check() -> Tools {
    let run = |args: CargoCheck, _: &Call| Ok(format!("checked {}", args.package));
    Tools::new().add(Tool::new("cargo_check", run))
}

#[test]
fn the_answer_to_a_schema_request_is_the_documented_one() {
    let documented = json!({
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
    });
    assert_eq!(schema(cargo_check()), documented);
}

#[test]
fn a_parameter_that_is_removed_from_the_struct_is_gone_from_the_schema() {
    mod before {
        use super::*;
        #[derive(Deserialize, JsonSchema)]
        #[expect(dead_code, reason = "only its schema matters")]
        pub(super) struct Check {
            package: String,
            release: Option<bool>,
        }
    }
    mod after {
        use super::*;
        #[derive(Deserialize, JsonSchema)]
        #[expect(dead_code, reason = "only its schema matters")]
        pub(super) struct Check {
            package: String,
        }
    }
    fn seen<A: serde::de::DeserializeOwned + JsonSchema + 'static>() -> Value {
        let tools = Tools::new().add(Tool::new("check", |_: A, _: &Call| Ok("")));
        let tool = tools.descriptions().unwrap().tools.remove(0);
        Parameters::from_entries(&tool.parameters).to_object_schema()
    }
    let mut expected = json!({
        "type": "object",
        "properties": {"package": {"type": "string"}, "release": {"type": "boolean"}},
        "required": ["package"],
        "additionalProperties": false,
    });
    assert_eq!(seen::<before::Check>(), expected);
    expected["properties"]
        .as_object_mut()
        .unwrap()
        .shift_remove("release");
    assert_eq!(seen::<after::Check>(), expected);
}

#[test]
fn ten_tools_fit_in_one_program() {
    let ten = || {
        (0..10).fold(Tools::new(), |tools, number| {
            let run = move |args: CargoCheck, _: &Call| Ok(format!("{number} {}", args.package));
            tools.add(Tool::new(format!("tool_{number}"), run))
        })
    };
    let answer = schema(ten());
    let names: Vec<&str> = answer["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    let expected: Vec<String> = (0..10).map(|number| format!("tool_{number}")).collect();
    assert_eq!(names, expected);
    for (number, name) in expected.iter().enumerate() {
        let answer = call(ten(), name, json!({"package": "a"}));
        assert_eq!(answer["result"]["Ok"], json!(format!("{number} a")));
    }
}

#[test]
fn text_is_given_unchanged_and_everything_else_as_json() {
    #[derive(Serialize)]
    struct Found {
        path: &'static str,
        lines: Vec<u32>,
    }
    #[derive(Deserialize, JsonSchema)]
    struct Nothing {}
    let tools = || {
        Tools::new()
            .add(Tool::new("text", |_: Nothing, _: &Call| {
                Ok("plain \"text\"\n")
            }))
            .add(Tool::new("nothing", |_: Nothing, _: &Call| Ok(())))
            .add(Tool::new("found", |_: Nothing, _: &Call| {
                Ok(Found {
                    path: "a",
                    lines: vec![1, 2],
                })
            }))
    };
    let result = |name| call(tools(), name, json!({}))["result"]["Ok"].clone();
    assert_eq!(result("text"), json!("plain \"text\"\n"));
    assert_eq!(result("nothing"), json!(""));
    assert_eq!(result("found"), json!(r#"{"path":"a","lines":[1,2]}"#));
}

#[test]
fn a_tool_that_is_not_there_is_reported_with_those_that_are() {
    let answer = call(cargo_check(), "cargo_test", json!({}));
    assert_snapshot!(
        answer["result"]["Err"]["message"].as_str().unwrap(),
        @"there is no tool `cargo_test` in this program; it has `cargo_check`"
    );
}

#[test]
fn wrong_arguments_are_explained() {
    let answer = call(cargo_check(), "cargo_check", json!({"package": 1}));
    assert_eq!(
        answer["result"]["Err"]["message"],
        json!("argument `package`: expected a string, got 1")
    );
}

fn delete() -> Tools {
    /// Deletes a file.
    #[derive(Deserialize, JsonSchema)]
    struct Delete {
        path: String,
    }
    let run = |args: Delete, call: &Call| {
        let sure = TypedQuestion::boolean("sure", format!("Delete {}?", args.path)).default(false);
        if !call.ask(sure)? {
            return Ok("kept".to_owned());
        }
        let why = call.ask(TypedQuestion::text("why", "Why?").pre_amble("It is recorded."))?;
        Ok(format!("deleted {} because {why}", args.path))
    };
    Tools::new()
        .add(Tool::new("delete", run).format_arguments(|args: Delete| format!("rm {}", args.path)))
}

#[test]
fn a_one_shot_is_run_again_with_every_answer() {
    let file = json!({"path": "a.txt"});
    let run = |answers| answered(delete(), "delete", file.clone(), answers);
    assert_eq!(
        run(json!({})),
        json!({
            "type": "waiting",
            "question": {
                "id": "sure",
                "text": "Delete a.txt?",
                "answer_type": "Boolean",
                "default": false,
            },
        })
    );
    assert_eq!(run(json!({"sure": false}))["result"]["Ok"], json!("kept"));
    assert_eq!(
        run(json!({"sure": true}))["question"],
        json!({"id": "why", "text": "Why?", "pre_amble": "It is recorded.", "answer_type": "Text"})
    );
    assert_eq!(
        run(json!({"sure": true, "why": "age"}))["result"]["Ok"],
        json!("deleted a.txt because age")
    );
}

#[test]
fn arguments_are_shown_as_the_tool_shows_them() {
    let show = |tools, name| {
        let tool = json!({"name": name, "arguments": {"path": "a.txt", "package": "a"}});
        run(
            tools,
            &json!({"action": "format_arguments", "root": "/"}),
            &tool,
        )
    };
    assert_eq!(
        schema(delete())["tools"][0]["format_arguments"],
        json!(true)
    );
    let (answer, code) = show(delete(), "delete");
    assert_eq!(answer["result"]["Ok"], json!("rm a.txt"));
    assert_eq!(code, ExitCode::SUCCESS);
    let (answer, code) = show(cargo_check(), "cargo_check");
    assert_eq!(
        answer["result"]["Err"]["message"],
        json!("tool `cargo_check` does not format its arguments itself")
    );
    assert_eq!(code, ExitCode::FAILURE);
}

/// Git, step by step.
#[derive(Deserialize, JsonSchema)]
struct Git {
    #[serde(default)]
    args: Vec<String>,
}

fn git(input: bool) -> Tools {
    let stage = InteractiveCommand::new("stage", "Choose hunks.", |git: Git, _| {
        Ok(Exec::terminal("git")
            .args(["add", "--patch"])
            .args(git.args))
    });
    let log = InteractiveCommand::new("log", "Show the history.", |git: Git, call| {
        Ok(Exec::new("git").arg("log").args(git.args).cwd(call.root()))
    });
    let stage = if input { stage.takes_input() } else { stage };
    Tools::new().add(Tool::interactive("git", [stage, log]))
}

#[test]
fn the_schema_of_an_interactive_tool_follows_from_its_commands() {
    let answer = schema(git(true));
    assert_eq!(
        answer["tools"][0],
        json!({
            "name": "git",
            "summary": "Git, step by step.",
            "parameters": {
                "command": {
                    "type": "string",
                    "summary": "What to do.",
                    "description": "- stage: Choose hunks. Takes input.\n- log: Show the history.",
                    "enum": ["stage", "log"],
                },
                "args": {"type": "array", "items": {"type": "string"}, "default": []},
            },
            "spawn": {"stateful": true, "io": "text"},
        })
    );
    let quiet = schema(git(false));
    assert_eq!(
        quiet["tools"][0]["spawn"]["actions"],
        json!(["spawn", "fetch", "abort"])
    );
}

#[test]
fn an_interactive_tool_answers_with_its_program() {
    let answer = call(
        git(true),
        "git",
        json!({"command": "stage", "args": ["a.rs"]}),
    );
    assert_eq!(
        answer,
        json!({
            "type": "exec",
            "program": "git",
            "args": ["add", "--patch", "a.rs"],
            "io": "terminal",
        })
    );
    let answer = call(git(true), "git", json!({"command": "push"}));
    assert_snapshot!(
        answer["result"]["Err"]["message"].as_str().unwrap(),
        @r#"argument `command`: expected one of "stage", "log", got "push""#
    );
    let answer = call(git(true), "git", json!({}));
    assert_snapshot!(
        answer["result"]["Err"]["message"].as_str().unwrap(),
        @r#"argument `command` is missing; expected one of "stage", "log""#
    );
}

#[test]
fn a_stateful_tool_says_so() {
    let spawn = |tool: Tool| schema(Tools::new().add(tool))["tools"][0]["spawn"].clone();
    let tool = || Tool::stateful::<CargoCheck>("check");
    assert_eq!(spawn(tool()), json!({"stateful": true, "io": "state"}));
    let watched = [
        HandleAction::Abort,
        HandleAction::Spawn,
        HandleAction::Fetch,
    ];
    assert_eq!(
        spawn(tool().actions(watched)),
        json!({"stateful": true, "actions": ["spawn", "fetch", "abort"], "io": "state"})
    );
}

#[test]
fn options_of_the_config_are_read_with_their_type() {
    let run_with = |options: Value| {
        let run = |_: CargoCheck, call: &Call| Ok(call.option::<u32>("jobs")?.unwrap_or(1));
        let tool = json!({"name": "check", "arguments": {"package": "a"}, "options": options});
        let context = json!({"action": "run", "root": "/"});
        let tools = Tools::new().add(Tool::new("check", run));
        self::run(tools, &context, &tool).0["result"].clone()
    };
    assert_eq!(run_with(json!({}))["Ok"], json!("1"));
    assert_eq!(run_with(json!({"jobs": 4}))["Ok"], json!("4"));
    assert_eq!(
        run_with(json!({"jobs": "all"}))["Err"]["message"],
        json!("option `jobs`: invalid type: string \"all\", expected u32")
    );
}

#[test]
fn what_no_model_could_be_given_is_found_before_one_is() {
    #[derive(Deserialize, JsonSchema)]
    struct Taken {
        #[serde(rename = "input")]
        _input: String,
    }
    impl Stateful for Taken {
        async fn run(self, _: ToolHandle) -> Result<String, Error> {
            Ok(String::new())
        }
    }
    #[derive(Deserialize, JsonSchema)]
    enum NotStruct {
        One,
    }
    let nothing = |_: CargoCheck, _: &Call| Ok("");
    let error = |tools: Tools| tools.descriptions().unwrap_err().to_string();
    let tools = cargo_check().add(Tool::new("cargo_check", nothing));
    assert_eq!(
        error(tools),
        "two tools are named `cargo_check`; rename one of them"
    );
    let tools = Tools::new().add(Tool::new("no spaces", nothing));
    assert_snapshot!(
        error(tools),
        @"tool `no spaces`: `no spaces` cannot be a tool's name; use a letter or `_`, then up to 47 of A-Z a-z 0-9 _ -"
    );
    let tools = Tools::new().add(Tool::stateful::<Taken>("taken"));
    assert_snapshot!(
        error(tools),
        @"tool `taken`: a tool with actions cannot have a parameter `input`; action, id, input, view, keys, enter are reserved"
    );
    let one = |args: NotStruct, _: &Call| match args {
        NotStruct::One => Ok(""),
    };
    let tools = Tools::new().add(Tool::new("one", one));
    assert_snapshot!(
        error(tools),
        @"the arguments of tool `one` are not a struct with named fields; wrap them in one, and put enums into its fields"
    );
}

#[test]
fn a_program_that_cannot_describe_itself_fails() {
    let nothing = |_: CargoCheck, _: &Call| Ok("");
    let tools = cargo_check().add(Tool::new("cargo_check", nothing));
    let (answer, code) = run(tools, &json!({"action": "schema", "root": "/"}), &json!({}));
    assert_eq!(answer, Value::Null);
    assert_eq!(code, ExitCode::FAILURE);
}
