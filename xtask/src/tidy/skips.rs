//! Checks that `xtask/skips.toml`, the list of the skips that a run may contain, names only tests and reasons that exist.

use anyhow::Context;

use crate::workspace;

use super::leaving::SourceText;

/// Every row of the list whose test or reason is in none of these sources.
pub(super) fn check(sources: &[SourceText]) -> anyhow::Result<Vec<String>> {
    let file = workspace::root().join("xtask/skips.toml");
    let shown = super::shown(&file);
    let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read `{shown}`"))?;
    stale(&text, sources).with_context(|| format!("cannot understand `{shown}`"))
}

fn stale(list: &str, sources: &[SourceText]) -> anyhow::Result<Vec<String>> {
    let table: toml::Table = list.parse()?;
    let rows = table.get("skip").and_then(toml::Value::as_array);
    let mut faults = Vec::new();
    for row in rows.context("`skip` must be a list")? {
        let field = |name: &str| {
            let field = row.get(name).and_then(toml::Value::as_str);
            field.with_context(|| format!("a row has no `{name}`"))
        };
        let (test, reason) = (field("test")?, field("reason")?);
        let name = test.rsplit("::").next().unwrap_or(test);
        let function = format!("fn {name}()");
        let literal = format!("\"{reason}\"");
        let is_found = |wanted: &String| sources.iter().any(|(_, text)| text.contains(wanted));
        if !is_found(&function) {
            faults.push(format!(
                "`xtask/skips.toml`: there is no test `{test}`; remove its row"
            ));
        } else if !is_found(&literal) {
            faults.push(format!(
                "`xtask/skips.toml`: no test gives the reason \"{reason}\"; correct the row of `{test}`"
            ));
        }
    }
    Ok(faults)
}

#[cfg(test)]
#[path = "skips_tests.rs"]
mod tests;
