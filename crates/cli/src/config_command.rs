//! `windlass config`: the configuration with the origin of every value, its
//! files, an editor for them, and a check.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use windlass::config::{Config, LoadOptions, ProjectState, ProjectTrust, nearest};

mod shown;

pub(crate) use shown::values_of;

use crate::args::{ConfigArgs, ConfigCommand, Global};
use crate::print::{self, Listing, Printer, Tone, cell, column};
use crate::prompt::{self, KeyReader};
use crate::setup;
use crate::stdout::outln;
use crate::{exit, person, trust};

pub(crate) async fn run(global: &Global, args: ConfigArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        ConfigCommand::Show { key, changed } => show(global, key.as_deref(), changed),
        ConfigCommand::Path => path(global),
        ConfigCommand::Edit { project } => edit(global, project).await,
        ConfigCommand::Check => check(global),
    }
}

fn show(global: &Global, wanted: Option<&str>, changed: bool) -> anyhow::Result<ExitCode> {
    let options = setup::load_options(global)?;
    let config = setup::config(global)?;
    let mut values = values_of(&config);
    if changed {
        values.retain(|value| value.origin.is_some());
    }
    if let Some(wanted) = wanted {
        let wanted = wanted.trim_end_matches('.');
        let keys: Vec<String> = values.iter().map(|value| value.key.clone()).collect();
        values.retain(|value| {
            let rest = value.key.strip_prefix(wanted);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
        if values.is_empty() && !changed {
            bail!(unknown_key(wanted, &keys));
        }
    }
    let empty = match wanted {
        None => "Nothing is set, so every value is its default; `windlass config edit` opens \
                 your own file, `windlass init` writes one for the project."
            .to_owned(),
        Some(wanted) => format!("`{wanted}` is not set; leave out --changed to see its default."),
    };
    let columns = [
        column("KEY").cut_to(54),
        column("VALUE").cut_to(10),
        column("ORIGIN").cut_to(12),
    ];
    let mut listing = Listing::new(columns, empty);
    for value in &values {
        let is_set = value.origin.is_some();
        let tone = |tone| if is_set { tone } else { Tone::Faint };
        listing.row([
            cell(&value.key),
            cell(value.text()).tone(tone(Tone::Plain)),
            cell(short_home(&value.origin_text()))
                .tone(Tone::Faint)
                .keep_end(),
        ]);
    }
    let json = values.iter().map(|value| {
        let file = value.place().and_then(|place| place.file.as_ref());
        json!({
            "key": value.key,
            "value": value.json(),
            "origin": value.origin_text(),
            "layer": value.layer(&options),
            "file": file,
            "line": file.and(value.place()).map(|place| place.line),
        })
    });
    Printer::new(global).list(json.collect::<Value>(), &listing)?;
    Ok(ExitCode::SUCCESS)
}

/// A path with `~` for the home folder.
fn short_home(text: &str) -> String {
    let home = windlass::variable("HOME").filter(|home| home.len() > 1);
    let rest = home.and_then(|home| text.strip_prefix(&home).map(str::to_owned));
    match rest {
        Some(rest) if rest.starts_with('/') => format!("~{rest}"),
        _ => text.to_owned(),
    }
}

fn unknown_key(wanted: &str, keys: &[String]) -> String {
    // A tool's own table has the same keys as every tool.
    let general = wanted.strip_prefix("conversation.tools.").map(|rest| {
        let (_, key) = rest.split_once('.').unwrap_or((rest, ""));
        format!("conversation.tools.*.{key}")
    });
    if let Some(general) = general.filter(|general| keys.contains(general)) {
        return format!("`{wanted}` is not set; `{general}` applies to every tool");
    }
    // Accept tables as well as values.
    let mut known: Vec<&str> = Vec::new();
    for key in keys {
        let ends = key.match_indices('.').map(|(end, _)| end);
        known.extend(ends.map(|end| &key[..end]).chain([key.as_str()]));
    }
    match nearest(wanted, known) {
        Some(near) => format!("there is no key `{wanted}`; did you mean `{near}`?"),
        None => {
            format!("there is no key `{wanted}`; `windlass config show` lists all of them")
        }
    }
}

/// A configuration file.
struct ConfigFile {
    layer: &'static str,
    file: PathBuf,
    state: &'static str,
}

/// The configuration files, lowest layer first.
fn files(options: &LoadOptions, config: &Config) -> Vec<ConfigFile> {
    let state = |file: &Path, is_read: bool| match (file.exists(), is_read) {
        (false, _) => "not there",
        (true, true) => "read",
        (true, false) => "not trusted",
    };
    let is_read = |file: &Path| config.files.iter().any(|read| read == file);
    let mut files = Vec::new();
    if let Some(file) = options.user_file() {
        let state = state(&file, is_read(&file));
        files.push(ConfigFile {
            layer: "yours",
            file,
            state,
        });
    }
    let own = config.root.join(".windlass/config.toml");
    let texts: Vec<PathBuf> = match &config.project {
        ProjectState::Trusted(content) => content
            .texts
            .iter()
            .map(|text| config.root.join(&text.path))
            .collect(),
        ProjectState::Untrusted(question) => {
            let texts = question.content.texts.iter();
            texts.map(|text| config.root.join(&text.path)).collect()
        }
        ProjectState::Empty | ProjectState::Refused(_) => Vec::new(),
    };
    let missing = (!texts.contains(&own)).then_some(own);
    for file in missing.into_iter().chain(texts) {
        let state = state(&file, is_read(&file));
        files.push(ConfigFile {
            layer: "project",
            file,
            state,
        });
    }
    for file in &options.explicit {
        let file = options.cwd.join(file);
        files.push(ConfigFile {
            layer: "--config",
            file,
            state: "read",
        });
    }
    files
}

fn path(global: &Global) -> anyhow::Result<ExitCode> {
    let options = setup::load_options(global)?;
    let config = setup::load(global)?;
    let files = files(&options, &config);
    let columns = [column("LAYER"), column("STATE"), column("FILE").cut_to(20)];
    let mut listing = Listing::new(columns, "No config file is searched.");
    for file in &files {
        let tone = match file.state {
            "read" => Tone::Good,
            "not trusted" => Tone::Waiting,
            _ => Tone::Faint,
        };
        listing.row([
            cell(file.layer),
            cell(file.state).tone(tone),
            cell(file.file.display().to_string()),
        ]);
    }
    let values = files.iter().map(|file| {
        json!({"layer": file.layer, "state": file.state, "file": file.file.display().to_string()})
    });
    Printer::new(global).list(values.collect::<Value>(), &listing)?;
    Ok(ExitCode::SUCCESS)
}

async fn edit(global: &Global, project: bool) -> anyhow::Result<ExitCode> {
    person::only("config edit")?;
    let options = setup::load_options(global)?;
    let file = if project {
        // Works even if the file does not load: that may be why it is edited.
        let root = setup::load(global).map(|config| config.root);
        root.unwrap_or(options.cwd.clone())
            .join(".windlass/config.toml")
    } else {
        options
            .user_file()
            .context("the folder of your config files is unknown; set `HOME`")?
    };
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).context(format!("cannot read `{}`", file.display())),
    };
    let before = trust::Before::look(global);
    let mut keyboard = KeyReader::open().context("`config edit` needs a terminal")?;
    let written = prompt::edit(&mut keyboard, &text, ".toml").await;
    drop(keyboard);
    let written = written.context("the editor cannot be opened; set `EDITOR`")?;
    let Some(written) = written.filter(|written| *written != text) else {
        outln!("{} is unchanged", file.display())?;
        return Ok(ExitCode::SUCCESS);
    };
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create `{}`", folder.display()))?;
    }
    std::fs::write(&file, &written)
        .with_context(|| format!("cannot write `{}`", file.display()))?;
    outln!("wrote {}", file.display())?;
    if project {
        before.trust_written(global, &[(file, written)])?;
    }
    check(global)
}

/// Loads everything, with the project's files as if trusted; nothing is
/// started.
fn check(global: &Global) -> anyhow::Result<ExitCode> {
    let options = LoadOptions {
        trust: ProjectTrust::Always,
        ..setup::load_options(global)?
    };
    let printer = Printer::new(global);
    let config = match windlass::config::load(&options) {
        Ok(config) => config,
        Err(error) if printer.is_json => {
            let problems = error.problems.iter().map(|problem| {
                json!({
                    "place": problem.place.as_ref().map(ToString::to_string),
                    "problem": problem.kind.to_string(),
                })
            });
            print::json(&json!({"problems": problems.collect::<Value>(), "warnings": []}))?;
            return Ok(ExitCode::from(exit::USAGE));
        }
        Err(error) => bail!("the configuration is invalid\n{error}"),
    };
    let mut lines: Vec<String> = config
        .warnings
        .iter()
        .map(|warning| format!("warning: {warning}"))
        .collect();
    let count = config.files.len();
    lines.push(match count {
        0 => "There are no config files; every value is its default.".to_owned(),
        1 => "1 file was checked; it is valid.".to_owned(),
        _ => format!("{count} files were checked; all are valid."),
    });
    printer.outcome(
        &json!({"problems": [], "warnings": config.warnings}),
        lines.join("\n"),
    )?;
    Ok(ExitCode::SUCCESS)
}
