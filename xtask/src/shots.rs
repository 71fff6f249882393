//! Takes the screenshots of the page in the documentation.
//!
//! A script (`xtask/shots/shots.mjs`) drives a browser on a server that is
//! started for it, so that the screenshots stay current.

use std::path::Path;
use std::process::Command;

use anyhow::ensure;

use crate::{clients, workspace};

/// The directory of the screenshots.
const FOLDER: &str = "docs/guide";
const BROWSER: &str = "/usr/bin/chromium";

/// Makes all pictures, or those of these names.
pub(crate) fn run(names: &[String]) -> anyhow::Result<()> {
    ensure!(
        Path::new(BROWSER).exists(),
        "`{BROWSER}` is not installed; `cargo xtask test` installs it"
    );
    let programs = clients::provide()?;
    let packages = clients::folder()?;
    let windlass = workspace::build_windlass()?;
    let root = workspace::root();
    clients::run(
        Command::new(programs.join("page-driver"))
            .arg(root.join("xtask/shots/shots.mjs"))
            .args([packages.as_path(), Path::new(BROWSER), &windlass])
            .arg(root.join(FOLDER))
            .args(names),
    )
}
