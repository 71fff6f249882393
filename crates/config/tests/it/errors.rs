//! What people read when a configuration is wrong.

use insta::assert_snapshot;

use crate::support::{Folder, error_of};

#[test]
fn an_unknown_key_names_the_nearest_one() {
    assert_snapshot!(error_of("[conversation.tools.x]\nsource = \"local\"\ncomand = \"ls\"\n"), @r#"
    .windlass/config.toml:3:1: unknown key `comand` in `conversation.tools.x`; did you mean `command`?
    3 | comand = "ls"
      | ^^^^^^
    "#);
}

#[test]
fn an_unknown_key_that_is_like_none_lists_them() {
    assert_snapshot!(error_of("[conversation.tools.x.spawn.lifecycle]\nzebra = 1\n"), @"
    .windlass/config.toml:2:1: unknown key `zebra` in `conversation.tools.x.spawn.lifecycle`; known here: `on_turn_end`, `timeout_secs`, `keep_secs`, `keepable_secs`
    2 | zebra = 1
      | ^^^^^
    ");
}

#[test]
fn a_key_of_the_wrong_table_is_sent_to_the_right_one() {
    assert_snapshot!(error_of("[conversation.tools.x]\ncommand = \"x\"\nstateful = true\n"), @"
    .windlass/config.toml:3:1: unknown key `stateful` in `conversation.tools.x`; it belongs in `conversation.tools.x.spawn`
    3 | stateful = true
      | ^^^^^^^^
    ");
    assert_snapshot!(error_of("[conversation.tools.'*']\ncommand = \"x\"\n"), @r#"
    .windlass/config.toml:2:1: unknown key `command` in `conversation.tools."*"`; it belongs to one tool; write it in that tool's own table
    2 | command = "x"
      | ^^^^^^^
    "#);
    assert_snapshot!(error_of("[conversation.tools.x.arguments.a]\ntype = \"string\"\n"), @"
    .windlass/config.toml:1:23: unknown key `arguments` in `conversation.tools.x`; did you mean `parameters`?
    1 | [conversation.tools.x.arguments.a]
      |                       ^^^^^^^^^
    ");
    assert_snapshot!(error_of("[tools.x]\ncommand = \"x\"\n"), @"
    .windlass/config.toml:1:2: unknown key `tools` in the top level; did you mean `conversation.tools`?
    1 | [tools.x]
      |  ^^^^^
    ");
}

#[test]
fn every_mistake_is_reported_with_its_own_file() {
    let folder = Folder::new(&[
        (
            "home/windlass/config.toml",
            "[conversation.tools.shell]\nrun = \"aks\"\n",
        ),
        (
            "project/.windlass/config.toml",
            "[conversation.tools.shell]\nrun = \"ask\"\ntimeout_secs = 0\noutput_limit = \"lots\"\n",
        ),
        (
            "project/.windlass/tools/x.toml",
            "[conversation.tools.x\n",
        ),
    ])
    .set("conversation.tools.shell.grace=2");
    assert_snapshot!(folder.error(), @r#"
    /home/windlass/config.toml:2:7: `conversation.tools.shell.run` must be one of "ask", "unattended", "edit", "skip", or a table per action, not "aks"; did you mean "ask"?
    2 | run = "aks"
      |       ^^^^^

    .windlass/config.toml:3:16: `conversation.tools.shell.timeout_secs` must be a number of seconds above 0 and at most 31536000 (a year), not 0
    3 | timeout_secs = 0
      |                ^

    .windlass/config.toml:4:16: `conversation.tools.shell.output_limit` must be a number of bytes above 0, or a string such as "32KiB" or "1GiB", not "lots"
    4 | output_limit = "lots"
      |                ^^^^^^

    .windlass/tools/x.toml:1:22: unclosed table, expected `]`
    1 | [conversation.tools.x
      |                      ^

    --set conversation.tools.shell.grace=2: unknown key `grace` in `conversation.tools.shell`; did you mean `grace_secs`?
    1 | conversation.tools.shell.grace=2
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    "#);
}

#[test]
fn a_wrong_value_says_what_would_work() {
    assert_snapshot!(error_of(r#"
[conversation.tools."*"]
enable = "perhaps"
secrets = "nobody"
options = 3
[conversation.tools.x]
command = ["x"]
source = "remote"
summary = 3
run = { fetch = "no" }
questions.a.target = "dog"
parameters.p.type = "text"
parameters.q = "string"
[conversation.tools.x.spawn]
stateful = "yes"
actions = ["spawn", "kill"]
io = "pty"
rows = 0
notifications = true
lifecycle.on_turn_end = "wait"
lifecycle.timeout_secs = -1
"#), @r#"
    .windlass/config.toml:3:10: `conversation.tools."*".enable` must be true or false, not "perhaps"
    3 | enable = "perhaps"
      |          ^^^^^^^^^

    .windlass/config.toml:4:11: `conversation.tools."*".secrets` must be one of "person", "assistant", not "nobody"
    4 | secrets = "nobody"
      |           ^^^^^^^^

    .windlass/config.toml:5:11: `conversation.tools."*".options` must be a table, not 3
    5 | options = 3
      |           ^

    .windlass/config.toml:7:11: `conversation.tools.x.command` must be a string, or a table with `program`, `args` and `shell`, not an array
    7 | command = ["x"]
      |           ^^^^^

    .windlass/config.toml:8:10: `conversation.tools.x.source` must be "local", "builtin" or "mcp", followed by `.NAME` if the source has another name for the tool ("mcp.SERVER.TOOL"), not "remote"
    8 | source = "remote"
      |          ^^^^^^^^

    .windlass/config.toml:9:11: `conversation.tools.x.summary` must be a string, not 3
    9 | summary = 3
      |           ^

    .windlass/config.toml:10:17: `conversation.tools.x.run.fetch` must be one of "ask", "unattended", "edit", "skip", not "no"
    10 | run = { fetch = "no" }
       |                 ^^^^

    .windlass/config.toml:11:22: `conversation.tools.x.questions.a.target` must be one of "user", "assistant", not "dog"
    11 | questions.a.target = "dog"
       |                      ^^^^^

    .windlass/config.toml:12:21: `conversation.tools.x.parameters.p.type` must be one of "string", "number", "integer", "boolean", "array", "object", "null", or an array of them, not "text"
    12 | parameters.p.type = "text"
       |                     ^^^^^^

    .windlass/config.toml:13:16: `conversation.tools.x.parameters.q` must be a table, not "string"
    13 | parameters.q = "string"
       |                ^^^^^^^^

    .windlass/config.toml:15:12: `conversation.tools.x.spawn.stateful` must be true or false, not "yes"
    15 | stateful = "yes"
       |            ^^^^^

    .windlass/config.toml:16:21: `conversation.tools.x.spawn.actions` must be made of "spawn", "fetch", "apply", "abort", not "kill"
    16 | actions = ["spawn", "kill"]
       |                     ^^^^^^

    .windlass/config.toml:17:6: `conversation.tools.x.spawn.io` must be one of "text", "terminal", "state", not "pty"
    17 | io = "pty"
       |      ^^^^^

    .windlass/config.toml:18:8: `conversation.tools.x.spawn.rows` must be a whole number from 1 to 512, not 0
    18 | rows = 0
       |        ^

    .windlass/config.toml:19:17: `conversation.tools.x.spawn.notifications` must be a table, not true
    19 | notifications = true
       |                 ^^^^

    .windlass/config.toml:20:25: `conversation.tools.x.spawn.lifecycle.on_turn_end` must be one of "inquire", "await", "abort", not "wait"; did you mean "await"?
    20 | lifecycle.on_turn_end = "wait"
       |                         ^^^^^^

    .windlass/config.toml:21:26: `conversation.tools.x.spawn.lifecycle.timeout_secs` must be a number of seconds from 0 to 31536000 (a year), not -1
    21 | lifecycle.timeout_secs = -1
       |                          ^^
    "#);
}

#[test]
fn a_local_tool_needs_a_command() {
    assert_snapshot!(error_of("[conversation.tools.x]\nsource = \"local\"\n"), @r#"
    .windlass/config.toml:1:21: tool `x` is local and has no `command`; add one, such as command = "my-program {{context}} {{tool}}"
    1 | [conversation.tools.x]
      |                     ^
    "#);
    assert_snapshot!(error_of("[conversation.tools.x]\nsource = \"local\"\ncommand = { args = [] }\n"), @r#"
    .windlass/config.toml:3:11: `conversation.tools.x.command` has no `program`; add one, such as program = "my-program"
    3 | command = { args = [] }
      |           ^^^^^^^^^^^^^
    "#);
    assert_snapshot!(error_of("[conversation.tools.x]\nsource = \"local\"\ncommand = \"x 'y\"\n"), @r#"
    .windlass/config.toml:3:11: `conversation.tools.x.command` has a quote that is not closed; close it, or give { program, args } instead
    3 | command = "x 'y"
      |           ^^^^^^
    "#);
}

#[test]
fn only_a_local_tool_may_have_a_command() {
    assert_snapshot!(error_of("[conversation.tools.shell]\ncommand = \"bash\"\n"), @r#"
    .windlass/config.toml:2:11: tool `shell` is not local, so its `command` would never run; remove it, or set source = "local"
    2 | command = "bash"
      |           ^^^^^^
    "#);
}

#[test]
fn a_tool_must_come_from_somewhere() {
    assert_snapshot!(error_of("[conversation.tools.x]\nrun = \"ask\"\n"), @r#"
    .windlass/config.toml:1:21: tool `x` has no `source`; add source = "local" and a `command`, or source = "mcp.SERVER"
    1 | [conversation.tools.x]
      |                     ^
    "#);
    assert_snapshot!(error_of("[conversation.tools.x]\nsource = \"builtin\"\n"), @r#"
    .windlass/config.toml:2:10: tool `x` uses the built-in tool `x`, which does not exist; the built-in tools are `shell`, `git`, `await`, `describe_tools`, `agent`
    2 | source = "builtin"
      |          ^^^^^^^^^
    "#);
    assert_snapshot!(error_of("[providers.mcp.docs]\ncommand = \"d\"\n[conversation.tools.x]\nsource = \"mcp.dogs.x\"\n"), @r#"
    .windlass/config.toml:4:10: tool `x` comes from the MCP server `dogs`, which is not configured; did you mean `docs`?
    4 | source = "mcp.dogs.x"
      |          ^^^^^^^^^^^^
    "#);
    assert_snapshot!(error_of("[conversation.tools.x]\nsource = { tool = \"y\" }\n"), @r#"
    .windlass/config.toml:2:10: `conversation.tools.x.source` must be a table with a `type` of "local", "builtin" or "mcp", not one without
    2 | source = { tool = "y" }
      |          ^^^^^^^^^^^^^^
    "#);
}

#[test]
fn actions_must_begin_with_a_spawn() {
    assert_snapshot!(error_of("[conversation.tools.x]\ncommand = \"x\"\n[conversation.tools.x.spawn]\nstateful = true\nactions = [\"fetch\", \"abort\"]\n"), @r#"
    .windlass/config.toml:5:11: tool `x` lists actions without "spawn", so no handle of it could be started; add "spawn", or remove `actions`
    5 | actions = ["fetch", "abort"]
      |           ^^^^^^^^^^^^^^^^^^
    "#);
}

#[test]
fn a_stateful_tool_may_not_have_a_reserved_parameter() {
    let toml = "[conversation.tools.x]\ncommand = \"x\"\n\n[conversation.tools.x.parameters.input]\ntype = \"string\"\n";
    assert_snapshot!(error_of(&format!("{toml}[conversation.tools.x.spawn]\nstateful = true\n")), @"
    .windlass/config.toml:4:34: `input` cannot be a parameter of `x`: its handles' actions use that name; rename it, or remove `spawn.stateful`
    4 | [conversation.tools.x.parameters.input]
      |                                  ^^^^^
    ");
    let folder = Folder::new(&[("project/.windlass/config.toml", toml)]);
    assert!(folder.load().is_ok(), "without handles the name is free");
}

#[test]
fn types_are_given_to_all_parameters_or_to_none() {
    assert_snapshot!(error_of("[conversation.tools.x]\ncommand = \"x\"\nparameters.a.type = \"string\"\nparameters.b.summary = \"b\"\n"), @r#"
    .windlass/config.toml:4:12: parameter `b` of `x` has no `type`, while others have one; give it a type, or remove the others' types so that the program describes its parameters
    4 | parameters.b.summary = "b"
      |            ^
    "#);
}

#[test]
fn a_tool_has_a_name_that_every_model_can_call() {
    assert_snapshot!(error_of("[conversation.tools.\"my tool\"]\ncommand = \"x\"\n"), @r#"
    .windlass/config.toml:1:21: `my tool` cannot be a tool's name; begin with a letter or `_` and use at most 48 of A-Z a-z 0-9 _ -
    1 | [conversation.tools."my tool"]
      |                     ^^^^^^^^^
    "#);
}

#[test]
fn a_server_is_reached_in_one_way() {
    assert_snapshot!(error_of("[providers.mcp.a]\n[providers.mcp.b]\ncommand = \"b\"\nurl = \"http://b\"\n[providers.mcp.c.command]\nargs = []\n"), @"
    .windlass/config.toml:1:16: MCP server `a` needs either a `command` or a `url`, and has neither
    1 | [providers.mcp.a]
      |                ^

    .windlass/config.toml:2:16: MCP server `b` needs either a `command` or a `url`, not both
    2 | [providers.mcp.b]
      |                ^

    .windlass/config.toml:5:16: MCP server `c` needs either a `command` or a `url`, and its `command` names no `program`
    5 | [providers.mcp.c.command]
      |                ^
    ");
    assert_snapshot!(error_of("[providers.mcp.c]\nurl = \"c\"\n"), @r#"
    .windlass/config.toml:2:7: `providers.mcp.c.url` must be an address that begins with http:// or https://, not "c"
    2 | url = "c"
      |       ^^^
    "#);
}

#[test]
fn carets_are_below_the_culprit_in_any_script() {
    assert_snapshot!(error_of("conversation.tools.x = { command = \"größe\", sumary = \"ü\" }\n"), @r#"
    .windlass/config.toml:1:45: unknown key `sumary` in `conversation.tools.x`; did you mean `summary`?
    1 | conversation.tools.x = { command = "größe", sumary = "ü" }
      |                                             ^^^^^^
    "#);
}

#[test]
fn a_flag_that_assigns_nothing_says_how_to() {
    assert_snapshot!(Folder::new(&[]).set("conversation.tools.shell").error(), @"
    --set conversation.tools.shell: `conversation.tools.shell` is not an assignment; write key=value, such as conversation.tools.shell.run=ask
    1 | conversation.tools.shell
      | ^^^^^^^^^^^^^^^^^^^^^^^^
    ");
}
