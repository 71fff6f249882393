//! `windlass tools check`: queries every program again, and reports every
//! problem.

use std::io::Write;
use std::process::ExitCode;

use serde_json::{Value, json};
use windlass::{DescriptionCaching, ToolProblem, Windlass};
use windlass_runtime::ToolDefinition;

use crate::args::Global;
use crate::exit;
use crate::setup;
use crate::stdout::{self, errln};

pub(super) async fn run(global: &Global) -> anyhow::Result<ExitCode> {
    let config = setup::config(global)?;
    for warning in &config.warnings {
        errln!("windlass: {warning}");
    }
    let windlass = Windlass::asking(config, DescriptionCaching::Anew).await?;
    let tools = windlass.runtime().tools().offered();
    let tools: Vec<&ToolDefinition> = tools.map(|tool| tool.definition()).collect();
    let problems = windlass.problems();
    let mut stdout = stdout::lock();
    if global.json {
        let report = json!({
            "tools": tools.iter().map(|tool| json!({"name": tool.name, "definition": tool.origin})).collect::<Vec<Value>>(),
            "problems": problems.iter().map(to_json).collect::<Vec<Value>>(),
            "warnings": windlass.advice().iter().map(to_json).collect::<Vec<Value>>(),
        });
        writeln!(stdout, "{report:#}")?;
    } else {
        for tool in &tools {
            writeln!(stdout, "ok       {} ({})", tool.name, tool.origin)?;
        }
        for advice in windlass.advice() {
            writeln!(stdout, "warning  {advice}")?;
        }
        for problem in problems {
            writeln!(stdout, "problem  {problem}")?;
        }
    }
    Ok(if problems.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(exit::FAILED)
    })
}

fn to_json(problem: &ToolProblem) -> Value {
    json!({
        "tool": problem.tool,
        "place": problem.place.as_ref().map(ToString::to_string),
        "problem": problem.problem,
        "offered": problem.offered,
    })
}
