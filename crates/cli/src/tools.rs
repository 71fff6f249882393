//! `windlass tools`: what there is, how a model sees it, what is wrong with it,
//! and how one is begun.

mod check;
mod new;

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::str::FromStr;

use anyhow::bail;
use serde_json::{Value, json};
use windlass::Windlass;
use windlass::config::Source;
use windlass_protocol::HandleAction;
use windlass_runtime::ToolDefinition;
use windlass_schema::{Dialect, render};

use crate::args::{Global, ToolsArgs, ToolsCommand};
use crate::setup;
use crate::signals::Signals;
use crate::stdout::{self, print_json};
use crate::trust;

pub(crate) async fn run(global: &Global, args: &ToolsArgs) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::new()?;
    // A program that is asked for its tools may take its time.
    tokio::select! {
        done = carry_out(global, args) => done,
        code = signals.next() => Ok(ExitCode::from(code)),
    }
}

async fn carry_out(global: &Global, args: &ToolsArgs) -> anyhow::Result<ExitCode> {
    if !matches!(args.command, Some(ToolsCommand::New(_))) {
        trust::settle(global).await?;
    }
    match &args.command {
        Some(ToolsCommand::Check) => check::run(global).await,
        Some(ToolsCommand::New(tool)) => new::run(global, tool),
        None => show(global, args).await,
    }
}

async fn show(global: &Global, args: &ToolsArgs) -> anyhow::Result<ExitCode> {
    let dialect = args.dialect.as_deref().map(Dialect::from_str).transpose()?;
    let windlass = setup::windlass(global).await?;
    let tools = windlass.runtime().tools();
    let offered: Vec<&ToolDefinition> = tools.offered().map(|tool| tool.definition()).collect();
    if let Some(name) = &args.name {
        let Some(tool) = offered.iter().find(|tool| tool.name == *name) else {
            if let Some(why) = tools.unavailable(name) {
                bail!("`{name}` cannot be used: {why}");
            }
            let names: Vec<&str> = offered.iter().map(|tool| tool.name.as_str()).collect();
            bail!(
                "there is no tool `{name}`; the tools are {}",
                names.join(", ")
            );
        };
        let mut shown = schema(tool, dialect.unwrap_or(Dialect::JsonSchema));
        // Not part of what a model is given, and for whoever looks for the
        // reason why a program cannot log in.
        let hidden = windlass.hidden_variables(name);
        if dialect.is_none() && !hidden.is_empty() {
            shown["hidden_variables"] = json!(hidden);
        }
        return print_json(&shown);
    }
    if let Some(dialect) = dialect {
        let schemas: Vec<Value> = offered.iter().map(|tool| schema(tool, dialect)).collect();
        return print_json(&Value::Array(schemas));
    }
    let outlines: Vec<Outline> = offered
        .iter()
        .map(|tool| Outline::of(&windlass, tool))
        .collect();
    if global.json || !std::io::stdout().is_terminal() {
        let tools: Vec<Value> = outlines.iter().map(Outline::to_json).collect();
        return print_json(&Value::Array(tools));
    }
    print_table(&outlines)
}

fn schema(tool: &ToolDefinition, dialect: Dialect) -> Value {
    json!({
        "name": tool.name,
        "description": tool.summary.as_ref().or(tool.description.as_ref()),
        "parameters": render(&tool.shape, dialect),
    })
}

/// A tool in a line.
struct Outline<'a> {
    tool: &'a ToolDefinition,
    /// Where it comes from, as `source` is written.
    source: String,
}

impl<'a> Outline<'a> {
    fn of(windlass: &Windlass, tool: &'a ToolDefinition) -> Self {
        let source = windlass.config().tool(&tool.name).map(|tool| &tool.source);
        let named = |kind: &str, names: [&Option<String>; 2]| {
            let names = names.into_iter().flatten();
            names.fold(kind.to_owned(), |source, name| source + "." + name)
        };
        let source = match source {
            None => tool.origin.clone(),
            Some(Source::Local { tool }) => named("local", [tool, &None]),
            Some(Source::Builtin { tool }) => named("builtin", [tool, &None]),
            Some(Source::Mcp { server, tool }) => named("mcp", [server, tool]),
        };
        Self { tool, source }
    }

    fn actions(&self) -> Vec<&'static str> {
        self.tool
            .shape
            .actions
            .iter()
            .map(HandleAction::as_str)
            .collect()
    }

    fn to_json(&self) -> Value {
        json!({
            "name": self.tool.name,
            "source": self.source,
            "actions": self.actions(),
            "summary": self.tool.summary,
            "definition": self.tool.origin,
        })
    }

    fn cells(&self) -> [String; 5] {
        [
            self.tool.name.clone(),
            self.source.clone(),
            self.actions().join(" "),
            self.tool.origin.clone(),
            self.tool.summary.clone().unwrap_or_default(),
        ]
    }
}

fn print_table(outlines: &[Outline<'_>]) -> anyhow::Result<ExitCode> {
    let rows: Vec<[String; 5]> = outlines.iter().map(Outline::cells).collect();
    let widths: [usize; 5] = std::array::from_fn(|column| {
        let widths = rows.iter().map(|row| row[column].chars().count());
        widths.max().unwrap_or(0)
    });
    let mut stdout = stdout::lock();
    for row in rows {
        let cells = row.iter().zip(widths);
        let cells: Vec<String> = cells
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        writeln!(stdout, "{}", cells.join("  ").trim_end())?;
    }
    Ok(ExitCode::SUCCESS)
}
