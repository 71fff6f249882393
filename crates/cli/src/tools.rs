//! `windlass tools`: the tools, one of them in detail, their faults, and a new
//! one.

mod check;
mod detail;
mod new;

use std::process::ExitCode;
use std::str::FromStr;

use anyhow::bail;
use serde_json::{Value, json};
use windlass::Windlass;
use windlass::config::{ToolSource, nearest};
use windlass_protocol::HandleAction;
use windlass_runtime::ToolDefinition;
use windlass_schema::{Dialect, render};

use crate::args::{Global, ToolsArgs, ToolsCommand};
use crate::print::{self, Listing, Printer, cell, column};
use crate::setup;
use crate::signals::Signals;
use crate::stdout;
use crate::trust;

pub(crate) async fn run(global: &Global, args: &ToolsArgs) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::new()?;
    // Querying a program for its tools may take long.
    tokio::select! {
        done = carry_out(global, args) => done,
        code = signals.next() => Ok(ExitCode::from(code)),
    }
}

async fn carry_out(global: &Global, args: &ToolsArgs) -> anyhow::Result<ExitCode> {
    if !matches!(args.command, Some(ToolsCommand::New(_))) {
        trust::ask_if_untrusted(global).await?;
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
    let printer = Printer::new(global);
    let tools = windlass.runtime().tools();
    let offered: Vec<&ToolDefinition> = tools.offered().map(|tool| tool.definition()).collect();
    if let Some(name) = &args.name {
        let Some(tool) = offered.iter().find(|tool| tool.name == *name) else {
            if let Some(why) = tools.unavailable(name) {
                bail!("`{name}` cannot be used: {why}");
            }
            let names = offered.iter().map(|tool| tool.name.as_str());
            bail!("{}", unknown(name, names));
        };
        let hidden = windlass.hidden_variables(name);
        if !global.json && dialect.is_none() {
            stdout::write(
                detail::text(&Outline::of(&windlass, tool), &hidden, printer).as_bytes(),
            )?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut shown = schema(tool, dialect.unwrap_or(Dialect::JsonSchema));
        // No model receives these; they explain why a program cannot log in.
        if dialect.is_none() && !hidden.is_empty() {
            shown["hidden_variables"] = json!(hidden);
        }
        print::json(&shown)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(dialect) = dialect {
        let schemas: Vec<Value> = offered.iter().map(|tool| schema(tool, dialect)).collect();
        print::json(&Value::Array(schemas))?;
        return Ok(ExitCode::SUCCESS);
    }
    let columns = [
        column("TOOL"),
        column("SOURCE").cut_to(8).spare(1),
        column("ACTIONS").cut_to(10).spare(2),
        column("DEFINED BY").cut_to(10).spare(3),
        column("SUMMARY").cut_to(30),
    ];
    let mut listing = Listing::new(
        columns,
        "There are no tools; `windlass tools new` creates one.",
    );
    let outlines = offered.iter().map(|tool| Outline::of(&windlass, tool));
    let outlines: Vec<Outline> = outlines.collect();
    for outline in &outlines {
        let tool = outline.tool;
        listing.row([
            cell(&tool.name),
            cell(&outline.source),
            cell(outline.actions().join(" ")),
            cell(&tool.origin),
            cell(tool.summary.as_deref().unwrap_or_default()),
        ]);
    }
    let values: Vec<Value> = outlines.iter().map(Outline::to_json).collect();
    printer.list(values, &listing)?;
    Ok(ExitCode::SUCCESS)
}

/// The error for an unknown tool.
pub(crate) fn unknown<'a>(name: &str, names: impl Iterator<Item = &'a str> + Clone) -> String {
    if let Some(near) = nearest(name, names.clone()) {
        return format!("there is no tool `{name}`; did you mean `{near}`?");
    }
    let names: Vec<&str> = names.collect();
    format!(
        "there is no tool `{name}`; the tools are {}",
        names.join(", ")
    )
}

fn schema(tool: &ToolDefinition, dialect: Dialect) -> Value {
    json!({
        "name": tool.name,
        "description": tool.summary.as_ref().or(tool.description.as_ref()),
        "parameters": render(&tool.shape, dialect),
    })
}

/// A tool on one line.
struct Outline<'a> {
    tool: &'a ToolDefinition,
    /// Its origin, in the format of `source`.
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
            Some(ToolSource::Local { tool }) => named("local", [tool, &None]),
            Some(ToolSource::Builtin { tool }) => named("builtin", [tool, &None]),
            Some(ToolSource::Mcp { server, tool }) => named("mcp", [server, tool]),
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
}
