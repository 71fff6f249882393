//! `cargo xtask agents`: real agents with Windlass, as a user sets them up.
//!
//! Start at [`run`]. Each agent of [`agent::ALL`] comes from npm, gets a home
//! of its own, a key that opens nothing and a scripted model on loopback, and
//! is given Windlass by `windlass mcp install`. What the model says and what
//! must come of it stands in [`sitting`]; in [`restart`] the agent is killed and
//! started again while a tool of it is kept. Nothing here is judged by what an
//! agent claims: files that tools wrote, what the model was sent and what is
//! left running decide.

mod agent;
mod npm;
mod restart;
mod sitting;
mod stage;
mod terminal;

use std::path::PathBuf;

use anyhow::{Context, ensure};

use crate::{packages, workspace};
use agent::Agent;
use sitting::Verdict;
use stage::Stage;

/// Runs the sitting with every agent, or with those that are named, and prints
/// a table. An agent that cannot be installed is skipped, and that is said.
pub(crate) fn run(names: &[String]) -> anyhow::Result<()> {
    let agents = chosen(names)?;
    let programs = build()?;
    let mut rows = Vec::new();
    for agent in agents {
        println!("== {}", agent.title);
        let row = match npm::provide(agent.package) {
            Err(why) => Row::skipped(agent, &why),
            Ok(installed) => {
                let version = npm::version(&installed.program, &programs.node)?;
                let stage = Stage::set(agent, &installed, &programs, &sitting::scenery())?;
                let mut verdict = stage.play()?;
                if !agent.is_interactive {
                    let stage = Stage::set(agent, &installed, &programs, &restart::scenery())?;
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
        "not every agent could use Windlass"
    );
    Ok(())
}

/// The programs of ours that are needed.
pub(crate) struct Programs {
    windlass: PathBuf,
    model: PathBuf,
    /// The folder of the Node that runs agents.
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
            format!("`{name}` is no agent; there are {}", known.join(", "))
        })
    };
    names.iter().map(find).collect()
}

fn build() -> anyhow::Result<Programs> {
    let windlass = workspace::build_windlass()?;
    let model = [
        "--package",
        "windlass-testing",
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
