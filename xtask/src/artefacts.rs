//! `cargo xtask package`: builds and checks everything that a user installs.
//!
//! Start at [`run`]. [`build`] builds the program and [`stage`] the files
//! around it; [`tarball`], [`deb`], [`npm`] and [`wheel`] put them into
//! `dist/`, a flat directory that is recreated. [`check`] installs each into an
//! empty directory and uses it. Nothing here uploads anything.

mod archive;
mod build;
mod check;
mod deb;
mod dependencies;
mod elf;
mod licences;
mod npm;
mod platform;
mod sbom;
mod server_json;
mod stage;
mod tarball;
mod wheel;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::test::AllowedSkips;
use crate::workspace;
use archive::PackingEffort;
use build::{BuiltProgram, Profile};
use stage::StagedFiles;

const USAGE: &str = "\
`package` takes

  --profile NAME   dist (default), release or dev
  --program FILE   package this program instead of building one
  --quick          compress it little
  --no-check       build only
  --check          check the artefacts that are in dist/ already
  --join FOLDER    add the artefacts of other machines to dist/, and make the
                   npm package that names all of their platforms";

/// The arguments of the chore.
#[derive(Debug, PartialEq, Eq)]
enum Task {
    /// Build the artefacts, and check them if requested.
    Build {
        source: ProgramSource,
        check: bool,
        quick: bool,
    },
    /// Check the existing artefacts.
    Check,
    /// Add the artefacts of other machines.
    Join(PathBuf),
}

/// The source of the program.
#[derive(Debug, PartialEq, Eq)]
enum ProgramSource {
    /// Build it.
    Profile(Profile),
    /// Use an existing file.
    File(PathBuf),
}

/// Runs the chore.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    match task(arguments)? {
        Task::Build {
            source,
            check,
            quick,
        } => {
            let mut program = match source {
                ProgramSource::Profile(profile) => build::program(profile)?,
                ProgramSource::File(file) => build::there(file, PackingEffort::Most)?,
            };
            if quick {
                program.effort = PackingEffort::Least;
            }
            build_all(&program)?;
            if check {
                check::run(&dist(), &|_| true)
            } else {
                Ok(())
            }
        }
        Task::Check => check::run(&dist(), &|_| true),
        Task::Join(folder) => join(&folder),
    }
}

/// Packages this program quickly and checks every package. A check that cannot run here must be allowed.
pub(crate) fn pack_and_check(program: &Path, allowed: &AllowedSkips) -> anyhow::Result<()> {
    build_all(&build::there(program.to_owned(), PackingEffort::Least)?)?;
    check::run(&dist(), &|check| allowed.allow_check(check))
}

fn task(arguments: &[String]) -> anyhow::Result<Task> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut source = ProgramSource::Profile(Profile::Dist);
    let (mut check, mut quick) = (true, false);
    match words[..] {
        ["--check"] => return Ok(Task::Check),
        ["--join", folder] => return Ok(Task::Join(folder.into())),
        _ => {}
    }
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match *word {
            "--no-check" => check = false,
            "--quick" => quick = true,
            "--profile" => {
                let name = rest.next().copied().unwrap_or_default();
                let profile = Profile::named(name);
                let profile =
                    profile.with_context(|| format!("`{name}` is not a profile\n\n{USAGE}"))?;
                source = ProgramSource::Profile(profile);
            }
            "--program" => {
                let file = rest.next().context(USAGE)?;
                source = ProgramSource::File(file.into());
            }
            other => bail!("`{other}` is not an argument\n\n{USAGE}"),
        }
    }
    Ok(Task::Build {
        source,
        check,
        quick,
    })
}

/// The Rust targets of the packages.
#[cfg(test)]
pub(crate) fn triples() -> impl Iterator<Item = &'static str> {
    platform::all().iter().map(|platform| platform.triple)
}

/// The folder of the artefacts.
fn dist() -> PathBuf {
    workspace::root().join("dist")
}

fn build_all(program: &BuiltProgram) -> anyhow::Result<()> {
    let dist = dist();
    empty(&dist)?;
    let stage = StagedFiles::make(program)?;
    let platform = npm::platform(&stage, &dist)?;
    let made = [
        tarball::make(&stage, &dist)?,
        deb::make(&stage, &dist)?,
        npm::meta(&stage.version, &[stage.platform], &dist, stage.effort)?,
        platform,
        wheel::make(&stage, &dist)?,
        stage.copy_sbom(&dist)?,
    ];
    archive::checksums(&dist)?;
    println!();
    let size = std::fs::metadata(&stage.binary)?.len();
    println!("{} program, {}", megabytes(size), stage.binary.display());
    for file in made.iter().flatten() {
        let size = std::fs::metadata(file)?.len();
        println!("{} {}", megabytes(size), name_of(file));
    }
    for platform in platform::others(stage.platform) {
        println!("not built here: the packages for {}", platform.npm);
    }
    Ok(())
}

/// Adds the artefacts of other machines. Their npm packages `windlass` are left
/// out, because each knows only one platform.
fn join(folder: &Path) -> anyhow::Result<()> {
    let dist = dist();
    std::fs::create_dir_all(&dist)?;
    let version = stage::version()?;
    let meta = npm::meta_file(&version);
    for file in archive::files(folder)? {
        let name = name_of(&file);
        if name != meta && name != archive::CHECKSUMS {
            std::fs::copy(&file, dist.join(&name))?;
            println!("added {name}");
        }
    }
    let there: Vec<_> = platform::all()
        .iter()
        .filter(|platform| dist.join(npm::platform_file(platform, &version)).is_file())
        .collect();
    npm::meta(&version, &there, &dist, PackingEffort::Most)?;
    archive::checksums(&dist)
}

/// Creates an empty directory.
fn empty(folder: &Path) -> anyhow::Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder)
            .with_context(|| format!("cannot remove `{}`", folder.display()))?;
    }
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create `{}`", folder.display()))
}

fn name_of(file: &Path) -> String {
    file.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

fn megabytes(bytes: u64) -> String {
    format!("{:6}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10)
}

/// Reports that an artefact was left out, and why.
fn skip(name: &str, why: &anyhow::Error) {
    println!("skipped: {name}: {why:#}");
}

#[cfg(test)]
#[path = "artefacts_tests.rs"]
mod tests;
