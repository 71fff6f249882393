//! `cargo xtask tidy`: checks beyond those of the compiler.
//!
//! [`arrows`], [`manifests`], [`targets`], [`forgotten`], [`leaving`], [`skips`] and [`ratchet`] are errors;
//! [`size`] only warns, since a long file may still be one idea.

mod arrows;
mod forgotten;
mod leaving;
mod manifests;
mod ratchet;
mod size;
mod skips;
mod targets;

use std::path::Path;

use anyhow::{Context, bail};
use cargo_metadata::{Metadata, MetadataCommand};

use crate::workspace;

/// Runs the chore: checks, or with `--tighten` lowers the ratchet's counts.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    match arguments {
        [] => check(),
        [only] if only == "--tighten" => ratchet::tighten(),
        [other, ..] => bail!("`tidy` takes `--tighten` or nothing, but `{other}` was given"),
    }
}

/// Checks the workspace and prints the faults; fails if there are any.
pub(crate) fn check() -> anyhow::Result<()> {
    let metadata = MetadataCommand::new()
        .current_dir(workspace::root())
        .no_deps()
        .exec()
        .context("cannot ask cargo for the workspace's metadata")?;
    let mut faults = arrows::check(&arrows::read(&metadata));
    faults.extend(targets::check(&metadata)?);
    for folder in members(&metadata) {
        faults.extend(manifests::check(&folder.join("Cargo.toml"))?);
        faults.extend(forgotten::check(folder)?);
        for warning in size::check(folder)? {
            println!("warning: {warning}");
        }
    }
    let sources = leaving::sources(members(&metadata))?;
    faults.extend(leaving::check(&sources)?);
    faults.extend(skips::check(&sources)?);
    let tally = ratchet::check()?;
    for count in &tally.counts {
        println!("{count}");
    }
    for hint in &tally.hints {
        println!("hint: {hint}");
    }
    faults.extend(tally.faults);
    for fault in &faults {
        println!("error: {fault}");
    }
    match faults.len() {
        0 => {
            println!("tidy: all is well");
            Ok(())
        }
        1 => bail!("tidy found one fault"),
        count => bail!("tidy found {count} faults"),
    }
}

fn members(metadata: &Metadata) -> impl Iterator<Item = &Path> {
    metadata
        .workspace_packages()
        .into_iter()
        .filter_map(|package| package.manifest_path.as_std_path().parent())
}

/// A path relative to the workspace's root.
fn shown(path: &Path) -> String {
    path.strip_prefix(workspace::root())
        .unwrap_or(path)
        .display()
        .to_string()
}
