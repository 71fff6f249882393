//! The npm packages: `windlass`, and one with the program for each platform.
//!
//! npm installs the platform's package through `optionalDependencies`; nothing
//! is downloaded or run at installation. The package `windlass` contains the
//! launcher, and the TypeScript library if the workspace has it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use serde_json::{Map, Value, json};

use crate::artefacts::archive::{self, Compression, PackingEffort};
use crate::artefacts::platform::Platform;
use crate::artefacts::stage::{self, SUMMARY, StagedFiles};
use crate::artefacts::{empty, server_json};
use crate::workspace;

/// The file name of the package `windlass`.
pub(super) fn meta_file(version: &str) -> String {
    format!("windlass-{version}.tgz")
}

/// The file name of a platform's package.
pub(super) fn platform_file(platform: &Platform, version: &str) -> String {
    format!("{}-{version}.tgz", platform_name(platform))
}

fn platform_name(platform: &Platform) -> String {
    format!("windlass-{}", platform.npm)
}

/// Makes the package with the program.
pub(super) fn platform(stage: &StagedFiles, dist: &Path) -> anyhow::Result<Option<PathBuf>> {
    let root = stage.folder.join("npm-platform");
    let folder = root.join("package");
    empty(&folder)?;
    let platform = stage.platform;
    let mut manifest = json!({
        "name": platform_name(platform),
        "version": stage.version,
        "description": format!("The program of the package windlass for {}", platform.npm),
        "license": "MIT OR Apache-2.0",
        "os": [platform.os],
        "cpu": [platform.cpu],
        "preferUnplugged": true,
    });
    if platform.is_linux() {
        manifest["libc"] = json!(["glibc"]);
    }
    write_manifest(&folder, &manifest)?;
    archive::copy(&stage.binary, &folder.join("bin/windlass"))?;
    stage.copy_licences(&folder)?;
    let to = dist.join(platform_file(platform, &stage.version));
    archive::tar(&root, "package", &to, Compression::Gzip, stage.effort)?;
    Ok(Some(to))
}

/// Makes the package `windlass`, which depends on the packages of these
/// platforms.
pub(super) fn meta(
    version: &str,
    platforms: &[&Platform],
    dist: &Path,
    effort: PackingEffort,
) -> anyhow::Result<Option<PathBuf>> {
    let root = workspace::target_folder()?.join("package-stage/npm-meta");
    let folder = root.join("package");
    empty(&folder)?;
    let library = library(&root)?;
    let base = match &library {
        Some(library) => {
            copy_library(library, &folder)?;
            read_manifest(library)?
        }
        None => Map::new(),
    };
    write_manifest(&folder, &manifest(base, version, platforms)?)?;
    let packaging = workspace::root().join("packaging");
    archive::copy(
        &packaging.join("npm/windlass.cjs"),
        &folder.join("bin/windlass.cjs"),
    )?;
    let readme = stage::readme(&workspace::root().join("typescript"))?;
    archive::write(&folder.join("README.md"), readme)?;
    stage::copy_own_licences(&folder)?;
    let to = dist.join(meta_file(version));
    archive::tar(&root, "package", &to, Compression::Gzip, effort)?;
    Ok(Some(to))
}

/// The manifest of the library, extended for a package that contains the
/// program.
fn manifest(
    mut base: Map<String, Value>,
    version: &str,
    platforms: &[&Platform],
) -> anyhow::Result<Value> {
    // These are only for development of the library.
    for name in ["private", "scripts", "devDependencies"] {
        base.shift_remove(name);
    }
    let used: Map<String, Value> = platforms
        .iter()
        .map(|platform| (platform_name(platform), json!(version)))
        .collect();
    let ours = json!({
        "name": "windlass",
        "version": version,
        "description": base.get("description").cloned().unwrap_or_else(|| json!(SUMMARY)),
        "license": "MIT OR Apache-2.0",
        "keywords": ["mcp", "mcp-server", "agent", "assistant", "tools", "terminal"],
        "mcpName": server_json::name()?,
        "bin": {"windlass": "bin/windlass.cjs"},
        "engines": base.get("engines").cloned().unwrap_or_else(|| json!({"node": ">=18"})),
        "optionalDependencies": used,
    });
    if let Value::Object(ours) = ours {
        base.extend(ours);
    }
    Ok(Value::Object(base))
}

/// Builds the TypeScript library in a copy; `None` if there is none.
fn library(root: &Path) -> anyhow::Result<Option<PathBuf>> {
    let source = workspace::root().join("typescript");
    if !source.join("package.json").is_file() {
        return Ok(None);
    }
    let folder = root.join("library");
    for file in tracked(&source)? {
        archive::copy(&source.join(&file), &folder.join(&file))?;
    }
    let install = if folder.join("package-lock.json").is_file() {
        "ci"
    } else {
        "install"
    };
    let quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
    archive::run(
        Command::new("npm")
            .arg(install)
            .args(quiet)
            .current_dir(&folder),
    )?;
    if read_manifest(&folder)?
        .get("scripts")
        .is_some_and(|scripts| scripts.get("build").is_some())
    {
        archive::run(
            Command::new("npm")
                .args(["run", "build"])
                .current_dir(&folder),
        )?;
    }
    Ok(Some(folder))
}

/// The files of a directory that are tracked by Git, or would be added.
pub(super) fn tracked(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "--cached", "--others", "--exclude-standard"]);
    let list = archive::output(git.current_dir(folder))?;
    let files = list.lines().map(PathBuf::from);
    Ok(files.filter(|file| folder.join(file).is_file()).collect())
}

/// Copies the files that npm itself would put into the library's package.
fn copy_library(library: &Path, to: &Path) -> anyhow::Result<()> {
    let pack = ["pack", "--dry-run", "--json", "--ignore-scripts"];
    let list = archive::output(Command::new("npm").args(pack).current_dir(library))?;
    let list: Value = serde_json::from_str(&list).context("`npm pack` gives no list")?;
    let files = list[0]["files"]
        .as_array()
        .context("`npm pack` lists no files")?;
    for file in files.iter().filter_map(|file| file["path"].as_str()) {
        archive::copy(&library.join(file), &to.join(file))?;
    }
    Ok(())
}

fn read_manifest(folder: &Path) -> anyhow::Result<Map<String, Value>> {
    let path = folder.join("package.json");
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("cannot read `{}`", path.display()))
}

fn write_manifest(folder: &Path, manifest: &Value) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(manifest)?;
    archive::write(&folder.join("package.json"), text + "\n")
}

#[cfg(test)]
#[path = "npm_tests.rs"]
mod tests;
