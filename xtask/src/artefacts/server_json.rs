//! `server.json`, by which the MCP registry finds the packages.

use anyhow::Context;
use serde_json::Value;

use crate::workspace;

/// The name of the server. The packages contain it as proof of ownership.
pub(super) fn name() -> anyhow::Result<String> {
    let path = workspace::root().join("server.json");
    let text = std::fs::read_to_string(path).context("cannot read `server.json`")?;
    let server: Value = serde_json::from_str(&text).context("cannot read `server.json`")?;
    let name = server["name"]
        .as_str()
        .context("`server.json` has no name")?;
    Ok(name.to_owned())
}

/// A README with the marker that `PyPI` packages need.
pub(super) fn marked(readme: &str) -> anyhow::Result<String> {
    let mark = format!("mcp-name: {}", name()?);
    if readme.contains(&mark) {
        return Ok(readme.to_owned());
    }
    Ok(format!("{}\n\n<!-- {mark} -->\n", readme.trim_end()))
}

#[cfg(test)]
#[path = "server_json_tests.rs"]
mod tests;
