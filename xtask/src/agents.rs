//! `cargo xtask agents`: real agents with Windlass, as a user sets them up.
//!
//! Start at [`run`]. Each agent of [`agent::ALL`] is installed from npm. It
//! gets its own home, an invalid key and a scripted model on loopback, and
//! Windlass is added by `windlass mcp install`. [`sitting`] contains the
//! model's script and the expected results; in [`restart`] the agent is killed
//! and started again while one of its tools is kept. An agent's own claims do
//! not count: the results are judged by the files that tools wrote, the
//! requests to the model and the processes left running.

mod agent;
mod npm;
mod restart;
mod sitting;
mod stage;
mod terminal;

use std::path::PathBuf;

use anyhow::{Context, ensure};

use crate::sandboxed::ToolSandbox;
use crate::{packages, workspace};
use agent::Agent;
use sitting::Verdict;
use stage::Stage;

/// Runs the sitting with the named agents (default: all), and prints a table.
/// An agent that cannot be installed is reported as skipped. With
/// `--sandbox workspace` the tools of the agents run in a sandbox.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    let (sandbox, names) = ToolSandbox::read(arguments)?;
    let agents = chosen(&names)?;
    let programs = build()?;
    let mut rows = Vec::new();
    for agent in agents {
        println!("== {}", agent.title);
        let row = match npm::provide(agent.package) {
            Err(why) => Row::skipped(agent, &why),
            Ok(installed) => {
                let version = npm::version(&installed.program, &programs.node)?;
                let stage = Stage::set(agent, &installed, &programs, &sitting::scenery(sandbox))?;
                let mut verdict = stage.play()?;
                if !agent.is_interactive {
                    let stage =
                        Stage::set(agent, &installed, &programs, &restart::scenery(sandbox))?;
                    let restarted = restart::play(&stage)?;
                    verdict.seen.extend(restarted.seen);
                    verdict.faults.extend(restarted.faults);
                }
                Row::played(agent, version, &verdict)
            }
        };
        rows.push(row);
    }
    println!("\n{:<26} {:<10} what was seen", "agent", "version");
    for row in &rows {
        println!("{:<26} {:<10} {}", row.title, row.version, row.seen);
    }
    ensure!(
        rows.iter().all(|row| row.well),
        "some agents could not use Windlass"
    );
    Ok(())
}

/// Our programs that are needed.
pub(crate) struct Programs {
    windlass: PathBuf,
    model: PathBuf,
    /// The directory of the Node that runs agents.
    node: PathBuf,
}

struct Row {
    title: &'static str,
    version: String,
    seen: String,
    well: bool,
}

impl Row {
    fn skipped(agent: &Agent, why: &anyhow::Error) -> Self {
        Self {
            title: agent.title,
            version: "-".to_owned(),
            seen: format!("skipped: {why:#}"),
            well: true,
        }
    }

    fn played(agent: &Agent, version: String, verdict: &Verdict) -> Self {
        for fault in &verdict.faults {
            println!("{}: {fault}", agent.title);
        }
        let well = verdict.faults.is_empty();
        let seen = if well {
            let notes = verdict.notes.join("; ");
            format!("well: {}; {notes}", verdict.seen.join(", "))
        } else {
            format!("{} of the checks failed", verdict.faults.len())
        };
        Self {
            title: agent.title,
            version,
            seen,
            well,
        }
    }
}

fn chosen(names: &[String]) -> anyhow::Result<Vec<&'static Agent>> {
    if names.is_empty() {
        return Ok(agent::ALL.iter().collect());
    }
    let find = |name: &String| {
        let mut agents = agent::ALL.iter();
        agents.find(|agent| agent.name == name).with_context(|| {
            let known: Vec<_> = agent::ALL.iter().map(|agent| agent.name).collect();
            format!(
                "`{name}` is not an agent; the agents are {}",
                known.join(", ")
            )
        })
    };
    names.iter().map(find).collect()
}

fn build() -> anyhow::Result<Programs> {
    let windlass = workspace::build_windlass()?;
    let model = [
        "--package",
        "windlass-outside",
        "--example",
        "scripted-model",
    ];
    workspace::cargo(["build"].iter().chain(&model))?;
    Ok(Programs {
        windlass,
        model: workspace::built("examples/scripted-model")?,
        node: packages::node()?,
    })
}
