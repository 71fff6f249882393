//! `windlass mcp install`: adds Windlass to an agent's config.
//!
//! Start at [`run`]. `client.rs` knows the config of each client, `edit.rs`
//! changes its text and preserves the rest, `save.rs` writes it. Every change
//! is shown first, and a config that cannot be parsed is not touched.

mod agents_md;
mod client;
mod edit;
mod save;

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::ValueEnum as _;
use serde_json::{Value, json};
use similar::TextDiff;

use crate::args::{Global, InstallArgs, UninstallArgs};
use crate::print::{self, Listing, Printer, Tone, cell, column};
use crate::prompt::{self, Agreement};
use crate::stdout::{self, errln, outln};
use crate::{exit, setup};
use client::{Around, Setting};
pub(crate) use client::{Client, Scope};

/// The name of this program on PATH.
const NAME: &str = "windlass";

pub(crate) async fn run(global: &Global, args: &InstallArgs) -> anyhow::Result<ExitCode> {
    if !global.config.is_empty() || !global.set.is_empty() {
        bail!(
            "`--config` and `--set` are not passed on to the client; put the values into a config \
             file, or add the options to the client's config by hand"
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
            "{} has no config per project; leave out `--scope`",
            client.title()
        );
    };
    let windlass = command_for(client)?;
    if args.print {
        stdout::write(edit::edited("", &setting, &windlass)?.as_bytes())?;
        errln!("windlass: add this to {}", setting.file.display());
        return Ok(ExitCode::SUCCESS);
    }
    let code = install(global, client, &setting, &windlass, args.yes).await?;
    let can_offer = !args.yes && !global.json && std::io::stdin().is_terminal();
    if code == ExitCode::SUCCESS && (args.agents_md || can_offer) {
        agents_md::offer(global, &around.project, args.agents_md).await?;
    }
    Ok(code)
}

/// Removes Windlass from a client's config.
pub(crate) async fn uninstall(global: &Global, args: &UninstallArgs) -> anyhow::Result<ExitCode> {
    let around = Around::of_process(setup::load_options(global)?.cwd)?;
    let client = args.client;
    let Some(setting) = client.setting(args.scope, &around) else {
        bail!(
            "{} has no config per project; leave out `--scope`",
            client.title()
        );
    };
    let removal = ConfigChange {
        setting: &setting,
        edit: &|text| edit::removed(text, &setting),
    };
    let title = client.title();
    let told = ToldInstall {
        unchanged: format!("{title} does not have Windlass"),
        done: format!("Windlass was removed from {title}; restart it"),
    };
    let outcome = removal.carry_out(global, &told, args.yes).await?;
    outcome.report(global, client)
}

async fn install(
    global: &Global,
    client: Client,
    setting: &Setting,
    windlass: &str,
    yes: bool,
) -> anyhow::Result<ExitCode> {
    let title = client.title();
    let addition = ConfigChange {
        setting,
        edit: &|text| edit::edited(text, setting, windlass),
    };
    let told = ToldInstall {
        unchanged: format!("{title} has Windlass already"),
        done: format!("Windlass was added to {title}; restart it"),
    };
    let outcome = addition.carry_out(global, &told, yes).await?;
    if outcome.wrote
        && !global.json
        && let Some(hint) = client.hint(setting.scope)
    {
        outln!("{hint}")?;
    }
    outcome.report(global, client)
}

/// A change of a client's config.
struct ConfigChange<'a> {
    setting: &'a Setting,
    edit: &'a dyn Fn(&str) -> anyhow::Result<String>,
}

/// Messages about a change.
struct ToldInstall {
    unchanged: String,
    done: String,
}

/// The result of a change.
struct Changed {
    file: PathBuf,
    wrote: bool,
    declined: bool,
    backup: Option<PathBuf>,
}

impl Changed {
    fn report(&self, global: &Global, client: Client) -> anyhow::Result<ExitCode> {
        if global.json {
            print::json(&json!({
                "client": client.name(), "file": self.file, "changed": self.wrote,
                "backup": self.backup,
            }))?;
        }
        Ok(if self.declined {
            ExitCode::from(exit::FAILED)
        } else {
            ExitCode::SUCCESS
        })
    }
}

impl ConfigChange<'_> {
    async fn carry_out(
        &self,
        global: &Global,
        told: &ToldInstall,
        yes: bool,
    ) -> anyhow::Result<Changed> {
        let file = &self.setting.file;
        let mut changed = Changed {
            file: file.clone(),
            wrote: false,
            declined: false,
            backup: None,
        };
        let say = |line: String| {
            if global.json {
                Ok(())
            } else {
                outln!("{line}")
            }
        };
        let (before, after) = self.texts()?;
        if before.as_deref().unwrap_or_default() == after {
            say(format!(
                "{}; {} is unchanged",
                told.unchanged,
                file.display()
            ))?;
            return Ok(changed);
        }
        if !global.json {
            show(Printer::new(global), file, before.as_deref(), &after)?;
        }
        if !yes && !agreed(file).await? {
            say(format!("{} is unchanged", file.display()))?;
            changed.declined = true;
            return Ok(changed);
        }
        // The file may have changed while the prompt was open: some clients
        // write it often.
        if self.texts()?.0 != before {
            bail!(
                "`{}` was changed by another program, so nothing was written; try again",
                file.display()
            );
        }
        changed.backup = save::save(self.setting, before.is_some(), &after)?;
        changed.wrote = true;
        say(format!("wrote {}", file.display()))?;
        if let Some(backup) = &changed.backup {
            say(format!("the previous content is in {}", backup.display()))?;
        }
        say(told.done.clone())?;
        Ok(changed)
    }

    /// The current text of the config, if it exists, and the changed text.
    fn texts(&self) -> anyhow::Result<(Option<String>, String)> {
        let file = self.setting.file.display();
        let before = match std::fs::read_to_string(&self.setting.file) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(error).context(format!("cannot read `{file}`")),
        };
        let after = (self.edit)(before.as_deref().unwrap_or_default()).with_context(|| {
            format!(
                "`{file}` was not changed; fix it, or add the entry that `--print` shows by \
                     hand"
            )
        })?;
        Ok((before, after))
    }
}

/// Shows a change as a diff.
fn show(printer: Printer, file: &Path, before: Option<&str>, after: &str) -> std::io::Result<()> {
    let name = file.display().to_string();
    let old = before.map_or("/dev/null", |_| name.as_str());
    let diff = TextDiff::from_lines(before.unwrap_or_default(), after);
    let diff = diff.unified_diff().header(old, &name).to_string();
    let lines = diff.lines().map(|line| {
        let tone = match line.as_bytes().first() {
            Some(b'+') if !line.starts_with("+++") => Tone::Good,
            Some(b'-') if !line.starts_with("---") => Tone::Bad,
            Some(b'@') => Tone::Faint,
            _ => Tone::Plain,
        };
        printer.paint(line, tone) + "\n"
    });
    stdout::write(lines.collect::<String>().as_bytes())
}

async fn agreed(file: &Path) -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() {
        bail!(
            "`{}` was not changed: there is no terminal to ask on; `--yes` writes it without \
             asking",
            file.display()
        );
    }
    let agreement = Agreement(format!("Write {}?", file.display()));
    Ok(prompt::ask(&agreement).await.unwrap_or(false))
}

/// The command by which a client starts this program: its name if `PATH`
/// resolves it to this program and the client has the user's `PATH`, otherwise
/// its path.
fn command_for(client: Client) -> anyhow::Result<String> {
    let own = own_path()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(NAME));
    let found = found.into_iter().find(|file| file.is_file());
    let leads_here =
        found.is_some_and(|file| file.canonicalize().ok() == Path::new(&own).canonicalize().ok());
    // Editors that are started from a desktop have their own `PATH`.
    Ok(if leads_here && client.has_users_path() {
        NAME.to_owned()
    } else {
        own
    })
}

/// The path of this program.
fn own_path() -> anyhow::Result<String> {
    let path = std::env::current_exe().context("the path of this program is unknown")?;
    if !path.is_file() {
        bail!(
            "`{}`, the file of this program, was removed or replaced; run the new one",
            path.display()
        );
    }
    // npx and uvx start programs from caches, which they may empty at any time.
    for (folder, runner, install) in [
        ("_npx", "npx", "npm install --global windlass"),
        ("archive-v0", "uvx", "uv tool install windlass"),
    ] {
        if path.components().any(|part| part.as_os_str() == folder) {
            bail!(
                "`{}` is in a cache of {runner} and may be removed; install it with `{install}`, \
                 or let the client start `{runner} windlass mcp`",
                path.display()
            );
        }
    }
    let Ok(path) = path.into_os_string().into_string() else {
        bail!("the path of this program is not valid UTF-8, so it cannot be written to a config");
    };
    Ok(path)
}

/// The agents of this machine, and whether each has Windlass.
pub(crate) fn agents(global: &Global) -> anyhow::Result<Vec<(String, bool)>> {
    let around = Around::of_process(setup::load_options(global)?.cwd)?;
    let found = found(&around, Scope::User).into_iter();
    Ok(found
        .map(|(client, installed, _)| (client.name(), installed))
        .collect())
}

fn found(around: &Around, scope: Scope) -> Vec<(Client, bool, PathBuf)> {
    let here = Client::value_variants().iter().copied();
    let here = here.filter(|client| client.is_here(around));
    let rows = here.filter_map(|client| {
        let setting = client.setting(scope, around)?;
        let text = std::fs::read_to_string(&setting.file).unwrap_or_default();
        Some((client, edit::has_entry(&text, &setting), setting.file))
    });
    rows.collect()
}

/// Lists the clients on this machine, and whether each has Windlass.
fn list(global: &Global, around: &Around, scope: Scope) -> std::io::Result<()> {
    let rows = found(around, scope);
    let values = rows.iter().map(|(client, installed, file)| {
        json!({"client": client.name(), "title": client.title(), "installed": installed, "file": file})
    });
    let columns = [
        column("AGENT"),
        column("WINDLASS"),
        column("CONFIG").cut_to(20),
    ];
    let empty = format!("No agent is installed; these are supported: {}", names());
    let mut listing = Listing::new(columns, empty);
    for (client, installed, file) in &rows {
        let state = if *installed {
            cell("set up").tone(Tone::Good)
        } else {
            cell("-").tone(Tone::Faint)
        };
        listing.row([cell(client.name()), state, cell(file.display().to_string())]);
    }
    if let Some((client, ..)) = rows.iter().find(|(_, installed, _)| !installed) {
        listing.note(format!("\nnext:\n  windlass mcp install {}", client.name()));
    }
    Printer::new(global).list(values.collect::<Value>(), &listing)
}

fn names() -> String {
    let names: Vec<String> = Client::value_variants()
        .iter()
        .map(|client| client.name())
        .collect();
    names.join(", ")
}
