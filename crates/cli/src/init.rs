//! `windlass init`: a config file to start from.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use windlass::config::SAMPLE_CONFIG;

use crate::args::Global;
use crate::setup;
use crate::stdout::outln;
use crate::trust::Before;

pub(crate) fn run(global: &Global) -> anyhow::Result<ExitCode> {
    let folder = setup::load_options(global)?.cwd.join(".windlass");
    let file = folder.join("config.toml");
    let before = Before::look(global);
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot create `{}`", folder.display()))?;
    // Never overwrites a file.
    let made = std::fs::File::create_new(&file);
    let mut made = match made {
        Ok(made) => made,
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            bail!("`{}` exists already and was not changed", file.display());
        }
        Err(error) => return Err(error).context(format!("cannot write `{}`", file.display())),
    };
    made.write_all(SAMPLE_CONFIG.as_bytes())
        .with_context(|| format!("cannot write `{}`", file.display()))?;
    outln!("wrote {}", file.display())?;
    before.trust_written(global, &[(file, SAMPLE_CONFIG.to_owned())])?;
    Ok(ExitCode::SUCCESS)
}
