//! Finds files of integration tests that no `mod` includes: they are never
//! compiled and so can never fail.

use std::path::Path;

use anyhow::Context;

/// Every file below `tests/it` of the crate in `folder` that is not included.
pub(super) fn check(folder: &Path) -> anyhow::Result<Vec<String>> {
    let tests = folder.join("tests/it");
    if !tests.is_dir() {
        return Ok(Vec::new());
    }
    let mut faults = Vec::new();
    check_folder(&tests, &tests.join("main.rs"), &mut faults)?;
    Ok(faults)
}

/// `owner` is the file whose modules are in `folder`.
fn check_folder(folder: &Path, owner: &Path, faults: &mut Vec<String>) -> anyhow::Result<()> {
    let named = modules(owner)?;
    let mut entries = std::fs::read_dir(folder)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .with_context(|| format!("cannot list `{}`", super::shown(folder)))?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for path in entries.into_iter().map(|entry| entry.path()) {
        let is_rust = path.extension().is_some_and(|extension| extension == "rs");
        if path == owner || !(is_rust || path.is_dir()) {
            continue;
        }
        let Some(stem) = path.file_stem().and_then(|stem| stem.to_str()) else {
            continue;
        };
        if is_rust && !named.iter().any(|name| name == stem) {
            faults.push(format!(
                "`{}` is forgotten; add `mod {stem};` to `{}`",
                super::shown(&path),
                super::shown(owner)
            ));
        }
        if path.is_dir() {
            check_module_folder(&path, owner, &named, stem, faults)?;
        }
    }
    Ok(())
}

/// A directory is a module if it has a `mod.rs` or a file of its name beside
/// it; any other contains data.
fn check_module_folder(
    path: &Path,
    owner: &Path,
    named: &[String],
    stem: &str,
    faults: &mut Vec<String>,
) -> anyhow::Result<()> {
    let inside = path.join("mod.rs");
    let beside = path.with_extension("rs");
    if inside.is_file() {
        if !named.iter().any(|name| name == stem) {
            faults.push(format!(
                "`{}` is forgotten; add `mod {stem};` to `{}`",
                super::shown(&inside),
                super::shown(owner)
            ));
        }
        check_folder(path, &inside, faults)
    } else if beside.is_file() {
        check_folder(path, &beside, faults)
    } else {
        Ok(())
    }
}

/// The names of the modules that a file declares in other files.
fn modules(file: &Path) -> anyhow::Result<Vec<String>> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("cannot read `{}`", super::shown(file)))?;
    let file = syn::parse_file(&text)
        .with_context(|| format!("cannot understand `{}`", super::shown(file)))?;
    Ok(file
        .items
        .into_iter()
        .filter_map(|item| match item {
            syn::Item::Mod(module) if module.content.is_none() => Some(module.ident.to_string()),
            _ => None,
        })
        .collect())
}

#[cfg(test)]
#[path = "forgotten_tests.rs"]
mod tests;
