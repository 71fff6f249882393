//! Files as JP has them load as they are.

use windlass_config::ToolSource;
use windlass_runtime::{QuestionTarget, RunMode};

use crate::support::{Folder, load_text};

const STAGE: &str = r#"
[conversation.tools.stage_hunks]
enable = "explicit"
run = "unattended"
style.inline_results = "full"

source = "local"
command = "just tools {{context}} {{tool}}"
summary = "Stage hunks of one or more files."
description = """
The hunks come from `list_hunks`.
"""
examples = """
{"hunks": [{"path": "src/lib.rs", "ids": [0, 2]}]}
"""

questions.stage_changes.target = "assistant"
questions.other.target = { model.id = "small" }

[[conversation.tools.stage_hunks.access.fs]]
path = "."
update = true

[conversation.tools.stage_hunks.parameters.hunks]
type = "array"
required = true
summary = "Files with the hunks to stage."
items.type = "object"

[conversation.tools.stage_hunks.parameters.hunks.items.properties.path]
type = "string"
required = true
"#;

const OLDER: &str = r#"
[conversation.tools.check]
enable = false
run = "always"
result = "always"
format = "ask"
style.inline_results = "off"
style.parameters = "just tools {{context}} {{tool}}"
source = "local"
command = "just tools {{context}} {{tool}}"
description = "Run a check."
[conversation.tools.check.parameters.package]
description = "Package to check."
type = "string"
"#;

#[test]
fn tool_files_load_and_unused_keys_are_said_once() {
    let folder = Folder::new(&[
        (
            "project/.windlass/config.toml",
            "[conversation.tools.'*']\nrun = \"ask\"\nstyle.results = 'off'\ncancellation_response = 'no'",
        ),
        ("project/.windlass/tools/check.toml", OLDER),
        ("project/.windlass/tools/stage.toml", STAGE),
    ]);
    let config = folder.load().unwrap_or_else(|error| panic!("{error}"));
    insta::assert_snapshot!(config.warnings.join("\n"), @"
    `style` has no effect in Windlass (.windlass/config.toml:3:1)
    `cancellation_response` has no effect in Windlass (.windlass/config.toml:4:1)
    `style` has no effect in Windlass (.windlass/tools/check.toml:7:1)
    `format` has no effect in Windlass (.windlass/tools/check.toml:6:1)
    `result` has no effect in Windlass (.windlass/tools/check.toml:5:1)
    `style` has no effect in Windlass (.windlass/tools/stage.toml:5:1)
    `access` is not enforced by Windlass (.windlass/tools/stage.toml:20:34)
    disabled by `enable`: `check`, `stage_hunks`; enable one with --set conversation.tools.check.enable=true
    ");

    let stage = config.tool("stage_hunks").unwrap();
    assert_eq!(stage.source, ToolSource::Local { tool: None });
    assert!(!stage.enabled && !stage.asks_program);
    let questions = &stage.definition.questions;
    assert_eq!(questions["stage_changes"].target, QuestionTarget::Assistant);
    assert_eq!(questions["other"].target, QuestionTarget::Assistant);
    let check = config.tool("check").unwrap();
    assert_eq!(check.definition.run.one_shot, RunMode::Unattended);
    assert!(!check.enabled);
}

#[test]
fn tools_of_a_server_that_a_project_does_not_have_load() {
    let config = load_text("[conversation.tools.readme]\nsource = 'mcp.books.crate_readme'\n");
    assert!(config.tool("readme").unwrap().enabled);
}

#[test]
fn a_tool_that_is_off_can_be_turned_on_from_outside() {
    let folder = Folder::new(&[("project/.windlass/tools/check.toml", OLDER)])
        .set("conversation.tools.check.enable=true");
    assert!(folder.load().unwrap().tool("check").unwrap().enabled);
}

#[test]
fn every_way_to_write_enable_is_understood() {
    for (value, enabled) in [
        ("true", true),
        ("false", false),
        ("'on'", true),
        ("'always'", true),
        ("'off'", false),
        ("'explicit'", false),
        ("{ state = true, allow_toggle = 'never' }", true),
        ("{ state = 'off' }", false),
        ("{ allow_toggle = 'never' }", true),
    ] {
        let config = load_text(&format!("[conversation.tools.shell]\nenable = {value}"));
        assert_eq!(config.tool("shell").unwrap().enabled, enabled, "{value}");
    }
}

#[test]
fn servers_load() {
    let config = load_text(
        r#"
[providers.mcp.crates]
type = "stdio"
command = "just"
arguments = ["serve-crates"]
variables = ["HOME"]
checksum.value = "00"

[conversation.tools.search_crates]
enable = true
run = "unattended"
source = "mcp.crates.search"
summary = "Search for crates."
style.parameters = "function_call"
parameters.query.summary = "Search query."
"#,
    );
    let tool = config.tool("search_crates").unwrap();
    assert_eq!(tool.source_name(), "search");
    assert_eq!(
        tool.overrides["query"].summary.as_deref(),
        Some("Search query.")
    );
    insta::assert_snapshot!(config.warnings.join("\n"), @"
    `style` has no effect in Windlass (.windlass/config.toml:14:1)
    `variables` has no effect in Windlass (.windlass/config.toml:6:1)
    `checksum` is not enforced by Windlass (.windlass/config.toml:7:1)
    ");
}
