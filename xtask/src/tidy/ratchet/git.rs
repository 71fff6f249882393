//! The sources as they were when the counts were last written.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};

use crate::workspace;

use super::habits::{self, Source};

/// Every counted source file at the commit that last changed `file`.
pub(super) fn sources_at_last_tightening(file: &Path) -> anyhow::Result<Vec<Source>> {
    let file = file.to_str().context("the path is not UTF-8")?;
    let commit = git(&["log", "-1", "--format=%H", "--", file])?;
    let commit = commit.trim();
    ensure!(!commit.is_empty(), "the counts are not committed yet");
    let changed = git(&[
        "diff",
        "--name-only",
        "--no-renames",
        commit,
        "--",
        "crates",
        "tests",
    ])?;
    let changed: Vec<&str> = changed.lines().collect();
    let listed = [
        "ls-tree",
        "-r",
        "--name-only",
        commit,
        "--",
        "crates",
        "tests",
    ];
    git(&listed)?
        .lines()
        .filter(|path| habits::kind(path).is_some())
        .map(|path| {
            let text = if changed.contains(&path) {
                git(&["show", &format!("{commit}:{path}")])?
            } else {
                std::fs::read_to_string(workspace::root().join(path))
                    .with_context(|| format!("cannot read `{path}`"))?
            };
            Ok(Source {
                path: path.to_owned(),
                text,
            })
        })
        .collect()
}

fn git(arguments: &[&str]) -> anyhow::Result<String> {
    let output = Command::new("git")
        .current_dir(workspace::root())
        .args(arguments)
        .output()
        .context("cannot run git")?;
    ensure!(
        output.status.success(),
        "`git {}` failed: {}",
        arguments.join(" "),
        String::from_utf8_lossy(&output.stderr).trim()
    );
    String::from_utf8(output.stdout).context("git's output is not UTF-8")
}
