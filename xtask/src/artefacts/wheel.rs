//! The wheel: the program as a script of the environment, and the Python
//! package if the workspace has it.

use std::fmt::Write as _;
use std::fs;
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use toml::{Table, Value};
use zip::write::SimpleFileOptions;

use crate::artefacts::archive::PackingEffort;
use crate::artefacts::npm;
use crate::artefacts::platform::Platform;
use crate::artefacts::server_json;
use crate::artefacts::stage::{self, LICENCES, SUMMARY, StagedFiles};
use crate::workspace;

/// A file of the wheel.
struct WheelEntry {
    path: String,
    bytes: Vec<u8>,
    is_program: bool,
}

/// Makes the wheel.
pub(super) fn make(stage: &StagedFiles, dist: &Path) -> anyhow::Result<Option<PathBuf>> {
    let tag = format!("py3-none-{}", platform_tag(stage.platform, stage.glibc)?);
    let entries = entries(stage, &tag)?;
    let to = dist.join(format!("windlass-{}-{tag}.whl", stage.version));
    fs::write(&to, packed(entries, &info(&stage.version), stage.effort)?)?;
    Ok(Some(to))
}

/// The wheel's `.dist-info` directory.
fn info(version: &str) -> String {
    format!("windlass-{version}.dist-info")
}

/// The platform tag of the wheel.
fn platform_tag(platform: &Platform, glibc: Option<(u32, u32)>) -> anyhow::Result<String> {
    let cpu = platform.wheel;
    match (platform.os, cpu) {
        ("linux", _) => {
            let (major, minor) = glibc.context("the program names no glibc")?;
            Ok(format!("manylinux_{major}_{minor}_{cpu}"))
        }
        (_, "arm64") => Ok(format!("macosx_11_0_{cpu}")),
        _ => Ok(format!("macosx_10_12_{cpu}")),
    }
}

fn entries(stage: &StagedFiles, tag: &str) -> anyhow::Result<Vec<WheelEntry>> {
    let version = &stage.version;
    let text = |path: String, bytes: Vec<u8>| WheelEntry {
        path,
        bytes,
        is_program: false,
    };
    let python = workspace::root().join("python");
    let project = project(&python)?;
    let mut entries = vec![WheelEntry {
        path: format!("windlass-{version}.data/scripts/windlass"),
        bytes: fs::read(&stage.binary)?,
        is_program: true,
    }];
    let source = python.join("src");
    if source.is_dir() {
        for file in npm::tracked(&source)? {
            let path = file.to_string_lossy().into_owned();
            entries.push(text(path, fs::read(source.join(&file))?));
        }
    }
    let info = info(version);
    let readme = server_json::marked(&stage::readme(&python)?)?;
    let metadata = metadata(&project, version, &readme);
    entries.push(text(format!("{info}/METADATA"), metadata.into_bytes()));
    let wheel =
        format!("Wheel-Version: 1.0\nGenerator: windlass\nRoot-Is-Purelib: false\nTag: {tag}\n");
    entries.push(text(format!("{info}/WHEEL"), wheel.into_bytes()));
    for (from, name) in [
        (workspace::root().join("LICENSE-APACHE"), "LICENSE-APACHE"),
        (workspace::root().join("LICENSE-MIT"), "LICENSE-MIT"),
        (stage.folder.join(LICENCES), LICENCES),
    ] {
        entries.push(text(format!("{info}/licenses/{name}"), fs::read(from)?));
    }
    let bill = fs::read(stage.folder.join("sbom.cdx.json"))?;
    entries.push(text(format!("{info}/sboms/windlass.cdx.json"), bill));
    Ok(entries)
}

/// `[project]` of the Python package; empty if there is none.
fn project(python: &Path) -> anyhow::Result<Table> {
    let Ok(text) = fs::read_to_string(python.join("pyproject.toml")) else {
        return Ok(Table::new());
    };
    let manifest: Table = text
        .parse()
        .context("cannot read `python/pyproject.toml`")?;
    let project = manifest.get("project").and_then(Value::as_table);
    project
        .cloned()
        .context("`python/pyproject.toml` has no [project]")
}

/// The wheel's METADATA.
fn metadata(project: &Table, version: &str, readme: &str) -> String {
    let text = |name: &str, default: &str| {
        let value = project.get(name).and_then(Value::as_str);
        value.unwrap_or(default).to_owned()
    };
    let list = |table: &Table, name: &str| {
        let values = table.get(name).and_then(Value::as_array);
        let values = values.into_iter().flatten().filter_map(Value::as_str);
        values.map(str::to_owned).collect::<Vec<_>>()
    };
    let mut lines = vec![
        "Metadata-Version: 2.4".to_owned(),
        "Name: windlass".to_owned(),
        format!("Version: {version}"),
        format!("Summary: {}", text("description", SUMMARY)),
        "Keywords: mcp,agent,assistant,tools,terminal".to_owned(),
        "License-Expression: MIT OR Apache-2.0".to_owned(),
    ];
    for name in ["LICENSE-APACHE", "LICENSE-MIT", LICENCES] {
        lines.push(format!("License-File: {name}"));
    }
    for classifier in list(project, "classifiers") {
        // The licence expression replaces it; both together are refused.
        if !classifier.starts_with("License ::") {
            lines.push(format!("Classifier: {classifier}"));
        }
    }
    lines.push(format!(
        "Requires-Python: {}",
        text("requires-python", ">=3.10")
    ));
    for requirement in list(project, "dependencies") {
        lines.push(format!("Requires-Dist: {requirement}"));
    }
    let extras = project
        .get("optional-dependencies")
        .and_then(Value::as_table);
    for (extra, _) in extras.into_iter().flatten() {
        lines.push(format!("Provides-Extra: {extra}"));
        for requirement in list(extras.unwrap_or(project), extra) {
            lines.push(format!(
                "Requires-Dist: {}",
                with_extra(&requirement, extra)
            ));
        }
    }
    lines.push("Description-Content-Type: text/markdown".to_owned());
    format!("{}\n\n{readme}", lines.join("\n"))
}

/// A requirement of an extra.
fn with_extra(requirement: &str, extra: &str) -> String {
    match requirement.split_once(';') {
        Some((what, when)) => format!("{}; ({}) and extra == '{extra}'", what.trim(), when.trim()),
        None => format!("{requirement}; extra == '{extra}'"),
    }
}

/// The archive, with the list of its files and their checksums at the end.
fn packed(entries: Vec<WheelEntry>, info: &str, effort: PackingEffort) -> anyhow::Result<Vec<u8>> {
    let record = format!("{info}/RECORD");
    let mut lines = String::new();
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated)
        .compression_level(Some(i64::from(effort.level())))
        // Reproducible: the same commit gives the same wheel.
        .last_modified_time(zip::DateTime::default());
    for entry in entries {
        let sum = URL_SAFE_NO_PAD.encode(Sha256::digest(&entry.bytes));
        writeln!(lines, "{},sha256={sum},{}", entry.path, entry.bytes.len())?;
        let mode = if entry.is_program { 0o755 } else { 0o644 };
        archive.start_file(entry.path, options.unix_permissions(mode))?;
        archive.write_all(&entry.bytes)?;
    }
    writeln!(lines, "{record},,")?;
    archive.start_file(record, options.unix_permissions(0o644))?;
    archive.write_all(lines.as_bytes())?;
    Ok(archive.finish()?.into_inner())
}

#[cfg(test)]
#[path = "wheel_tests.rs"]
mod tests;
