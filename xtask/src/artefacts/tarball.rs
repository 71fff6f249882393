//! `windlass-VERSION-PLATFORM.tar.xz`, with a script that installs it.

use std::path::{Path, PathBuf};

use crate::artefacts::archive::{self, Compression};
use crate::artefacts::empty;
use crate::artefacts::stage::{SHELLS, StagedFiles};
use crate::workspace;

/// Makes the archive.
pub(super) fn make(stage: &StagedFiles, dist: &Path) -> anyhow::Result<Option<PathBuf>> {
    let name = stage.name();
    let root = stage.folder.join("tarball");
    let folder = root.join(&name);
    empty(&folder)?;
    archive::copy(&stage.binary, &folder.join("bin/windlass"))?;
    for page in archive::files(&stage.manual)? {
        let file = page.file_name().unwrap_or_default();
        archive::copy(&page, &folder.join("share/man/man1").join(file))?;
    }
    for ((_, file), to) in SHELLS.into_iter().zip([
        "share/bash-completion/completions/windlass",
        "share/zsh/site-functions/_windlass",
        "share/fish/vendor_completions.d/windlass.fish",
    ]) {
        archive::copy(&stage.completions.join(file), &folder.join(to))?;
    }
    let documents = folder.join("share/doc/windlass");
    stage.copy_licences(&documents)?;
    archive::copy(
        &stage.folder.join("sbom.cdx.json"),
        &documents.join("sbom.cdx.json"),
    )?;
    archive::copy(
        &workspace::root().join("README.md"),
        &documents.join("README.md"),
    )?;
    if let Some(unit) = StagedFiles::unit() {
        archive::copy(&unit, &documents.join("windlass.service"))?;
    }
    let script = workspace::root().join("packaging/tarball/install.sh");
    archive::copy(&script, &folder.join("install.sh"))?;
    let to = dist.join(format!("{name}.tar.xz"));
    archive::tar(&root, &name, &to, Compression::Xz, stage.effort)?;
    Ok(Some(to))
}
