//! The files of git in a project that decide which programs git runs, in
//! addition to those of every repository.
//!
//! Start at [`deciding_files`]. A change of such a file runs a program when the
//! user uses git outside of a sandbox.

use std::path::{Component, Path, PathBuf};

/// The maximum nesting of submodules' names.
const MODULE_DEPTH: usize = 8;
/// The maximum number of submodules.
const MOST_MODULES: usize = 512;

/// The deciding files of the repository with this git folder and the work tree
/// `root`.
pub(crate) fn deciding_files(repository: &Path, root: &Path) -> Vec<PathBuf> {
    // It names the folder whose configuration and hooks count. Without a repository it is not used.
    let mut files = Vec::new();
    if repository.join("HEAD").is_file() {
        files.push(repository.join("commondir"));
    }
    for name in ["config", "config.worktree"] {
        let text = std::fs::read_to_string(repository.join(name)).unwrap_or_default();
        files.extend(named_by_config(&text, repository, root));
    }
    for tree in folders_in(&repository.join("worktrees")) {
        files.extend(["commondir", "gitdir"].map(|name| tree.join(name)));
        files.push(tree.join("config.worktree"));
    }
    let mut modules = Vec::new();
    find_modules(&repository.join("modules"), MODULE_DEPTH, &mut modules);
    for module in modules {
        files.extend(["config", "hooks", "commondir"].map(|name| module.join(name)));
    }
    files
}

/// Files and folders of the project that a git configuration names: hook
/// folders, and included files.
fn named_by_config(text: &str, repository: &Path, root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut includes = false;
    for line in text.lines() {
        let line = line.trim();
        if let Some(section) = line.strip_prefix('[') {
            includes = section.to_ascii_lowercase().starts_with("include");
        }
        let Some((name, value)) = line.split_once('=') else {
            continue;
        };
        let name = name.rsplit(']').next().unwrap_or(name).trim();
        let value = value.trim().trim_matches('"');
        let named = if name.eq_ignore_ascii_case("hookspath") {
            hook_folder(&root.join(value))
        } else if includes && name.eq_ignore_ascii_case("path") {
            repository.join(value)
        } else {
            continue;
        };
        let named = without_dots(&named);
        if named.starts_with(root) && named != root {
            files.push(named);
        }
    }
    files
}

/// The folder of hooks. Hooks that husky puts into `_` run the files beside
/// that folder.
fn hook_folder(folder: &Path) -> PathBuf {
    match folder.parent() {
        Some(parent) if folder.ends_with("_") => parent.to_owned(),
        _ => folder.to_owned(),
    }
}

fn find_modules(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    for path in folders_in(folder) {
        if found.len() >= MOST_MODULES {
            return;
        }
        if path.join("HEAD").is_file() {
            find_modules(&path.join("modules"), depth.saturating_sub(1), found);
            found.push(path);
        } else if depth > 0 {
            find_modules(&path, depth - 1, found);
        }
    }
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut folders: Vec<PathBuf> = folders.map(|entry| entry.path()).collect();
    folders.sort_unstable();
    folders
}

fn without_dots(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}

#[cfg(test)]
#[path = "git_files_tests.rs"]
mod tests;
