//! Reproducible archives and checksums.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use sha2::{Digest, Sha256};

use crate::artefacts::name_of;
use crate::workspace;

/// The file with the checksums of all other artefacts.
pub(super) const CHECKSUMS: &str = "SHA256SUMS";

/// The compression effort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PackingEffort {
    /// The smallest result.
    Most,
    /// The fastest compression.
    Least,
}

impl PackingEffort {
    /// The level of zlib, gzip and `dpkg-deb`.
    pub(super) fn level(self) -> u32 {
        match self {
            Self::Most => 9,
            Self::Least => 1,
        }
    }

    fn xz(self) -> &'static str {
        match self {
            // The filter for x86 jumps makes programs a tenth smaller.
            Self::Most if cfg!(target_arch = "x86_64") => "xz --x86 --lzma2=preset=9e",
            Self::Most => "xz -9e",
            Self::Least => "xz -1 -T0",
        }
    }
}

/// The compression of a tar archive.
#[derive(Debug, Clone, Copy)]
pub(super) enum Compression {
    /// `.tar.xz`
    Xz,
    /// `.tgz`, without a timestamp
    Gzip,
}

/// Packs the folder `name` of `parent` into `archive`.
pub(super) fn tar(
    parent: &Path,
    name: &str,
    archive: &Path,
    compression: Compression,
    effort: PackingEffort,
) -> anyhow::Result<()> {
    let compress = match compression {
        Compression::Xz => effort.xz().to_owned(),
        Compression::Gzip => format!("gzip -n -{}", effort.level()),
    };
    // The tar of macOS does not have these options.
    let program = if cfg!(target_os = "macos") {
        "gtar"
    } else {
        "tar"
    };
    let mut command = Command::new(program);
    command
        .args(["--create", "--sort=name", "--owner=0", "--group=0"])
        .args(["--numeric-owner", "--format=ustar"])
        .arg(format!("--mtime=@{}", epoch()))
        .arg(format!("--use-compress-program={compress}"))
        .arg("--file")
        .arg(archive)
        .arg("--directory")
        .arg(parent)
        .arg(name);
    run(&mut command)
}

/// The time of the commit, in seconds. All files in archives have it.
pub(super) fn epoch() -> u64 {
    let said = std::env::var("SOURCE_DATE_EPOCH").ok();
    let said = said.or_else(|| {
        let log = ["log", "-1", "--format=%ct"];
        let mut git = Command::new("git");
        let output = git.args(log).current_dir(workspace::root()).output().ok()?;
        String::from_utf8(output.stdout).ok()
    });
    said.and_then(|said| said.trim().parse().ok())
        .unwrap_or(315_532_800)
}

/// Runs a program; prints its output if it fails.
pub(super) fn run(command: &mut Command) -> anyhow::Result<()> {
    output(command).map(|_| ())
}

/// Runs a program and returns its stdout.
pub(super) fn output(command: &mut Command) -> anyhow::Result<String> {
    let said = shown(command);
    let output = command
        .output()
        .with_context(|| format!("cannot run `{said}`"))?;
    ensure!(
        output.status.success(),
        "`{said}` failed: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr).trim_end()
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn shown(command: &Command) -> String {
    std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(OsStr::to_string_lossy)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Every file below a directory, in a stable order.
pub(super) fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries =
            fs::read_dir(&folder).with_context(|| format!("cannot list `{}`", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Writes the checksums of all other files of `dist`.
pub(super) fn checksums(dist: &Path) -> anyhow::Result<()> {
    let list = dist.join(CHECKSUMS);
    let mut lines = String::new();
    for file in files(dist)?.iter().filter(|file| **file != list) {
        writeln!(lines, "{}  {}", sha256(file)?, name_of(file))?;
    }
    fs::write(list, lines)?;
    Ok(())
}

/// The SHA-256 of a file, in hexadecimal.
pub(super) fn sha256(file: &Path) -> anyhow::Result<String> {
    let bytes = fs::read(file).with_context(|| format!("cannot read `{}`", file.display()))?;
    let mut sum = String::new();
    for byte in Sha256::digest(bytes) {
        write!(sum, "{byte:02x}")?;
    }
    Ok(sum)
}

/// Writes a file, creating its parent directories.
pub(super) fn write(path: &Path, bytes: impl AsRef<[u8]>) -> anyhow::Result<()> {
    make_parent(path)?;
    fs::write(path, bytes).with_context(|| format!("cannot write `{}`", path.display()))
}

/// Copies a file with its permissions, creating the parent directories.
pub(super) fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    make_parent(to)?;
    fs::copy(from, to)
        .with_context(|| format!("cannot copy `{}` to `{}`", from.display(), to.display()))?;
    Ok(())
}

fn make_parent(path: &Path) -> anyhow::Result<()> {
    let parent = path.parent().context("a file is in a folder")?;
    fs::create_dir_all(parent).with_context(|| format!("cannot create `{}`", parent.display()))
}
