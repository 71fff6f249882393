//! The files of `.windlass/tools` and its sub-folders.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::keys;

/// A folder that holds one of these is a program's own package.
const MANIFESTS: [&str; 4] = ["Cargo.toml", "pyproject.toml", "package.json", "go.mod"];

/// Links may lead in a circle.
const DEPTH: usize = 16;

/// The files that define tools, and the folders that cannot be read.
#[derive(Debug, Default)]
pub(crate) struct ToolFiles {
    pub(crate) files: Vec<PathBuf>,
    pub(crate) unreadable: Vec<(PathBuf, io::Error)>,
    /// Files that seem to define tools in a format that is not read.
    pub(crate) foreign: Vec<PathBuf>,
}

impl ToolFiles {
    /// Finds every TOML file of a folder and of its sub-folders. Names that
    /// begin with a dot are passed by, and of a program's package only files
    /// that are about tools are taken.
    pub(crate) fn gather(&mut self, folder: &Path, depth: usize) {
        let listed = fs::read_dir(folder).and_then(|entries| {
            entries
                .map(|entry| entry.map(|entry| entry.path()))
                .collect::<io::Result<Vec<_>>>()
        });
        let entries = match listed {
            Ok(entries) => entries,
            Err(error) => return self.unreadable.push((folder.to_owned(), error)),
        };
        let is_package = depth > 0
            && MANIFESTS
                .iter()
                .any(|manifest| folder.join(manifest).is_file());
        for entry in entries {
            if is_hidden(&entry) {
                continue;
            }
            if is_toml(&entry) {
                if !is_package || is_about_tools(&entry) {
                    self.files.push(entry);
                }
            } else if entry.is_dir() {
                if is_package {
                    continue;
                }
                if depth < DEPTH {
                    self.gather(&entry, depth + 1);
                } else {
                    let error = io::Error::other("it lies too deep, or a link leads in a circle");
                    self.unreadable.push((entry, error));
                }
            } else if !is_package && is_foreign(&entry) {
                self.foreign.push(entry);
            }
        }
    }
}

fn is_hidden(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy());
    name.is_some_and(|name| name.starts_with('.'))
}

fn is_toml(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "toml")
}

/// The file would be one of ours if it were TOML.
fn is_foreign(path: &Path) -> bool {
    let end = path
        .extension()
        .map(|end| end.to_string_lossy().to_lowercase());
    match end.as_deref() {
        Some("toml") => true,
        Some("json" | "json5" | "jsonc" | "yaml" | "yml") => {
            let text = fs::read_to_string(path).unwrap_or_default();
            text.contains("conversation") && text.contains("tools")
        }
        _ => false,
    }
}

/// The file has a table of ours. One that cannot be parsed may have.
fn is_about_tools(file: &Path) -> bool {
    if MANIFESTS.iter().any(|manifest| file.ends_with(manifest)) {
        return false;
    }
    let text = fs::read_to_string(file).unwrap_or_default();
    match text.parse::<toml::Table>() {
        Ok(table) => keys::TOP.iter().any(|key| table.contains_key(*key)),
        Err(_) => true,
    }
}
