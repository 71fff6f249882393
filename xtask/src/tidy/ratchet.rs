//! Counts that may only decrease.
//!
//! Four habits are counted in the sources of crates, and two in their tests: see [`Habit`].
//! `xtask/ratchet.toml` contains the allowed counts. A higher count is a fault,
//! a lower one is reported, and `cargo xtask tidy --tighten` writes the lower
//! counts. New places are found by comparison with the commit that last changed
//! the file.

mod git;
mod habits;
mod texts;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::workspace;

use habits::{Habit, Source, census};

/// The maximum number of listed places.
const LISTED: usize = 20;

/// The result of a comparison with the committed counts.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// One line per habit, with its count.
    pub(super) counts: Vec<String>,
    /// Every count that has increased.
    pub(super) faults: Vec<String>,
    /// Every count that has decreased: the file should be tightened.
    pub(super) hints: Vec<String>,
}

/// Counts the workspace and compares with the committed counts.
pub(super) fn check() -> anyhow::Result<Tally> {
    let limits = read_limits(&limits_file())?;
    let found = census(&sources(workspace::root())?)?;
    let mut tally = compare(&limits, &found);
    if tally.faults.is_empty() {
        return Ok(tally);
    }
    let risen = Habit::ALL
        .into_iter()
        .filter(|habit| found.count(*habit) > limits[habit]);
    let earlier = git::sources_at_last_tightening(&limits_file()).and_then(|all| census(&all));
    for (fault, habit) in tally.faults.iter_mut().zip(risen) {
        let news = match &earlier {
            Ok(earlier) => listed(&habits::news(earlier, &found, habit)),
            Err(error) => format!("; the new ones are unknown: {error:#}"),
        };
        fault.push_str(&news);
    }
    Ok(tally)
}

/// Lowers the committed counts to those of the workspace. If a count has
/// increased, returns an error and writes nothing.
pub(super) fn tighten() -> anyhow::Result<()> {
    let file = limits_file();
    let limits = read_limits(&file)?;
    let found = census(&sources(workspace::root())?)?;
    let tally = compare(&limits, &found);
    if let Some(fault) = tally.faults.first() {
        bail!("{fault}; `--tighten` only lowers");
    }
    let counts = Habit::ALL.map(|habit| (habit, found.count(habit)));
    std::fs::write(&file, written(&counts))
        .with_context(|| format!("cannot write `{}`", super::shown(&file)))?;
    for line in tally.counts {
        println!("{line}");
    }
    Ok(())
}

fn compare(limits: &BTreeMap<Habit, usize>, found: &habits::Census) -> Tally {
    let mut tally = Tally::default();
    for habit in Habit::ALL {
        let (count, limit) = (found.count(habit), limits[&habit]);
        tally.counts.push(format!("{habit}: {count}"));
        if count > limit {
            tally.faults.push(format!(
                "{habit}: {count}, but `xtask/ratchet.toml` allows {limit}; {}",
                habit.remedy()
            ));
        } else if count < limit {
            tally.hints.push(format!(
                "{habit}: fell from {limit} to {count}; keep it there with `cargo xtask tidy --tighten`"
            ));
        }
    }
    tally
}

fn listed(new: &[String]) -> String {
    let mut text = "; new since the counts were written:".to_owned();
    for place in new.iter().take(LISTED) {
        text.push_str("\n    ");
        text.push_str(place);
    }
    if new.len() > LISTED {
        let _ = write!(text, "\n    and {} more", new.len() - LISTED);
    }
    text
}

fn limits_file() -> PathBuf {
    workspace::root().join("xtask/ratchet.toml")
}

fn read_limits(file: &Path) -> anyhow::Result<BTreeMap<Habit, usize>> {
    let shown = super::shown(file);
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read `{shown}`"))?;
    limits(&text).with_context(|| format!("cannot understand `{shown}`"))
}

fn limits(text: &str) -> anyhow::Result<BTreeMap<Habit, usize>> {
    let table: toml::Table = text.parse()?;
    Habit::ALL
        .into_iter()
        .map(|habit| {
            let key = habit.key();
            let count = table
                .get(key)
                .and_then(toml::Value::as_integer)
                .and_then(|count| usize::try_from(count).ok())
                .with_context(|| format!("`{key}` must be a count"))?;
            Ok((habit, count))
        })
        .collect()
}

fn written(counts: &[(Habit, usize)]) -> String {
    let mut text = String::from(
        "# Counts that may only fall; `cargo xtask tidy` compares, `cargo xtask tidy --tighten` lowers them.\n",
    );
    for (habit, count) in counts {
        let _ = writeln!(text, "{} = {count}", habit.key());
    }
    text
}

/// Every file of the crates below `root` that is counted.
fn sources(root: &Path) -> anyhow::Result<Vec<Source>> {
    let mut paths = workspace::rust_files(&root.join("crates"))?;
    paths.extend(workspace::rust_files(&root.join("tests"))?);
    let mut sources = Vec::new();
    for path in paths {
        let name = path.strip_prefix(root).unwrap_or(&path);
        let name = name.display().to_string();
        if habits::kind(&name).is_none() {
            continue;
        }
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read `{name}`"))?;
        sources.push(Source { path: name, text });
    }
    Ok(sources)
}

#[cfg(test)]
#[path = "ratchet_tests.rs"]
mod tests;
