//! The folder that a call names, if it is outside of the project.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;
use windlass_process::Launcher;
use windlass_protocol::Arguments;
use windlass_runtime::{SubjectPattern, UNKNOWN};

use super::quoted;

/// Changing to the folder named by a call, if it is outside of the project.
/// Many programs depend on their folder.
pub(crate) fn folder_outside(
    args: &Arguments,
    root: &Path,
    launcher: &Launcher,
) -> Option<SubjectPattern> {
    let folder = args.get("cwd").and_then(Value::as_str)?;
    let path = root.join(folder);
    let there = launcher.path_there(&path).zip(launcher.path_there(root));
    let is_inside = if let Some((path, root)) = there {
        // This machine's disk says nothing about a host's.
        lexical(&path).starts_with(lexical(&root))
    } else {
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        path.canonicalize().is_ok_and(|path| path.starts_with(root))
    };
    if is_inside {
        return None;
    }
    Some(SubjectPattern {
        forms: vec![UNKNOWN.to_string()],
        ..SubjectPattern::from(quoted(["cd", folder]))
    })
}

/// The path with `.` and `..` resolved by its text alone.
fn lexical(path: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            // At the root it has no effect, as in the kernel.
            Component::ParentDir => drop(resolved.pop()),
            other => resolved.push(other),
        }
    }
    resolved
}

#[cfg(test)]
#[path = "folder_tests.rs"]
mod tests;
