//! The examples of the documentation and of the design load.

use windlass_protocol::{HandleAction, IoMode};
use windlass_runtime::OnTurnEnd;

use crate::support::load_text;

const PAGE: &str = include_str!("../../../../docs/reference/config.md");

#[test]
fn every_example_of_the_reference_loads() {
    let blocks: Vec<_> = PAGE
        .split("```toml\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap())
        .collect();
    assert!(blocks.len() >= 4, "{}", blocks.len());
    for block in blocks {
        let config = load_text(block);
        assert!(!config.tools.is_empty(), "{block}");
        assert!(config.warnings.is_empty(), "{block}");
    }
}

#[test]
fn a_build_tool_that_lasts() {
    let config = load_text(
        r#"
[conversation.tools.cargo_check]
source = "local"                       # local | builtin | mcp, with `.name` or as a table
command = "my-tools {{context}} {{tool}}"   # or { program, args, shell }
run = "ask"                            # or a table per action
[conversation.tools.cargo_check.spawn]
stateful = true
actions = ["spawn", "fetch", "abort"]
io = "text"                            # text | terminal | state (NDJSON both ways)
[conversation.tools.cargo_check.spawn.notifications]
on_success = true
[conversation.tools.cargo_check.spawn.lifecycle]
on_turn_end = "inquire"
"#,
    );
    let tool = config.tool("cargo_check").unwrap();
    let command = tool.command.as_ref().unwrap();
    assert_eq!(command.program, "my-tools");
    assert_eq!(command.args, ["{{context}}", "{{tool}}"]);
    assert_eq!(tool.io, IoMode::Text);
    assert!(tool.asks_program);
    let actions: Vec<_> = tool.definition.shape.actions.iter().collect();
    assert_eq!(
        actions,
        [
            HandleAction::Spawn,
            HandleAction::Fetch,
            HandleAction::Abort
        ]
    );
}

#[test]
fn policies_for_handles() {
    let config = load_text(
        r#"
[conversation.tools.cargo_check]
source = "local"
command = "my-tools"
[conversation.tools.cargo_check.spawn]
stateful = true

# Notification policy: when should JP notify the assistant about this handle?
[conversation.tools.cargo_check.spawn.notifications]
on_success = true # handle stopped with Ok result
on_failure = true # handle stopped with Err result
on_waiting = true # handle entered Waiting state (needs input)
on_content = false # new output while Running (noisy for builds)

[conversation.tools.cargo_check.spawn.lifecycle]
on_turn_end = "inquire" # "inquire" | "await" | "abort"
"#,
    );
    let definition = &config.tool("cargo_check").unwrap().definition;
    assert_eq!(
        definition.notifications,
        windlass_runtime::Notifications::default()
    );
    assert_eq!(definition.lifecycle.on_turn_end, OnTurnEnd::Inquire);
    assert_eq!(definition.shape.actions.iter().count(), 4);
}

#[test]
fn a_program_that_describes_itself() {
    let config = load_text(
        r#"
[conversation.tools.my_tool]
source = "local"
command = "my-tool-binary"
"#,
    );
    let tool = config.tool("my_tool").unwrap();
    assert!(tool.asks_program);
    assert!(!tool.command.as_ref().unwrap().has_template());
    assert!(tool.definition.shape.actions.is_empty());
    assert_eq!(tool.settings.spawn.stateful, None, "the program may say so");
}
