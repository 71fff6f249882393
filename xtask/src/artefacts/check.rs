//! Installs every artefact of `dist/` into an empty directory and uses it
//! there.
//!
//! Start at [`run`]. [`installs`] has one function per installation method;
//! [`use_it`] then does what a user does. [`place`] is the environment: a
//! temporary directory, with the rest of the machine read-only if the system
//! permits that. [`registry`] replaces those of npm and `PyPI`.

mod contents;
mod installs;
mod place;
mod policy;
mod registry;
mod use_it;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, bail};

use crate::artefacts::{archive, name_of, npm, platform, stage};

/// The artefacts for this machine. `None` if one was not built.
struct Artefacts {
    dist: PathBuf,
    version: String,
    tarball: Option<PathBuf>,
    deb: Option<PathBuf>,
    wheel: Option<PathBuf>,
    npm: Option<[PathBuf; 2]>,
}

/// The result of a check that did not fail.
enum Checked {
    /// Passed, with a short comment.
    Well(String),
    /// This machine cannot run it; the text is the reason.
    Skipped(String),
}

type CheckFunction = fn(&Artefacts) -> anyhow::Result<Checked>;

const CHECKS: &[(&str, CheckFunction)] = &[
    ("dependencies", policy::check),
    ("cargo deny", policy::cargo_deny),
    ("crates", contents::crates),
    ("workflows", contents::workflows),
    ("contents of every archive", contents::check),
    ("tarball and its install script", installs::tarball),
    ("dpkg", installs::deb),
    ("dpkg of a new system", installs::deb_in_new_system),
    ("lintian", contents::lintian),
    ("auditwheel", contents::auditwheel),
    ("pip install", installs::pip),
    ("uvx", installs::uvx),
    ("npm install", installs::npm),
    ("npx", installs::npx),
    ("container image", installs::container),
];

/// Runs all checks; fails if one fails, or cannot run although `may_skip` does not hold for its name.
pub(super) fn run(dist: &Path, may_skip: &dyn Fn(&str) -> bool) -> anyhow::Result<()> {
    let artefacts = Artefacts::find(dist)?;
    println!();
    if let Err(why) = place::read_only() {
        println!("skipped: making the rest of the machine read-only: {why:#}");
    }
    let mut failed = Vec::new();
    for (name, check) in CHECKS {
        let begun = Instant::now();
        match check(&artefacts) {
            Ok(Checked::Well(seen)) => {
                println!(
                    "ok: {name}: {seen} ({:.1} s)",
                    begun.elapsed().as_secs_f64()
                );
            }
            Ok(Checked::Skipped(why)) => {
                println!("skipped: {name}: {why}");
                if !may_skip(name) {
                    println!("FAILED: {name}: `xtask/skips.toml` does not list it");
                    failed.push(*name);
                }
            }
            Err(error) => {
                println!("FAILED: {name}: {error:#}");
                failed.push(*name);
            }
        }
    }
    if failed.is_empty() {
        Ok(())
    } else {
        bail!("the packages are not good: {}", failed.join(", "))
    }
}

impl Artefacts {
    fn find(dist: &Path) -> anyhow::Result<Self> {
        let files = archive::files(dist).context("run `cargo xtask package` first")?;
        let platform = platform::here()?;
        let version = stage::version()?;
        let ends = |end: &str| {
            files
                .iter()
                .find(|file| name_of(file).ends_with(end))
                .cloned()
        };
        let exact = |name: String| files.iter().find(|file| name_of(file) == name).cloned();
        let found = Self {
            tarball: ends(&format!("-{}.tar.xz", platform.npm)),
            deb: platform
                .debian
                .and_then(|architecture| ends(&format!("_{architecture}.deb"))),
            wheel: ends(&format!("_{}.whl", platform.wheel)),
            npm: exact(npm::meta_file(&version))
                .zip(exact(npm::platform_file(platform, &version)))
                .map(|(meta, platform)| [meta, platform]),
            dist: dist.to_owned(),
            version,
        };
        if found.tarball.is_none() || found.wheel.is_none() || found.npm.is_none() {
            bail!(
                "`{}` is not whole; run `cargo xtask package` first",
                dist.display()
            );
        }
        Ok(found)
    }
}
