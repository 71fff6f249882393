//! Builds the program.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::artefacts::archive::PackingEffort;
use crate::artefacts::{platform, skip};
use crate::{packages, workspace};

/// The oldest glibc that a `dist` build supports.
pub(super) const OLDEST_GLIBC: &str = "2.28";

/// A profile of the workspace's manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Profile {
    /// Small, and linked for an old glibc; for users.
    Dist,
    /// Quick to build, for this machine.
    Release,
    /// The build that the tests use.
    Dev,
}

/// A program that was built.
pub(super) struct BuiltProgram {
    /// The file, with symbols if the profile keeps them.
    pub(super) path: PathBuf,
    /// The compression effort of its packages.
    pub(super) effort: PackingEffort,
}

impl Profile {
    /// The profile of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "dist" => Some(Self::Dist),
            "release" => Some(Self::Release),
            "dev" => Some(Self::Dev),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Dist => "dist",
            Self::Release => "release",
            Self::Dev => "dev",
        }
    }

    /// The directory below `target` in which cargo builds it.
    fn folder(self) -> &'static str {
        match self {
            Self::Dev => "debug",
            other => other.name(),
        }
    }
}

/// Builds the program.
pub(super) fn program(profile: Profile) -> anyhow::Result<BuiltProgram> {
    let platform = platform::here()?;
    let target = workspace::target_folder()?;
    if profile == Profile::Dist && platform.is_linux() {
        match zig() {
            Ok(tools) => {
                build_with_zig(&tools, platform.triple)?;
                let path = target.join(platform.triple).join("dist/windlass");
                return built(path, PackingEffort::Most);
            }
            Err(why) => skip(&format!("linking for glibc {OLDEST_GLIBC}"), &why),
        }
    }
    workspace::cargo(arguments("build", profile))?;
    let effort = match profile {
        Profile::Dist => PackingEffort::Most,
        Profile::Release | Profile::Dev => PackingEffort::Least,
    };
    built(target.join(profile.folder()).join("windlass"), effort)
}

/// An existing program.
pub(super) fn there(path: PathBuf, effort: PackingEffort) -> anyhow::Result<BuiltProgram> {
    ensure!(path.is_file(), "there is no `{}`", path.display());
    has_no_test_words(&path)?;
    Ok(BuiltProgram { path, effort })
}

fn built(path: PathBuf, effort: PackingEffort) -> anyhow::Result<BuiltProgram> {
    ensure!(path.is_file(), "cargo has not built `{}`", path.display());
    has_no_test_words(&path)?;
    Ok(BuiltProgram { path, effort })
}

/// Whether cargo has built it for the tests, with debug assertions.
fn is_for_tests(program: &Path) -> bool {
    let folder = program.parent().and_then(Path::file_name);
    folder.is_some_and(|folder| folder == Profile::Dev.folder())
}

/// Words by which tests control a program with debug assertions: the scope of a sweep, and orders. A user's program must
/// not obey them.
const TEST_WORDS: [&[u8]; 3] = [
    b"WINDLASS_SWEEP_SCOPE",
    b"WINDLASS_TEST_ORDERS",
    b"windlass test order",
];

/// Checks that a program was built without debug assertions, unless it is the one that the tests use.
fn has_no_test_words(program: &Path) -> anyhow::Result<()> {
    if is_for_tests(program) {
        return Ok(());
    }
    let bytes = std::fs::read(program)?;
    let found = TEST_WORDS
        .iter()
        .find(|word| bytes.windows(word.len()).any(|part| part == **word));
    ensure!(
        found.is_none(),
        "`{}` contains `{}`: it was built with debug assertions, and is only for tests",
        program.display(),
        String::from_utf8_lossy(found.copied().unwrap_or_default())
    );
    Ok(())
}

fn arguments(command: &str, profile: Profile) -> Vec<&str> {
    let package = ["--package", "windlass-cli", "--profile"];
    [&[command], &package[..], &[profile.name()]].concat()
}

/// A linker that supports every glibc version, and its wrapper for cargo; both
/// are prebuilt on `PyPI`.
struct Zig {
    program: PathBuf,
    wrapper: PathBuf,
}

fn zig() -> anyhow::Result<Zig> {
    let folder = packages::folder("windlass-zig")?;
    let python = packages::pypi(&folder, &["ziglang", "cargo-zigbuild"])?;
    let output = Command::new(&python)
        .args(["-c", "import ziglang; print(ziglang.__path__[0])"])
        .output()?;
    let package = String::from_utf8(output.stdout).context("a path that is not UTF-8")?;
    let program = PathBuf::from(package.trim()).join("zig");
    let wrapper = folder.join("bin/cargo-zigbuild");
    ensure!(program.is_file(), "`ziglang` holds no program");
    ensure!(wrapper.is_file(), "`cargo-zigbuild` holds no program");
    Ok(Zig { program, wrapper })
}

fn build_with_zig(zig: &Zig, triple: &str) -> anyhow::Result<()> {
    let mut command = Command::new(&zig.wrapper);
    command
        .args(arguments("zigbuild", Profile::Dist))
        .arg("--target")
        .arg(format!("{triple}.{OLDEST_GLIBC}"))
        .env("CARGO_ZIGBUILD_ZIG_PATH", &zig.program)
        .env("RUSTFLAGS", remapped())
        // No panic passes through C: its unwind tables would have no reader.
        .env(
            "CFLAGS",
            "-fno-asynchronous-unwind-tables -fno-unwind-tables",
        )
        .env("WINDLASS_PACKAGED", "1")
        .current_dir(workspace::root());
    println!("$ {}", workspace::shown(&command));
    let status = command
        .status()
        .with_context(|| format!("cannot run `{}`", zig.wrapper.display()))?;
    ensure!(status.success(), "`cargo-zigbuild` failed");
    Ok(())
}

/// Flags that keep paths of this machine out of the program.
fn remapped() -> String {
    let mut flags = vec![format!(
        "--remap-path-prefix={}=/windlass",
        workspace::root().display()
    )];
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    if let Some(home) = home {
        flags.push(format!("--remap-path-prefix={}=/cargo", home.display()));
    }
    flags.join(" ")
}

#[cfg(test)]
#[path = "build_tests.rs"]
mod tests;
