//! The hidden subcommand `man`: writes a manual page for every subcommand.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;

use crate::help;
use crate::stdout::outln;

/// Writes `windlass.1`, `windlass-drive.1` and so on into a folder, and
/// prints their names.
pub(crate) fn run(folder: &Path) -> anyhow::Result<ExitCode> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
    let mut command = help::command();
    command.build();
    write(&command, "windlass", folder)?;
    Ok(ExitCode::SUCCESS)
}

fn write(command: &clap::Command, name: &str, folder: &Path) -> anyhow::Result<()> {
    let mut page = Vec::new();
    let shown = command
        .clone()
        .display_name(name)
        .version(env!("CARGO_PKG_VERSION"));
    clap_mangen::Man::new(shown.disable_help_subcommand(true))
        .title(name.to_uppercase())
        .section("1")
        .source(concat!("windlass ", env!("CARGO_PKG_VERSION")))
        .manual("Windlass")
        .render(&mut page)?;
    let file = format!("{name}.1");
    let path = folder.join(&file);
    fs::write(&path, page).with_context(|| format!("cannot write `{}`", path.display()))?;
    outln!("{file}")?;
    for subcommand in command.get_subcommands() {
        if !subcommand.is_hide_set() && subcommand.get_name() != "help" {
            write(
                subcommand,
                &format!("{name}-{}", subcommand.get_name()),
                folder,
            )?;
        }
    }
    Ok(())
}
