//! Files that several packages contain, in `target/package`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use cargo_metadata::MetadataCommand;

use crate::artefacts::archive::{self, PackingEffort};
use crate::artefacts::build::BuiltProgram;
use crate::artefacts::dependencies::Dependencies;
use crate::artefacts::platform::{self, Platform};
use crate::artefacts::{elf, empty, licences, sbom, skip};
use crate::workspace;

/// The one-line description in every package.
pub(super) const SUMMARY: &str = "Tools that last, for any AI assistant";

/// The file with the licences of all packages in the program.
pub(super) const LICENCES: &str = "THIRD-PARTY-LICENSES.txt";

/// The shells with completions: the argument of `windlass completions`, and the file name that the shell expects.
pub(super) const SHELLS: [(&str, &str); 3] = [
    ("bash", "windlass.bash"),
    ("zsh", "_windlass"),
    ("fish", "windlass.fish"),
];

/// The program and the files around it.
pub(super) struct StagedFiles {
    /// The directory in which packages are assembled.
    pub(super) folder: PathBuf,
    /// The program, without symbols.
    pub(super) binary: PathBuf,
    /// The directory of manual pages.
    pub(super) manual: PathBuf,
    /// The directory of completions, one file for each of [`SHELLS`].
    pub(super) completions: PathBuf,
    pub(super) version: String,
    pub(super) platform: &'static Platform,
    /// The oldest glibc that the program runs with.
    pub(super) glibc: Option<(u32, u32)>,
    pub(super) effort: PackingEffort,
}

impl StagedFiles {
    /// Assembles everything.
    pub(super) fn make(program: &BuiltProgram) -> anyhow::Result<Self> {
        let folder = workspace::target_folder()?.join("package-stage");
        empty(&folder)?;
        let platform = platform::here()?;
        let binary = folder.join("windlass");
        archive::copy(&program.path, &binary)?;
        let dependencies = Dependencies::read(platform.triple)?;
        archive::run(Command::new("strip").arg(&binary))?;
        if platform.is_linux()
            && let Err(why) = sbom::embed(&dependencies, &binary)
        {
            skip("the list of dependencies inside of the program", &why);
        }
        let bill = serde_json::to_string_pretty(&sbom::cyclonedx(&dependencies))?;
        archive::write(&folder.join("sbom.cdx.json"), bill + "\n")?;
        archive::write(&folder.join(LICENCES), licences::collect(&dependencies)?)?;
        let stage = Self {
            manual: folder.join("man"),
            completions: folder.join("completions"),
            version: version()?,
            platform,
            glibc: elf::glibc(&fs::read(&binary)?),
            effort: program.effort,
            binary,
            folder,
        };
        stage.write_pages()?;
        Ok(stage)
    }

    /// Makes the program write its manual and its completions.
    fn write_pages(&self) -> anyhow::Result<()> {
        archive::run(Command::new(&self.binary).arg("man").arg(&self.manual))?;
        for (shell, file) in SHELLS {
            let mut command = Command::new("windlass");
            // Run by name: a script that contains a path would only work here.
            command.args(["completions", shell]);
            let folders = std::env::var_os("PATH").unwrap_or_default();
            let folders = std::env::split_paths(&folders);
            let path = std::env::join_paths(std::iter::once(self.folder.clone()).chain(folders))?;
            let script = archive::output(command.env("PATH", path))?;
            anyhow::ensure!(
                !script.contains(&*self.folder.to_string_lossy()),
                "the completions for {shell} name a folder of this machine"
            );
            archive::write(&self.completions.join(file), script)?;
        }
        Ok(())
    }

    /// The package's file name without its extension, as in `windlass-0.1.0-linux-x64`.
    pub(super) fn name(&self) -> String {
        format!("windlass-{}-{}", self.version, self.platform.npm)
    }

    /// Copies the bill of materials.
    pub(super) fn copy_sbom(&self, dist: &Path) -> anyhow::Result<Option<PathBuf>> {
        let to = dist.join(format!("{}.cdx.json", self.name()));
        archive::copy(&self.folder.join("sbom.cdx.json"), &to)?;
        Ok(Some(to))
    }

    /// Copies our own licences and the third-party ones.
    pub(super) fn copy_licences(&self, folder: &Path) -> anyhow::Result<()> {
        archive::copy(&self.folder.join(LICENCES), &folder.join(LICENCES))?;
        copy_own_licences(folder)
    }

    /// The systemd unit, if the workspace has one.
    pub(super) fn unit() -> Option<PathBuf> {
        let unit = workspace::root().join("packaging/systemd/windlass.service");
        unit.is_file().then_some(unit)
    }
}

/// Copies the licences of Windlass itself.
pub(super) fn copy_own_licences(folder: &Path) -> anyhow::Result<()> {
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        archive::copy(&workspace::root().join(name), &folder.join(name))?;
    }
    Ok(())
}

/// The README of a package for a language: the common one, and that of the library if there is one.
pub(super) fn readme(library: &Path) -> anyhow::Result<String> {
    let common = fs::read_to_string(workspace::root().join("packaging/README.md"))?;
    let Ok(own) = fs::read_to_string(library.join("README.md")) else {
        return Ok(common);
    };
    let text = match own.split_once('\n') {
        Some((title, rest)) if title.starts_with("# ") => rest,
        _ => &own,
    };
    Ok(format!("{common}\n## The library\n{text}"))
}

/// The version in the workspace's manifest.
pub(super) fn version() -> anyhow::Result<String> {
    let metadata = MetadataCommand::new()
        .current_dir(workspace::root())
        .no_deps()
        .exec()
        .context("cannot ask cargo for the version")?;
    let package = metadata
        .workspace_packages()
        .into_iter()
        .find(|package| package.name == "windlass-cli")
        .context("there is no package `windlass-cli`")?;
    Ok(package.version.to_string())
}
