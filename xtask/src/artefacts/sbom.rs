//! The list of dependencies, for scanners: as a `CycloneDX` file, and inside
//! the program in the format of `cargo auditable`.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::Command;

use anyhow::Context;
use serde_json::{Value, json};

use crate::artefacts::archive;
use crate::artefacts::dependencies::{Dependencies, Dependency};

/// The section of the program that contains the list.
const SECTION: &str = ".dep-v0";

/// The bill of materials, as `CycloneDX` 1.5.
pub(super) fn cyclonedx(dependencies: &Dependencies) -> Value {
    let root = &dependencies.packages[dependencies.root];
    let components: Vec<Value> = dependencies
        .packages
        .iter()
        .enumerate()
        .filter(|(place, _)| *place != dependencies.root)
        .map(|(_, package)| component(package, "library"))
        .collect();
    let graph: Vec<Value> = dependencies
        .packages
        .iter()
        .map(|package| {
            let uses = package
                .uses
                .iter()
                .map(|place| &dependencies.packages[*place]);
            json!({"ref": purl(package), "dependsOn": uses.map(purl).collect::<Vec<_>>()})
        })
        .collect();
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component(root, "application")},
        "components": components,
        "dependencies": graph,
    })
}

fn component(package: &Dependency, kind: &str) -> Value {
    let mut component = json!({
        "type": kind,
        "bom-ref": purl(package),
        "name": package.name,
        "version": package.version,
        "purl": purl(package),
        "scope": if package.in_program { "required" } else { "excluded" },
    });
    if let Some(licence) = &package.licence {
        // An old notation for a choice, which is not SPDX.
        let expression = licence.replace('/', " OR ");
        component["licenses"] = json!([{"expression": expression}]);
    }
    if let Some(description) = &package.description {
        component["description"] = json!(description.trim());
    }
    component
}

fn purl(package: &Dependency) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version)
}

/// The list in the format of `cargo auditable`.
fn auditable(dependencies: &Dependencies) -> Value {
    let packages: Vec<Value> = dependencies
        .packages
        .iter()
        .enumerate()
        .map(|(place, package)| {
            let mut entry = json!({
                "name": package.name,
                "version": package.version,
                "source": package.registry.as_deref().unwrap_or("local"),
            });
            if !package.in_program {
                entry["kind"] = json!("build");
            }
            if !package.uses.is_empty() {
                entry["dependencies"] = json!(package.uses);
            }
            if place == dependencies.root {
                entry["root"] = json!(true);
            }
            entry
        })
        .collect();
    json!({ "packages": packages })
}

/// Embeds the list into the program. Needs `objcopy`.
pub(super) fn embed(dependencies: &Dependencies, program: &Path) -> anyhow::Result<()> {
    let text = serde_json::to_vec(&auditable(dependencies))?;
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(&text)?;
    let file = program.with_extension("dep-v0");
    fs::write(&file, packed.finish()?)?;
    let mut command = Command::new("objcopy");
    command
        .arg(format!("--add-section={SECTION}={}", file.display()))
        .arg(format!("--set-section-flags={SECTION}=noload,readonly"))
        .arg(program);
    archive::run(&mut command)?;
    fs::remove_file(&file)?;
    Ok(())
}

/// Extracts the list from a program.
pub(super) fn extract(program: &Path) -> anyhow::Result<Value> {
    let folder = tempfile::tempdir()?;
    let section = folder.path().join("section");
    let mut command = Command::new("objcopy");
    command
        .arg(format!("--dump-section={SECTION}={}", section.display()))
        .arg(program)
        // Without a second file, `objcopy` would rewrite the program itself.
        .arg(folder.path().join("copy"));
    archive::run(&mut command)?;
    let packed = fs::read(&section).context("the program holds no list of its dependencies")?;
    let mut text = String::new();
    flate2::read::ZlibDecoder::new(&packed[..]).read_to_string(&mut text)?;
    Ok(serde_json::from_str(&text)?)
}

#[cfg(test)]
#[path = "sbom_tests.rs"]
mod tests;
