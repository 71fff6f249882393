//! What comes of tables that are right.

use std::time::Duration;

use serde_json::json;
use windlass_config::{
    CommandConfig, McpTools, McpTransport, RunSettings, SecretTarget, TaskSetting, ToolSource,
};
use windlass_protocol::{HandleAction, IoMode};
use windlass_runtime::{OnTurnEnd, QuestionTarget, RunMode, RunPolicy};

use crate::support::{load_own_text, load_text};

#[test]
fn a_tool_that_says_everything_gets_everything() {
    let config = load_own_text(
        r#"
[conversation.tools.x]
source = "local.y"
command = { program = "sh", args = ["-c", "{{tool}}"], shell = true }
summary = "s"
description = "d"
examples = ["e"]
run = { one_shot = "unattended", apply = "edit" }
timeout_secs = 1.5
grace_secs = 0
settle_max_secs = 3
output_limit = "1KiB"
log_limit = "1MB"
secrets = "assistant"
options = { a = [1, { b = 2 }] }
questions.q = { target = "assistant" }
questions.r.answer = true
parameters = {}
[conversation.tools.x.spawn]
stateful = true
io = "terminal"
rows = 50
cols = 132
record = true
notifications = { on_success = false, on_content = true }
lifecycle = { on_turn_end = "await", timeout_secs = 7 }
"#,
    );
    let tool = config.tool("x").unwrap();
    assert_eq!(
        tool.source,
        ToolSource::Local {
            tool: Some("y".to_owned())
        }
    );
    assert_eq!(tool.source_name(), "y");
    assert_eq!(
        tool.command,
        Some(CommandConfig {
            program: "sh".to_owned(),
            args: vec!["-c".to_owned(), "{{tool}}".to_owned()],
            shell: true,
        })
    );
    assert!(
        !tool.asks_program,
        "an empty table defines that there are none"
    );
    assert_eq!(tool.io, IoMode::Terminal);
    assert_eq!(
        (tool.rows, tool.cols, tool.record),
        (Some(50), Some(132), true)
    );
    assert_eq!(tool.log_limit, 1_000_000);
    assert_eq!(tool.secrets, SecretTarget::Assistant);
    assert_eq!(json!(tool.options), json!({ "a": [1, { "b": 2 }] }));
    let place = tool.place.as_ref().unwrap();
    assert_eq!((place.line, place.column), (2, 21));

    let definition = &tool.definition;
    assert_eq!(definition.origin, place.to_string());
    assert_eq!(definition.run.one_shot, RunMode::Unattended);
    assert_eq!(definition.run.spawn, RunMode::Ask);
    assert_eq!(definition.run.apply, RunMode::Edit);
    assert_eq!(definition.limits.timeout, Duration::from_millis(1500));
    assert_eq!(definition.limits.grace, Duration::ZERO);
    assert_eq!(definition.limits.settle_max, Duration::from_secs(3));
    assert_eq!(definition.limits.output_limit, 1024);
    assert!(!definition.notifications.on_success && definition.notifications.on_content);
    assert!(definition.notifications.on_failure && definition.notifications.on_waiting);
    assert_eq!(definition.lifecycle.on_turn_end, OnTurnEnd::Await);
    assert_eq!(definition.lifecycle.timeout, Duration::from_secs(7));
    assert_eq!(definition.questions["q"].target, QuestionTarget::Assistant);
    assert_eq!(definition.questions["r"].answer, Some(json!(true)));
    assert_eq!(
        definition.shape.actions.iter().count(),
        4,
        "all unless listed"
    );
    assert!(definition.shape.typing && !definition.shape.one_shot);
    assert!(definition.has_documentation());
}

#[test]
fn a_list_of_actions_makes_a_tool_stateful() {
    let config =
        load_text("[conversation.tools.x]\ncommand = 'x'\nspawn.actions = ['spawn', 'abort']");
    let shape = &config.tool("x").unwrap().definition.shape;
    let actions: Vec<_> = shape.actions.iter().collect();
    assert_eq!(actions, [HandleAction::Spawn, HandleAction::Abort]);
    assert!(!shape.typing, "text tools have exactly the seed's apply");
}

#[test]
fn a_later_layer_can_take_the_handles_away() {
    let config = load_text(
        "[conversation.tools.x]\ncommand = 'x'\nspawn = { actions = ['spawn'], stateful = false }",
    );
    let shape = &config.tool("x").unwrap().definition.shape;
    assert!(shape.actions.is_empty() && shape.one_shot);
}

#[test]
fn the_program_is_asked_unless_a_parameter_defines() {
    let config = load_text(
        r#"
[conversation.tools.asked]
source = "local"
command = "my-tool-binary"
[conversation.tools.changed]
source = "local"
command = "my-tool-binary"
parameters.a.summary = "ours"
[conversation.tools.defined]
source = "local"
command = "my-tool-binary"
parameters.a.type = "string"
"#,
    );
    let asked = config.tool("asked").unwrap();
    assert!(asked.asks_program && asked.overrides.is_empty());
    assert!(!asked.command.as_ref().unwrap().has_template());
    let changed = config.tool("changed").unwrap();
    assert!(changed.asks_program);
    assert_eq!(changed.overrides["a"].summary.as_deref(), Some("ours"));
    assert!(changed.definition.shape.parameters.properties.is_empty());
    let defined = config.tool("defined").unwrap();
    assert!(!defined.asks_program && defined.overrides.is_empty());
    assert_eq!(defined.definition.shape.parameters.required, [""; 0]);
}

#[test]
fn a_parameter_is_required_only_where_its_table_says_so() {
    let config = load_text(
        r#"
[conversation.tools.x]
command = "x {{tool}}"
parameters.a = { type = "string", required = true }
parameters.b = { type = "string", required = true, default = "b" }
parameters.c = { type = "string" }
parameters.d = { type = "object", properties = { e = { type = "string" }, f = { type = "string", required = true } } }
"#,
    );
    let parameters = &config.tool("x").unwrap().definition.shape.parameters;
    assert_eq!(parameters.required, ["a", "b"]);
    assert_eq!(
        parameters.properties["d"]["required"],
        serde_json::json!(["f"])
    );
}

#[test]
fn what_holds_for_every_tool_holds_for_the_built_in_ones_too() {
    let config = load_text(
        r#"
[conversation.tools."*"]
run = "skip"
timeout_secs = 9
options.a = 1
[conversation.tools.shell]
run = { fetch = "ask" }
options.b = 2
[conversation.tools.x]
command = "x"
run = "unattended"
"#,
    );
    let shell = config.builtin("shell").unwrap();
    assert_eq!(shell.source, ToolSource::Builtin { tool: None });
    assert_eq!(shell.definition.run.one_shot, RunMode::Skip);
    assert_eq!(shell.definition.run.fetch, RunMode::Ask);
    assert_eq!(shell.definition.limits.timeout, Duration::from_secs(9));
    assert_eq!(json!(shell.options), json!({ "a": 1, "b": 2 }));
    let git = config.builtin("git").unwrap();
    assert_eq!(git.definition.run.spawn, RunMode::Skip);
    assert!(config.tool("git").is_none(), "no table, no entry");
    let x = config.tool("x").unwrap();
    assert_eq!(x.definition.run, RunPolicy::starting(RunMode::Unattended));
    assert_eq!(x.definition.limits.timeout, Duration::from_secs(9));
}

#[test]
fn tools_that_only_look_are_not_asked_about_with_the_others() {
    let every = "[conversation.tools.'*']\nrun = 'ask'\nenable = false\ntimeout_secs = 9\n";
    for table in ["", "[conversation.tools.await]\n"] {
        let config = load_text(&format!("{every}{table}"));
        let looks = config.builtin("await").unwrap();
        assert_eq!(looks.settings.run, RunSettings::default(), "{table}");
        assert!(looks.enabled, "{table}");
        assert_eq!(looks.settings.timeout, Some(Duration::from_secs(9)));
        assert!(!config.builtin("shell").unwrap().enabled);
    }
    let config = load_text(&format!(
        "{every}[conversation.tools.await]\nenable = false"
    ));
    assert!(!config.builtin("await").unwrap().enabled);
}

#[test]
fn it_is_known_whether_run_was_said() {
    let config = load_text("[conversation.tools.x]\ncommand = 'x'");
    let x = config.tool("x").unwrap();
    assert_eq!(x.settings.run, RunSettings::default());
    assert_eq!(x.definition.run, RunPolicy::default());
}

#[test]
fn a_built_in_tool_can_be_left_out_renamed_and_replaced() {
    let config = load_text(
        r#"
[conversation.tools.shell]
enable = false
[conversation.tools.sh]
source = "builtin.shell"
[conversation.tools.git]
source = "local"
command = "my-git {{context}} {{tool}}"
"#,
    );
    assert!(!config.builtin("shell").unwrap().enabled);
    assert_eq!(config.tool("sh").unwrap().source_name(), "shell");
    assert!(config.builtin("git").is_none());
    assert!(config.builtin("nothing").is_none());
    let offered: Vec<_> = config.offered().map(|tool| tool.name.as_str()).collect();
    assert_eq!(offered, ["sh", "git"]);
    insta::assert_snapshot!(config.warnings.join("\n"), @"disabled by `enable`: `shell`; enable one with --set conversation.tools.shell.enable=true");
}

#[test]
fn sources_may_be_words_or_tables() {
    let config = load_text(
        r#"
[providers.mcp.docs]
command = "docs"
[conversation.tools]
a.source = "mcp"
b.source = "mcp.docs"
c.source = "mcp.docs.search.deep"
d.source = { type = "mcp", server = "docs", tool = "search" }
e = { source = { type = "local", tool = "f" }, command = "e" }
"#,
    );
    let mcp = |server: Option<&str>, tool: Option<&str>| ToolSource::Mcp {
        server: server.map(str::to_owned),
        tool: tool.map(str::to_owned),
    };
    let source = |name: &str| config.tool(name).unwrap().source.clone();
    assert_eq!(source("a"), mcp(None, None));
    assert_eq!(source("b"), mcp(Some("docs"), None));
    assert_eq!(source("c"), mcp(Some("docs"), Some("search.deep")));
    assert_eq!(source("d"), mcp(Some("docs"), Some("search")));
    assert_eq!(
        source("e"),
        ToolSource::Local {
            tool: Some("f".to_owned())
        }
    );
}

#[test]
fn calls_over_mcp_may_block_for_so_long() {
    assert_eq!(load_text("").mcp.max_block, None);
    let config = load_text("[mcp]\nmax_block_secs = 0.5");
    assert_eq!(config.mcp.max_block, Some(Duration::from_millis(500)));
}

#[test]
fn calls_over_mcp_become_tasks_when_the_config_says_so() {
    assert_eq!(load_text("").mcp.tasks, None);
    for (text, setting) in [
        ("\"auto\"", TaskSetting::Auto),
        ("\"never\"", TaskSetting::Never),
        ("0.25", TaskSetting::After(Duration::from_millis(250))),
    ] {
        let config = load_text(&format!("[mcp]\ntasks = {text}\nstructured = false"));
        assert_eq!(config.mcp.tasks, Some(setting));
        assert_eq!(config.mcp.structured, Some(false));
    }
}

#[test]
fn servers_are_started_or_called() {
    let config = load_text(
        r#"
[providers.mcp.a]
command = "npx -y 'a server'"
args = ["--stdio"]
env = { TOKEN = "t" }
optional = true
startup_timeout_secs = 0
tools = "all"
[providers.mcp.b]
type = "http"
url = "https://example.com/mcp"
headers.Authorization = "Bearer t"
tools = ["one", "two"]
"#,
    );
    let [a, b] = config.mcp_servers.as_slice() else {
        panic!("{:?}", config.mcp_servers);
    };
    let McpTransport::Stdio { command, env, .. } = &a.transport else {
        panic!("{a:?}");
    };
    assert_eq!(command.program, "npx");
    assert_eq!(command.args, ["-y", "a server", "--stdio"]);
    assert_eq!(env["TOKEN"], "t");
    assert!(a.optional);
    assert_eq!(a.startup_timeout, None);
    assert_eq!(a.tools, McpTools::All);
    assert_eq!(
        b.tools,
        McpTools::Listed(vec!["one".to_owned(), "two".to_owned()])
    );
    let offered = config.mcp_tool("a", "x/y.z");
    assert_eq!(
        (&*offered.name, offered.source_name()),
        ("a_x_y_z", "x/y.z")
    );
    let McpTransport::Http { url, headers } = &b.transport else {
        panic!("{b:?}");
    };
    assert_eq!(url, "https://example.com/mcp");
    assert_eq!(headers["Authorization"], "Bearer t");
    assert_eq!(b.startup_timeout, Some(Duration::from_mins(1)));
}

#[test]
fn nested_parameters_and_schema_keywords_are_passed_on() {
    let config = load_text(
        r#"
[conversation.tools.x]
command = "x {{tool}}"
[conversation.tools.x.parameters.patches]
type = "array"
required = true
minItems = 1
items.type = "object"
[conversation.tools.x.parameters.patches.items.properties.path]
type = "string"
summary = "The file."
required = true
[conversation.tools.x.parameters.patches.items.properties.ids]
type = ["array", "null"]
items = { type = "integer", minimum = 0 }
required = false
[conversation.tools.x.parameters.mode]
type = "string"
enum = ["fast", "slow"]
default = "fast"
"#,
    );
    let parameters = &config.tool("x").unwrap().definition.shape.parameters;
    insta::assert_json_snapshot!(parameters.to_object_schema(), @r#"
    {
      "type": "object",
      "properties": {
        "patches": {
          "type": "array",
          "items": {
            "type": "object",
            "properties": {
              "path": {
                "type": "string",
                "description": "The file."
              },
              "ids": {
                "type": [
                  "array",
                  "null"
                ],
                "items": {
                  "type": "integer",
                  "minimum": 0
                }
              }
            },
            "required": [
              "path"
            ]
          },
          "minItems": 1
        },
        "mode": {
          "type": "string",
          "enum": [
            "fast",
            "slow"
          ],
          "default": "fast"
        }
      },
      "required": [
        "patches"
      ],
      "additionalProperties": false
    }
    "#);
}

#[test]
fn permissions_are_rules_in_the_order_in_which_they_were_said() {
    let config = load_own_text(
        r#"
        [conversation]
        record = false
        record_failure = "stop"
        [conversation.tools."*".permissions]
        "rm *" = "deny"
        [conversation.tools.shell.permissions]
        "git *" = "allow"
        "git push *" = "ask"
        apply = { y = "allow" }
        "#,
    );
    assert!(!config.record);
    assert_eq!(config.record_failure, windlass_runtime::RecordFailure::Stop);
    let rules: Vec<String> = config
        .tool("shell")
        .unwrap()
        .definition
        .permissions
        .iter()
        .map(|rule| format!("{} {} {:?}", rule.permission, rule.pattern, rule.action))
        .collect();
    assert_eq!(
        rules,
        [
            "shell rm * Deny",
            "shell git * Allow",
            "shell git push * Ask",
            "shell.apply y Allow"
        ]
    );
    let git = config.builtin("git").unwrap().definition;
    assert_eq!(git.permissions.len(), 1);
    assert_eq!(git.permissions[0].permission, "git");
}
