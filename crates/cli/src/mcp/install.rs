//! `windlass mcp install`: Windlass in an agent's own config.
//!
//! Start at [`run`]. `client.rs` knows where each client keeps its servers and
//! how it writes one down, `edit.rs` changes a config's text and leaves the
//! rest of it alone, `save.rs` puts it where it belongs. Nothing is written
//! that was not shown, and nothing that cannot be read is touched.

mod client;
mod edit;
mod save;

use std::io::IsTerminal as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::ValueEnum as _;
use serde_json::json;
use similar::TextDiff;

use crate::args::{Global, InstallArgs};
use crate::prompt::{self, Agreement};
use crate::stdout::{self, errln, outln};
use crate::{exit, setup};
use client::{Around, Setting};
pub(crate) use client::{Client, Scope};

pub(crate) async fn run(global: &Global, args: &InstallArgs) -> anyhow::Result<ExitCode> {
    if !global.config.is_empty() || !global.set.is_empty() {
        bail!(
            "`--config` and `--set` are not passed on to the client; put what they say into a config \
             file, or add them to the client's config by hand"
        );
    }
    let around = Around::of_process(setup::load_options(global)?.cwd)?;
    let Some(client) = args.client else {
        if args.print || args.yes {
            bail!("name the client: {}", names());
        }
        list(global, &around, args.scope)?;
        return Ok(ExitCode::SUCCESS);
    };
    let Some(setting) = client.setting(args.scope, &around) else {
        bail!(
            "{} keeps no servers per project; leave `--scope` out",
            client.title()
        );
    };
    let windlass = own_path()?;
    if args.print {
        stdout::write(edit::edited("", &setting, &windlass)?.as_bytes())?;
        errln!("windlass: this goes into {}", setting.file.display());
        return Ok(ExitCode::SUCCESS);
    }
    install(client, &setting, &windlass, args.yes).await
}

async fn install(
    client: Client,
    setting: &Setting,
    windlass: &str,
    yes: bool,
) -> anyhow::Result<ExitCode> {
    let file = &setting.file;
    let title = client.title();
    let (before, after) = change(setting, windlass)?;
    if before.as_deref() == Some(after.as_str()) {
        outln!(
            "{title} has Windlass already; {} is as it was",
            file.display()
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    show(file, before.as_deref(), &after)?;
    if !yes && !agreed(file).await? {
        outln!("{} is as it was", file.display())?;
        return Ok(ExitCode::from(exit::FAILED));
    }
    // The question may have stood for a while, and some clients write this
    // file all the time.
    if change(setting, windlass)?.0 != before {
        bail!(
            "`{}` has changed meanwhile and was left alone; try again",
            file.display()
        );
    }
    let backup = save::save(setting, before.is_some(), &after)?;
    outln!("wrote {}", file.display())?;
    if let Some(backup) = backup {
        outln!("what it was before is in {}", backup.display())?;
    }
    outln!("{title} has Windlass from its next start on")?;
    if let Some(hint) = client.hint(setting.scope) {
        outln!("{hint}")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The config's text as it is, if there is one, and as it would be.
fn change(setting: &Setting, windlass: &str) -> anyhow::Result<(Option<String>, String)> {
    let file = setting.file.display();
    let before = match std::fs::read_to_string(&setting.file) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(error).context(format!("cannot read `{file}`")),
    };
    let after = edit::edited(before.as_deref().unwrap_or_default(), setting, windlass)
        .with_context(|| {
            format!("`{file}` was left alone; mend it, or add by hand what `--print` prints")
        })?;
    Ok((before, after))
}

fn show(file: &Path, before: Option<&str>, after: &str) -> std::io::Result<()> {
    let name = file.display().to_string();
    let old = before.map_or("/dev/null", |_| name.as_str());
    let diff = TextDiff::from_lines(before.unwrap_or_default(), after);
    let diff = diff.unified_diff().header(old, &name).to_string();
    stdout::write(diff.as_bytes())
}

async fn agreed(file: &Path) -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() {
        bail!(
            "nobody can be asked whether to write `{}`, which was left alone; `--yes` writes it",
            file.display()
        );
    }
    let agreement = Agreement(format!("Write {}?", file.display()));
    Ok(prompt::ask(&agreement).await.unwrap_or(false))
}

/// This program, as a client is to start it.
fn own_path() -> anyhow::Result<String> {
    let path = std::env::current_exe().context("this program cannot tell where it is")?;
    if !path.is_file() {
        bail!(
            "`{}` is this program and is gone; run the one that took its place",
            path.display()
        );
    }
    let Ok(path) = path.into_os_string().into_string() else {
        bail!("the path of this program is no Unicode text, which configs must be");
    };
    Ok(path)
}

/// Tells which clients there are here, and which of them have Windlass.
fn list(global: &Global, around: &Around, scope: Scope) -> std::io::Result<()> {
    let found = Client::value_variants()
        .iter()
        .filter(|client| client.is_here(around));
    let rows: Vec<_> = found
        .filter_map(|client| {
            let setting = client.setting(scope, around)?;
            let text = std::fs::read_to_string(&setting.file).unwrap_or_default();
            Some((client, edit::has_entry(&text, &setting), setting.file))
        })
        .collect();
    if global.json {
        let rows = rows.iter().map(|(client, installed, file)| {
            json!({"client": client.name(), "title": client.title(), "installed": installed, "file": file})
        });
        outln!("{}", rows.collect::<serde_json::Value>())?;
        return Ok(());
    }
    if rows.is_empty() {
        outln!("no client was found here; these can be named: {}", names())?;
        return Ok(());
    }
    for (client, installed, file) in &rows {
        let state = if *installed { "set up" } else { "-" };
        outln!("{:<9} {state:<7} {}", client.name(), file.display())?;
    }
    if let Some((client, ..)) = rows.iter().find(|(_, installed, _)| !installed) {
        outln!("\nnext:\n  windlass mcp install {}", client.name())?;
    }
    Ok(())
}

fn names() -> String {
    let names: Vec<String> = Client::value_variants()
        .iter()
        .map(|client| client.name())
        .collect();
    names.join(", ")
}
