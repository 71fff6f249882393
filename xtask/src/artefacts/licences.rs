//! Collects the licences of all parts of the program in one text.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Context;

use crate::artefacts::dependencies::{Dependencies, Dependency};

/// Names of files that contain a licence or a notice, in lower case.
const NAMES: [&str; 6] = [
    "licen",
    "copying",
    "notice",
    "copyright",
    "unlicense",
    "patents",
];

/// A list of the packages with their licences, then each text once.
pub(super) fn collect(dependencies: &Dependencies) -> anyhow::Result<String> {
    let mut list = String::new();
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut silent = Vec::new();
    for package in dependencies.of_others() {
        let name = format!("{} {}", package.name, package.version);
        let licence = package.licence.as_deref().unwrap_or("see its text below");
        writeln!(list, "  {name}: {licence}")?;
        let found = texts_of(&package.folder)?;
        if found.is_empty() {
            silent.push(credit(&name, package));
        }
        for text in found {
            texts.entry(text).or_default().push(name.clone());
        }
    }
    written(&list, &texts, &silent)
}

fn written(
    list: &str,
    texts: &BTreeMap<String, Vec<String>>,
    silent: &[String],
) -> anyhow::Result<String> {
    let mut text = format!(
        "Windlass is made of its own code and of the packages below, which keep\n\
         their licences.\n\n{list}"
    );
    if !silent.is_empty() {
        text += "\nThese packages carry no text of their licence; their authors are\n\n";
        for line in silent {
            writeln!(text, "  {line}")?;
        }
    }
    for (licence, packages) in texts {
        let rule = "-".repeat(78);
        let packages = packages.join("\n");
        writeln!(text, "\n{rule}\n{packages}\n{rule}\n\n{licence}")?;
    }
    Ok(text)
}

fn credit(name: &str, package: &Dependency) -> String {
    if package.authors.is_empty() {
        format!("{name}: its contributors")
    } else {
        format!("{name}: {}", package.authors.join(", "))
    }
}

/// The licences and notices in a package's directory.
fn texts_of(folder: &Path) -> anyhow::Result<Vec<String>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot list `{}`", folder.display()))?;
    let mut texts = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_lowercase();
        if path.is_file() && NAMES.iter().any(|start| name.starts_with(start)) {
            let bytes = fs::read(&path)?;
            let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
            texts.push(text.trim_matches('\n').to_owned());
        }
    }
    texts.sort();
    texts.dedup();
    Ok(texts)
}

#[cfg(test)]
#[path = "licences_tests.rs"]
mod tests;
