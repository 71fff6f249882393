//! `cargo xtask accept`: writes the texts that tests now get into their snapshots.
//!
//! [`run`] runs the selected tests with [insta](https://insta.rs)'s variables: a snapshot that differs does not fail
//! its test, but leaves a record below [`pending_folder`]. [`accept`] then puts each text into its place: the literal
//! of an inline snapshot (see [`inline`]) or a `.snap` file. It needs no `cargo-insta`, and leaves no records behind.

mod inline;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::test::{PreparedTests, TestOptions};
use crate::workspace;

use inline::Record;

/// The end of the name of a file of records of inline snapshots.
const RECORDS: &str = ".pending-snap";

/// The end of the name of a new file snapshot.
const NEW_FILE: &str = ".snap.new";

/// Runs the tests that `arguments` select, and accepts every text that differs. Fails if a text could not be
/// accepted, or if tests failed for other reasons; texts that could be accepted are accepted all the same.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    let pending = pending_folder();
    empty(&pending)?;
    let passed = run_tests(arguments, &pending)?;
    let outcome = accept(&pending, workspace::root())?;
    empty(&pending)?;
    for place in &outcome.changed {
        println!("accepted: {place}");
    }
    for refusal in &outcome.refused {
        println!("not accepted: {refusal}");
    }
    println!(
        "{} accepted, {} not accepted",
        outcome.changed.len(),
        outcome.refused.len()
    );
    match (outcome.refused.is_empty(), passed) {
        (true, true) => Ok(()),
        (true, false) => bail!("the tests failed for another reason than a snapshot"),
        (false, true) => bail!("not all snapshots could be accepted"),
        (false, false) => bail!(
            "not all snapshots could be accepted, and the tests failed for another reason, too"
        ),
    }
}

/// Where the tests leave their records.
fn pending_folder() -> PathBuf {
    workspace::root().join("target/accept")
}

fn empty(folder: &Path) -> anyhow::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot empty `{}`", folder.display()))
        }
        _ => Ok(()),
    }
}

/// Runs the tests, and returns whether all passed. Snapshots that differ do not fail them.
fn run_tests(arguments: &[String], pending: &Path) -> anyhow::Result<bool> {
    let options = TestOptions::read(arguments)?;
    PreparedTests::prepare(options.packages())?.record_snapshots(&options, pending)
}

/// The result of accepting all records.
#[derive(Debug, Default)]
struct Outcome {
    /// Each place that was rewritten, such as `crates/config/tests/it/errors.rs:12`.
    changed: Vec<String>,
    /// Each place that was not, with the reason.
    refused: Vec<String>,
}

/// Accepts every record below `pending`, which has the folders of the workspace at `root`.
fn accept(pending: &Path, root: &Path) -> anyhow::Result<Outcome> {
    let mut outcome = Outcome::default();
    for file in files(pending)? {
        let relative = file
            .strip_prefix(pending)
            .expect("the file was found in this folder");
        let name = relative
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if let Some(source) = name.strip_suffix(RECORDS) {
            let source = relative.with_file_name(source.trim_start_matches('.'));
            accept_inline(&file, root, &source, &mut outcome)?;
        } else if let Some(stem) = name.strip_suffix(NEW_FILE) {
            let snapshot = relative.with_file_name(format!("{stem}.snap"));
            accept_file(&file, root, &snapshot)?;
            outcome.changed.push(snapshot.display().to_string());
        } else {
            outcome.refused.push(format!(
                "{}: not a text, and only texts are accepted",
                relative.display()
            ));
        }
    }
    Ok(outcome)
}

/// Rewrites the inline snapshots of one source file.
fn accept_inline(
    records: &Path,
    root: &Path,
    source: &Path,
    outcome: &mut Outcome,
) -> anyhow::Result<()> {
    let shown = source.display();
    let records = std::fs::read_to_string(records)
        .with_context(|| format!("cannot read the records of `{shown}`"))?;
    let records: Vec<Record> = records
        .lines()
        .map(Record::read)
        .collect::<anyhow::Result<_>>()
        .with_context(|| format!("cannot understand the records of `{shown}`"))?;
    let path = root.join(source);
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read `{shown}`"))?;
    let rewritten =
        inline::rewrite(&text, &records).with_context(|| format!("cannot parse `{shown}`"))?;
    if rewritten.text != text {
        std::fs::write(&path, &rewritten.text)
            .with_context(|| format!("cannot write `{shown}`"))?;
    }
    let places = |line: &usize| format!("{shown}:{line}");
    outcome.changed.extend(rewritten.changed.iter().map(places));
    for (line, refusal) in rewritten.refused {
        outcome.refused.push(format!("{shown}:{line}: {refusal}"));
    }
    Ok(())
}

/// Writes a new file snapshot, without the line of its assertion: that would change with every edit above it.
fn accept_file(new: &Path, root: &Path, snapshot: &Path) -> anyhow::Result<()> {
    let text =
        std::fs::read_to_string(new).with_context(|| format!("cannot read `{}`", new.display()))?;
    let path = root.join(snapshot);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(&path, without_line(&text))
        .with_context(|| format!("cannot write `{}`", snapshot.display()))
}

fn without_line(text: &str) -> String {
    let mut rules = 0;
    text.split_inclusive('\n')
        .filter(|line| {
            rules += usize::from(line.trim_end() == "---");
            rules != 1 || !line.starts_with("assertion_line:")
        })
        .collect()
}

/// Every file below `folder`, in a stable order; empty if the folder does not exist.
fn files(folder: &Path) -> anyhow::Result<BTreeSet<PathBuf>> {
    let mut files = BTreeSet::new();
    if !folder.is_dir() {
        return Ok(files);
    }
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("cannot list `{}`", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(self::files(&path)?);
        } else {
            files.insert(path);
        }
    }
    Ok(files)
}

#[cfg(test)]
#[path = "accept_tests.rs"]
mod tests;
