//! The files of `.windlass/tools` and its sub-folders.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::keys;
use crate::plain_file::{FileFault, Owners, read_text};

/// A folder with one of these files is a program's own package.
const MANIFESTS: [&str; 4] = ["Cargo.toml", "pyproject.toml", "package.json", "go.mod"];

/// Links may lead in a circle.
const DEPTH: usize = 16;

/// The maximum number of files and folders that are visited, because links can
/// form cycles.
const MOST_ENTRIES: usize = 4096;

/// The files that define tools, and the unreadable folders.
#[derive(Debug, Default)]
pub(crate) struct ToolFiles {
    pub(crate) files: Vec<PathBuf>,
    pub(crate) unreadable: Vec<(PathBuf, FileFault)>,
    seen: usize,
    /// Files that seem to define tools, in a format that is not read.
    pub(crate) foreign: Vec<PathBuf>,
}

impl ToolFiles {
    /// Finds every TOML file of a folder and its sub-folders. Skips names that
    /// begin with a dot. In a program's package, only files about tools are
    /// taken.
    pub(crate) fn gather(&mut self, folder: &Path, owners: Owners<'_>, depth: usize) {
        let entries = match list(folder, owners) {
            Ok(entries) => entries,
            Err(fault) => return self.unreadable.push((folder.to_owned(), fault)),
        };
        self.seen += entries.len();
        if self.seen > MOST_ENTRIES {
            let error =
                io::Error::other("it contains too many files and folders, or a cycle of links");
            return self.unreadable.push((folder.to_owned(), error.into()));
        }
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
                    self.gather(&entry, owners, depth + 1);
                } else {
                    let error = io::Error::other("it is nested too deep, or in a cycle of links");
                    self.unreadable.push((entry, error.into()));
                }
                if self.seen > MOST_ENTRIES {
                    return;
                }
            } else if !is_package && is_foreign(&entry) {
                self.foreign.push(entry);
            }
        }
    }
}

fn list(folder: &Path, owners: Owners<'_>) -> Result<Vec<PathBuf>, FileFault> {
    owners.check(&fs::metadata(folder)?)?;
    let entries = fs::read_dir(folder)?.take(MOST_ENTRIES + 1);
    let paths: io::Result<Vec<_>> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect();
    Ok(paths?)
}

fn is_hidden(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy());
    name.is_some_and(|name| name.starts_with('.'))
}

fn is_toml(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "toml")
}

/// Whether the file would define tools if it were TOML.
fn is_foreign(path: &Path) -> bool {
    let end = path
        .extension()
        .map(|end| end.to_string_lossy().to_lowercase());
    match end.as_deref() {
        Some("toml") => true,
        Some("json" | "json5" | "jsonc" | "yaml" | "yml") => {
            let text = read_text(path, Owners::Anybody).unwrap_or_default();
            text.contains("conversation") && text.contains("tools")
        }
        _ => false,
    }
}

/// Whether the file has a table of Windlass. A file that cannot be parsed may
/// have one.
fn is_about_tools(file: &Path) -> bool {
    if MANIFESTS.iter().any(|manifest| file.ends_with(manifest)) {
        return false;
    }
    // A file that cannot be read is reported when it is loaded.
    let Ok(text) = read_text(file, Owners::Anybody) else {
        return true;
    };
    match text.parse::<toml::Table>() {
        Ok(table) => keys::TOP.iter().any(|key| table.contains_key(*key)),
        Err(_) => true,
    }
}
