//! The Debian package.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use crate::artefacts::archive::{self, PackingEffort};
use crate::artefacts::stage::{LICENCES, SHELLS, SUMMARY, StagedFiles};
use crate::artefacts::{elf, empty, skip};
use crate::workspace;

const DESCRIPTION: &str = " An assistant's tool call is usually a blocking function: it hangs on a
 question, floods the context, leaves orphans, and cannot be watched or
 stopped. Windlass makes every tool call a state machine with a handle that
 the assistant drives, and waits for, across tools.
 .
 One program: a server for the Model Context Protocol, an assistant on the
 command line, and a server for HTTP and gRPC with a page to watch and take
 over.
";

/// Makes the package, if the platform has one and `dpkg-deb` is installed.
pub(super) fn make(stage: &StagedFiles, dist: &Path) -> anyhow::Result<Option<PathBuf>> {
    let Some(architecture) = stage.platform.debian else {
        return Ok(None);
    };
    if let Err(why) = archive::run(Command::new("dpkg-deb").arg("--version")) {
        skip("the Debian package", &why);
        return Ok(None);
    }
    let root = stage.folder.join("deb");
    empty(&root)?;
    fill(stage, &root)?;
    let control = control(stage, architecture, &root)?;
    archive::write(&root.join("DEBIAN/control"), control)?;
    archive::write(&root.join("DEBIAN/md5sums"), md5sums(&root)?)?;
    set_modes(&root)?;
    let version = debian_version(stage);
    let to = dist.join(format!("windlass_{version}_{architecture}.deb"));
    let mut command = Command::new("dpkg-deb");
    command
        .args(["--root-owner-group", "-Zxz"])
        .arg(format!("-z{}", stage.effort.level()))
        .args((stage.effort == PackingEffort::Most).then_some("-Sextreme"))
        .arg("--build")
        .arg(&root)
        .arg(&to)
        .env("SOURCE_DATE_EPOCH", archive::epoch().to_string());
    archive::run(&mut command)?;
    Ok(Some(to))
}

/// Lays out the files as Debian requires.
fn fill(stage: &StagedFiles, root: &Path) -> anyhow::Result<()> {
    let share = root.join("usr/share");
    archive::copy(&stage.binary, &root.join("usr/bin/windlass"))?;
    for page in archive::files(&stage.manual)? {
        let file = page.file_name().unwrap_or_default();
        let to = share.join("man/man1").join(file);
        archive::copy(&page, &to)?;
        gzip(&to)?;
    }
    for ((_, file), to) in SHELLS.into_iter().zip([
        "bash-completion/completions/windlass",
        "zsh/vendor-completions/_windlass",
        "fish/vendor_completions.d/windlass.fish",
    ]) {
        archive::copy(&stage.completions.join(file), &share.join(to))?;
    }
    if let Some(unit) = StagedFiles::unit() {
        let unit = fs::read_to_string(unit)?.replace("%h/.local/bin/windlass", "/usr/bin/windlass");
        // A runtime runs as its user, never as root.
        archive::write(&root.join("usr/lib/systemd/user/windlass.service"), unit)?;
    }
    let documents = share.join("doc/windlass");
    archive::write(&documents.join("copyright"), copyright()?)?;
    let licences = documents.join(LICENCES);
    archive::copy(&stage.folder.join(LICENCES), &licences)?;
    gzip(&licences)?;
    let changes = documents.join("changelog");
    archive::copy(&workspace::root().join("CHANGELOG.md"), &changes)?;
    gzip(&changes)?;
    let changes = documents.join("changelog.Debian");
    archive::write(&changes, debian_changes(stage)?)?;
    gzip(&changes)?;
    let overrides = workspace::root().join("packaging/deb/lintian-overrides");
    archive::copy(&overrides, &share.join("lintian/overrides/windlass"))
}

fn control(stage: &StagedFiles, architecture: &str, root: &Path) -> anyhow::Result<String> {
    let program = fs::read(&stage.binary)?;
    let (major, minor) = stage.glibc.context("the program names no glibc")?;
    let mut depends = format!("libc6 (>= {major}.{minor})");
    if elf::needs(&program, "libgcc_s.so.1") {
        depends += ", libgcc-s1";
    }
    let mut bytes = 0;
    for file in archive::files(root)? {
        bytes += fs::metadata(file)?.len();
    }
    let mut text = String::new();
    writeln!(text, "Package: windlass")?;
    writeln!(text, "Version: {}", debian_version(stage))?;
    writeln!(text, "Architecture: {architecture}")?;
    writeln!(text, "Maintainer: {MAINTAINER}")?;
    writeln!(text, "Installed-Size: {}", bytes.div_ceil(1024))?;
    writeln!(text, "Depends: {depends}")?;
    writeln!(text, "Suggests: bash-completion, git")?;
    writeln!(text, "Section: devel")?;
    writeln!(text, "Priority: optional")?;
    writeln!(text, "Description: {SUMMARY}")?;
    text += DESCRIPTION;
    Ok(text)
}

/// The maintainer of the package.
const MAINTAINER: &str = "The Windlass developers <windlass@packages.invalid>";

fn debian_version(stage: &StagedFiles) -> String {
    format!("{}-1", stage.version)
}

/// Debian's own changelog, with one entry for this version.
fn debian_changes(stage: &StagedFiles) -> anyhow::Result<String> {
    let mut date = Command::new("date");
    date.args(["--utc", "--rfc-email", "--date"]);
    date.arg(format!("@{}", archive::epoch()));
    Ok(format!(
        "windlass ({}) unstable; urgency=medium\n\n  \
         * Version {}; see changelog.gz for its changes.\n\n \
         -- {MAINTAINER}  {}\n",
        debian_version(stage),
        stage.version,
        archive::output(&mut date)?.trim()
    ))
}

fn copyright() -> anyhow::Result<String> {
    let mit = fs::read_to_string(workspace::root().join("LICENSE-MIT"))?;
    let (head, terms) = mit
        .split_once("\n\nPermission")
        .context("LICENSE-MIT does not look like one")?;
    let holder = head.lines().last().unwrap_or_default();
    let holder = holder.trim_start_matches("Copyright (c)").trim();
    let indented: String = format!("Permission{terms}")
        .lines()
        .map(|line| match line.trim() {
            "" => " .\n".to_owned(),
            line => format!(" {line}\n"),
        })
        .collect();
    Ok(format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
         Upstream-Name: Windlass\n\
         Comment: The licences of the libraries in the program are in\n \
         /usr/share/doc/windlass/{LICENCES}.gz.\n\n\
         Files: *\n\
         Copyright: {holder}\n\
         License: Apache-2.0 or Expat\n\n\
         License: Apache-2.0\n \
         On Debian systems the full text of the Apache License, Version 2.0, is in\n \
         /usr/share/common-licenses/Apache-2.0.\n\n\
         License: Expat\n{indented}"
    ))
}

fn md5sums(root: &Path) -> anyhow::Result<String> {
    let files = archive::files(root)?;
    let inside: Vec<&Path> = files
        .iter()
        .filter_map(|file| file.strip_prefix(root).ok())
        .filter(|file| !file.starts_with("DEBIAN"))
        .collect();
    archive::output(Command::new("md5sum").args(inside).current_dir(root))
}

fn gzip(file: &Path) -> anyhow::Result<()> {
    let level = format!("-{}", PackingEffort::Most.level());
    archive::run(Command::new("gzip").args(["-n", &level]).arg(file))
}

/// Sets the modes independent of the umask: programs executable, everything
/// else readable.
fn set_modes(root: &Path) -> anyhow::Result<()> {
    let modes = "u=rwX,go=rX";
    archive::run(Command::new("chmod").args(["-R", modes]).arg(root))
}
