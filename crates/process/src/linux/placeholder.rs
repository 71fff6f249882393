//! Placeholders: they take the place of missing files that programs of a sandbox must not create.
//!
//! Most are empty directories, which git does not show. Some programs fail if a directory has the name of one of their
//! files, so the placeholder of such a file is a file without effect. [`git_exclude`](super::git_exclude) hides it from
//! git.

use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use super::git_exclude;

/// Files whose placeholders are files, with a content that changes nothing.
const FILES: &[(&str, &[u8])] = &[
    // The default.
    ("commondir", b".\n"),
    ("opencode.json", b"{}\n"),
    ("opencode.jsonc", b"{}\n"),
    ("crush.json", b"{}\n"),
    (".crush.json", b"{}\n"),
    ("crushrc", b"# Windlass removes this file.\n"),
    (".crushrc", b"# Windlass removes this file.\n"),
];

/// Creates the placeholder of a path that does not exist.
pub(super) fn make(path: &Path) -> io::Result<()> {
    let Some(content) = content(path) else {
        return DirBuilder::new().mode(0o755).create(path);
    };
    File::create_new(path)?.write_all(content)?;
    git_exclude::add(path);
    Ok(())
}

/// Whether it is a placeholder, or equal to one.
pub(super) fn is_one(path: &Path) -> bool {
    if let Some(content) = content(path) {
        let metadata = path.symlink_metadata();
        let is_short = metadata.is_ok_and(|it| it.is_file() && it.len() == content.len() as u64);
        return is_short && std::fs::read(path).is_ok_and(|found| found == content);
    }
    path.read_dir()
        .is_ok_and(|mut entries| entries.next().is_none())
}

/// Removes a placeholder. A directory must be empty.
pub(super) fn remove(path: &Path) {
    if content(path).is_none() {
        let _ = std::fs::remove_dir(path);
        return;
    }
    let _ = std::fs::remove_file(path);
    git_exclude::remove(path);
}

fn content(path: &Path) -> Option<&'static [u8]> {
    let mut files = FILES.iter();
    files.find_map(|(name, content)| path.ends_with(name).then_some(*content))
}

#[cfg(test)]
#[path = "placeholder_tests.rs"]
mod tests;
