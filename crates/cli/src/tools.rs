//! `windlass tools`: what there is, and how a model sees it.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::str::FromStr;

use anyhow::bail;
use serde_json::{Value, json};
use windlass_protocol::HandleAction;
use windlass_runtime::ToolDefinition;
use windlass_schema::{Dialect, render};

use crate::args::{Global, ToolsArgs};
use crate::setup;

pub(crate) async fn run(global: &Global, args: &ToolsArgs) -> anyhow::Result<ExitCode> {
    let dialect = args.dialect.as_deref().map(Dialect::from_str).transpose()?;
    let windlass = setup::windlass(global).await?;
    let tools = windlass.runtime().tools();
    let offered: Vec<&ToolDefinition> = tools.offered().map(|tool| tool.definition()).collect();
    if let Some(name) = &args.name {
        let Some(tool) = offered.iter().find(|tool| tool.name == *name) else {
            let names: Vec<&str> = offered.iter().map(|tool| tool.name.as_str()).collect();
            bail!(
                "there is no tool `{name}`; the tools are {}",
                names.join(", ")
            );
        };
        return print_json(&schema(tool, dialect.unwrap_or(Dialect::JsonSchema)));
    }
    if let Some(dialect) = dialect {
        let schemas: Vec<Value> = offered.iter().map(|tool| schema(tool, dialect)).collect();
        return print_json(&Value::Array(schemas));
    }
    if global.json || !std::io::stdout().is_terminal() {
        let tools: Vec<Value> = offered.iter().map(|tool| outline(tool)).collect();
        return print_json(&Value::Array(tools));
    }
    print_table(&offered)
}

fn schema(tool: &ToolDefinition, dialect: Dialect) -> Value {
    json!({
        "name": tool.name,
        "description": tool.summary.as_ref().or(tool.description.as_ref()),
        "parameters": render(&tool.shape, dialect),
    })
}

fn outline(tool: &ToolDefinition) -> Value {
    json!({
        "name": tool.name,
        "source": tool.origin,
        "actions": actions(tool),
        "summary": tool.summary,
    })
}

fn actions(tool: &ToolDefinition) -> Vec<&'static str> {
    tool.shape
        .actions
        .iter()
        .map(HandleAction::as_str)
        .collect()
}

fn print_json(value: &Value) -> anyhow::Result<ExitCode> {
    let mut stdout = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut stdout, value)?;
    writeln!(stdout)?;
    Ok(ExitCode::SUCCESS)
}

fn print_table(tools: &[&ToolDefinition]) -> anyhow::Result<ExitCode> {
    let width =
        |text: fn(&ToolDefinition) -> usize| tools.iter().map(|tool| text(tool)).max().unwrap_or(0);
    let name = width(|tool| tool.name.len());
    let origin = width(|tool| tool.origin.len());
    let action = width(|tool| actions(tool).join(" ").len());
    let mut stdout = std::io::stdout().lock();
    for tool in tools {
        writeln!(
            stdout,
            "{:name$}  {:origin$}  {:action$}  {}",
            tool.name,
            tool.origin,
            actions(tool).join(" "),
            tool.summary.as_deref().unwrap_or_default(),
        )?;
    }
    Ok(ExitCode::SUCCESS)
}
