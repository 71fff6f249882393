//! Checks that every dependency of a member comes from the workspace's
//! manifest, so that a version is written once.

use std::path::Path;

use anyhow::Context;
use toml::{Table, Value};

const KINDS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// Every dependency of this manifest with its own version.
pub(super) fn check(manifest: &Path) -> anyhow::Result<Vec<String>> {
    let shown = super::shown(manifest);
    let text =
        std::fs::read_to_string(manifest).with_context(|| format!("cannot read `{shown}`"))?;
    let table: Table = text
        .parse()
        .with_context(|| format!("cannot understand `{shown}`"))?;
    Ok(strangers(&table)
        .map(|name| {
            format!("`{name}` in `{shown}` must say `workspace = true`; its version belongs in the root manifest")
        })
        .collect())
}

fn strangers(manifest: &Table) -> impl Iterator<Item = &String> {
    let for_targets = manifest
        .get("target")
        .and_then(Value::as_table)
        .into_iter()
        .flat_map(Table::values)
        .filter_map(Value::as_table);
    std::iter::once(manifest)
        .chain(for_targets)
        .flat_map(|table| KINDS.into_iter().filter_map(|kind| table.get(kind)))
        .filter_map(Value::as_table)
        .flatten()
        .filter(|(_, dependency)| dependency.get("workspace") != Some(&Value::Boolean(true)))
        .map(|(name, _)| name)
}

#[cfg(test)]
#[path = "manifests_tests.rs"]
mod tests;
