//! `windlass trust` and `windlass untrust`: trust in project files.
//!
//! Start at [`run`]. [`ask_if_untrusted`] asks at the start of other commands if a person
//! is at the terminal; otherwise [`notice`] reports that a project's files have
//! no effect.

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use windlass::TrustStore;
use windlass::config::{Config, ProjectContent, ProjectState, TrustQuestion};
use windlass_protocol::visible_line;

use crate::args::{Global, TrustArgs, UntrustArgs};
use crate::print::{Listing, Printer, Tone, cell, column};
use crate::prompt::{self, Confirmation};
use crate::safe_text::SafeText;
use crate::setup;
use crate::stdout::{self, errln, outln, print_json};
use crate::{exit, person, reach};

pub(crate) async fn run(global: &Global, args: TrustArgs) -> anyhow::Result<ExitCode> {
    if args.list {
        return list(global);
    }
    person::only("trust")?;
    let config = setup::load(&in_folder(global, args.project.as_deref()))?;
    let root = config.root.display();
    let question = match &config.project {
        ProjectState::Untrusted(question) => question,
        ProjectState::Refused(why) => bail!("the project cannot be trusted: {why}"),
        state => {
            let is_trusted = matches!(state, ProjectState::Trusted(_));
            if global.json {
                let files = config.files.iter().map(|file| text(file));
                let files: Vec<_> = files.collect();
                print_json(&json!({"root": text(&config.root), "trusted": true, "files": files}))?;
            } else if is_trusted {
                outln!("{root} is trusted already")?;
            } else {
                outln!("{root} has no files that need trust")?;
            }
            return Ok(ExitCode::SUCCESS);
        }
    };
    if let Some(broken) = &question.broken {
        bail!("the project's configuration is invalid; fix it, then trust the project\n{broken}");
    }
    let store = TrustStore::of_user();
    if global.json {
        print_json(&to_json(question, &store, args.yes))?;
    } else {
        stdout::write(shown(question, &store).as_bytes())?;
    }
    let agreed = args.yes || (!global.json && agreed(question).await?);
    if !agreed {
        return Ok(ExitCode::from(exit::FAILED));
    }
    keep(&store, question).await?;
    if !global.json {
        outln!("trusted {root}")?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn agreed(question: &TrustQuestion) -> anyhow::Result<bool> {
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        bail!(
            "there is no terminal to ask on, so nothing was trusted; `--yes` trusts what is \
               shown"
        );
    }
    Ok(prompt::ask(&confirmation(question)).await == Some(true))
}

fn confirmation(question: &TrustQuestion) -> Confirmation {
    let root = question.content.root.display().to_string();
    Confirmation(format!("Trust {}?", visible_line(&root)))
}

/// Trusts the content of the question, and notifies the runtimes of this
/// machine.
async fn keep(store: &TrustStore, question: &TrustQuestion) -> anyhow::Result<()> {
    let kept = store.trust(&question.content);
    kept.context("the decision cannot be written to the state directory")?;
    tell_runtimes().await
}

/// Makes runtimes check the trust of their projects again.
async fn tell_runtimes() -> anyhow::Result<()> {
    for peer in reach::runtimes().await? {
        // A runtime that ends meanwhile need not be notified.
        let _ = peer.post("/api/v1/trust", &json!({})).await;
    }
    Ok(())
}

pub(crate) fn untrust(global: &Global, args: &UntrustArgs) -> anyhow::Result<ExitCode> {
    person::only("untrust")?;
    let global = in_folder(global, args.project.as_deref());
    let options = setup::load_options(&global)?;
    let store = TrustStore::of_user();
    // The project that is found there, or the directory itself if its project
    // is gone.
    let root = windlass::config::load(&options).map(|config| config.root);
    let root = root.unwrap_or_else(|_| options.cwd.clone());
    let root = root.canonicalize().unwrap_or(root);
    if !store.forget(&root)? && !store.forget(&options.cwd)? {
        bail!("{} was not trusted", root.display());
    }
    if global.json {
        return print_json(&json!({"root": text(&root), "trusted": false}));
    }
    outln!(
        "{} is no longer trusted; runtimes that have loaded its configuration keep it until they \
         restart",
        root.display()
    )?;
    Ok(ExitCode::SUCCESS)
}

fn list(global: &Global) -> anyhow::Result<ExitCode> {
    let records = TrustStore::of_user().list();
    let columns = [
        column("DECISION"),
        column("DIGEST").spare(1),
        column("PROJECT").cut_to(20),
    ];
    let empty = "No project has been trusted or declined. Run `windlass trust` in a project with \
                 a `.windlass` folder.";
    let mut listing = Listing::new(columns, empty);
    for record in &records {
        let decision = if record.is_trusted {
            cell("trusted").tone(Tone::Good)
        } else {
            cell("declined").tone(Tone::Bad)
        };
        let digest = record.digest.get(..12).unwrap_or_default();
        listing.row([decision, cell(digest), cell(&record.root)]);
    }
    let values = records.iter().map(|record| {
        json!({
            "root": record.root, "digest": record.digest,
            "trusted": record.is_trusted, "decided": record.decided,
        })
    });
    Printer::new(global).list(values.collect::<Value>(), &listing)?;
    Ok(ExitCode::SUCCESS)
}

/// The command line with another directory.
fn in_folder(global: &Global, directory: Option<&Path>) -> Global {
    let mut global = global.clone();
    if let Some(directory) = directory {
        let base = global.directory.take().unwrap_or_default();
        global.directory = Some(base.join(directory));
    }
    global
}

/// Asks whether to trust the project, if it is not trusted, a person is at the
/// terminal, and they have not declined exactly this content.
pub(crate) async fn ask_if_untrusted(global: &Global) -> anyhow::Result<()> {
    let at_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if !at_terminal || global.json || person::is_tool() {
        return Ok(());
    }
    let ProjectState::Untrusted(question) = setup::load(global)?.project else {
        return Ok(());
    };
    let store = TrustStore::of_user();
    if question.broken.is_some() || store.is_declined(&question.content) {
        return Ok(());
    }
    errln!("{}", shown(&question, &store).trim_end());
    match prompt::ask(&confirmation(&question)).await {
        Some(true) => keep(&store, &question).await,
        Some(false) => {
            let declined = store.decline(&question.content);
            declined.context("the decision cannot be written to the state directory")
        }
        None => Ok(()),
    }
}

/// The message that the project's files have no effect, if that is the case.
pub(crate) fn notice(config: &Config) -> Option<String> {
    match &config.project {
        ProjectState::Empty | ProjectState::Trusted(_) => None,
        ProjectState::Refused(why) => Some(format!(
            "the files of the project have no effect: {why}; only built-in tools and your own \
             configuration are used"
        )),
        ProjectState::Untrusted(question) => {
            let root = visible_line(&question.content.root.display().to_string());
            let record = TrustStore::of_user().find(&question.content.root);
            let state = match record {
                Some(record) if record.is_trusted => "has changed since you trusted it",
                _ => "is not trusted",
            };
            Some(format!(
                "{root} {state}, so its own configuration and tools have no effect; \
                 `windlass trust` shows what they would do, and asks"
            ))
        }
    }
}

/// A project before files were written into it.
pub(crate) struct Before(Option<ProjectContent>);

impl Before {
    /// The project of this configuration.
    pub(crate) fn of(config: &Config) -> Self {
        Self(match &config.project {
            ProjectState::Trusted(content) => Some((**content).clone()),
            ProjectState::Empty => Some(ProjectContent {
                root: config.root.clone(),
                texts: Vec::new(),
                programs: Vec::new(),
            }),
            ProjectState::Untrusted(_) | ProjectState::Refused(_) => None,
        })
    }

    /// The project of the command line. One that does not load is not trusted.
    pub(crate) fn look(global: &Global) -> Self {
        setup::load(global).map_or(Self(None), |config| Self::of(&config))
    }

    /// Trusts the project with files written by a person's command, if it was
    /// trusted before or had nothing to trust, and nothing else has changed.
    /// Has no effect in a tool's command.
    pub(crate) fn trust_written(
        self,
        global: &Global,
        written: &[(PathBuf, String)],
    ) -> anyhow::Result<()> {
        let config = setup::load(global)?;
        let ProjectState::Untrusted(question) = &config.project else {
            return Ok(());
        };
        let content = &question.content;
        let is_written = |path: &Path, text: Option<&str>| {
            let path = config.root.join(path);
            let mut written = written.iter();
            written.any(|(file, wrote)| *file == path && text.is_none_or(|text| text == wrote))
        };
        let is_known = self.0.is_some_and(|before| {
            let texts = content.texts.iter().all(|file| {
                before.texts.contains(file) || is_written(&file.path, Some(&file.text))
            });
            let programs = content.programs.iter().all(|program| {
                before.programs.contains(program)
                    || program.digest.is_none()
                    || is_written(&program.path, None)
            });
            texts && programs
        });
        if is_known && question.broken.is_none() && !person::is_tool() {
            let kept = TrustStore::of_user().trust(content);
            return kept.context("the decision cannot be written to the state directory");
        }
        if let Some(notice) = notice(&config) {
            errln!("windlass: {notice}");
        }
        Ok(())
    }
}

fn to_json(question: &TrustQuestion, store: &TrustStore, is_trusted: bool) -> Value {
    let content = &question.content;
    let texts = content.texts.iter();
    let programs = content.programs.iter();
    json!({
        "root": text(&content.root),
        "digest": content.digest(),
        "trusted": is_trusted,
        "starts": question.starts,
        "wants": question.wants,
        "offers": question.offers,
        "ignored": question.ignored,
        "files": texts.map(|file| text(&file.path)).collect::<Vec<_>>(),
        "programs": programs
            .map(|program| json!({"path": text(&program.path), "digest": program.digest}))
            .collect::<Vec<_>>(),
        "difference": difference(question, store),
    })
}

/// A path as a string for JSON.
fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The changes since the project was last trusted.
fn difference(question: &TrustQuestion, store: &TrustStore) -> Option<String> {
    let record = store.find(&question.content.root)?;
    let difference = record.difference(&question.content);
    (record.is_trusted && !difference.is_empty()).then_some(difference)
}

/// The question as text, without control sequences.
fn shown(question: &TrustQuestion, store: &TrustStore) -> String {
    let content = &question.content;
    let mut text = String::new();
    let root = visible_line(&content.root.display().to_string());
    let _ = writeln!(text, "The project {root} has its own configuration.");
    let lists = [
        ("Started without a call:", &question.starts),
        ("It wants to:", &question.wants),
        ("It offers tools:", &question.offers),
        ("Without effect, even if it is trusted:", &question.ignored),
    ];
    for (title, lines) in lists {
        if !lines.is_empty() {
            let _ = writeln!(text, "{title}");
            for line in lines {
                let _ = writeln!(text, "  {}", visible_line(line));
            }
        }
    }
    let _ = writeln!(text, "Its files:");
    for file in &content.texts {
        let path = visible_line(&file.path.display().to_string());
        let _ = writeln!(text, "  {path} ({} bytes)", file.text.len());
    }
    for program in &content.programs {
        let path = visible_line(&program.path.display().to_string());
        let state = match &program.digest {
            Some(digest) => format!("a program, {}", digest.get(..12).unwrap_or_default()),
            None => "a program, still to be built".to_owned(),
        };
        let _ = writeln!(text, "  {path} ({state})");
    }
    if let Some(difference) = difference(question, store) {
        let safe = SafeText::default().push(difference.as_bytes());
        let safe = String::from_utf8_lossy(&safe).replace('\x1b', "");
        let _ = writeln!(text, "Changed since you trusted it:");
        text.push_str(&safe);
    }
    text
}
