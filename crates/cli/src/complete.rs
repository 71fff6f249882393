//! Values for shell completion: current handles, sessions, tools and others.
//!
//! A shell starts this program for every Tab, so only immediately available
//! data is used: nothing is started, no question is asked, and slow runtimes
//! are left out. A tool's process gets no data of other runtimes.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::time::Duration;

use clap_complete::CompleteEnv;
use clap_complete::engine::CompletionCandidate;
use clap_complete::env::Shells;
use windlass::TrustStore;
use windlass::config::{BUILTINS, Config, LoadOptions};
use windlass_assistant::KNOWN_PROVIDERS;
use windlass_protocol::{HandleState, PermissionRequest, RequestRendering, visible_line};
use windlass_runtime::{Archive, Page};
use windlass_schema::Dialect;

use crate::config_command::values_of;
use crate::{help, print, questions, reach, replies};

/// The variable by which a shell requests completions.
pub(crate) const VARIABLE: &str = "WINDLASS_COMPLETE";
/// The time limit for one Tab.
const SOON: Duration = Duration::from_millis(500);
/// The maximum number of sessions.
const SESSIONS: usize = 50;

/// Answers a completion request of a shell, and ends the process if there was
/// one.
pub(crate) fn answer_shell() {
    if std::env::var_os(VARIABLE).is_some() {
        CompleteEnv::with_factory(help::command)
            .var(VARIABLE)
            .complete();
    }
}

pub(crate) fn shells(typed: &OsStr) -> Vec<CompletionCandidate> {
    let names = Shells::builtins().names();
    matching(typed, names.map(|name| (name.to_owned(), String::new())))
}

/// Every handle of this machine.
pub(crate) fn handles(typed: &OsStr) -> Vec<CompletionCandidate> {
    handles_that(typed, |_| true)
}

/// Every handle that has not stopped.
pub(crate) fn running_handles(typed: &OsStr) -> Vec<CompletionCandidate> {
    handles_that(typed, |state| state != HandleState::Stopped)
}

fn handles_that(typed: &OsStr, wanted: impl Fn(HandleState) -> bool) -> Vec<CompletionCandidate> {
    let reached = soon(reach::sessions()).unwrap_or_default();
    let handles = reached.iter().flat_map(|reached| {
        let handles = reached.handles.iter();
        handles.map(move |handle| (reach::short(reached.session.id.as_str()), handle))
    });
    let handles: Vec<_> = handles.filter(|(_, handle)| wanted(handle.state)).collect();
    let candidates = handles.iter().map(|(session, handle)| {
        let same = handles.iter().filter(|(_, other)| other.id == handle.id);
        let name = match same.count() {
            1 => handle.id.to_string(),
            _ => format!("{session}/{}", handle.id),
        };
        let command = handle.command.as_deref().unwrap_or_default();
        (name, format!("{} {command}", handle.state.as_str()))
    });
    matching(typed, candidates)
}

/// The newest recorded sessions.
pub(crate) fn sessions(typed: &OsStr) -> Vec<CompletionCandidate> {
    let listed = soon(async {
        let page = Page {
            before: None,
            limit: SESSIONS,
        };
        Ok(windlass::open_record()?.sessions(page).await?)
    });
    let sessions = listed.unwrap_or_default().into_iter().map(|session| {
        let about = format!("{} {}", session.front_end, session.title);
        (reach::short(session.id.as_str()).to_owned(), about)
    });
    let last = ("last".to_owned(), "the newest".to_owned());
    matching(typed, std::iter::once(last).chain(sessions))
}

/// The built-in and configured tools; no program is started.
pub(crate) fn tools(typed: &OsStr) -> Vec<CompletionCandidate> {
    let config = config();
    let configured = config.iter().flat_map(Config::offered);
    let configured = configured.map(|tool| {
        let summary = tool.definition.summary.clone().unwrap_or_default();
        (tool.name.clone(), summary)
    });
    let builtins = BUILTINS
        .iter()
        .map(|name| ((*name).to_owned(), String::new()));
    matching(typed, configured.chain(builtins))
}

/// Every provider, known and configured.
pub(crate) fn providers(typed: &OsStr) -> Vec<CompletionCandidate> {
    let names = provider_names().into_iter();
    matching(typed, names.map(|name| (name, String::new())))
}

/// Every provider, followed by the slash before a model's name.
pub(crate) fn models(typed: &OsStr) -> Vec<CompletionCandidate> {
    let names = provider_names().into_iter();
    matching(typed, names.map(|name| (format!("{name}/"), String::new())))
}

fn provider_names() -> Vec<String> {
    let configured = config().map(|config| config.assistant.providers);
    let configured = configured.into_iter().flatten().map(|(name, _)| name);
    let known = KNOWN_PROVIDERS.iter().map(|known| known.name.to_owned());
    configured.chain(known).collect()
}

pub(crate) fn dialects(typed: &OsStr) -> Vec<CompletionCandidate> {
    let dialects = Dialect::ALL.iter();
    matching(
        typed,
        dialects.map(|dialect| (dialect.as_str().to_owned(), String::new())),
    )
}

/// The keys that are set.
pub(crate) fn config_keys(typed: &OsStr) -> Vec<CompletionCandidate> {
    let values = config().map(|config| values_of(&config));
    let keys = values.unwrap_or_default().into_iter();
    matching(typed, keys.map(|value| (value.key.clone(), value.text())))
}

/// The permissions that wait for a reply.
pub(crate) fn permissions(typed: &OsStr) -> Vec<CompletionCandidate> {
    let waiting: Vec<PermissionRequest> = soon(replies::waiting()).unwrap_or_default();
    let requests = waiting.iter().map(|request| {
        let about = RequestRendering::of_permission(request).body.join(" ");
        (reach::short(request.id.as_str()).to_owned(), about)
    });
    matching(typed, requests)
}

/// The questions that wait for an answer.
pub(crate) fn questions(typed: &OsStr) -> Vec<CompletionCandidate> {
    let open = soon(questions::all()).unwrap_or_default();
    let asks = open.iter().map(|(_, open)| {
        let text = open.ask.question.text.clone();
        (reach::short(&open.ask.ask).to_owned(), text)
    });
    matching(typed, asks)
}

/// The configuration, without messages on stderr. A project's files count only
/// if they are already trusted.
fn config() -> Option<Config> {
    let options = LoadOptions {
        trust: TrustStore::of_user().decides(),
        ..LoadOptions::for_process(std::env::current_dir().ok()?)
    };
    windlass::config::load(&options).ok()
}

/// The candidates that begin with the typed text, with one line of help each.
fn matching(
    typed: &OsStr,
    candidates: impl Iterator<Item = (String, String)>,
) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let mut seen = HashSet::new();
    let candidates = candidates
        .filter(|(name, _)| name.starts_with(&*typed))
        .filter(|(name, _)| seen.insert(name.clone()));
    candidates
        .map(|(name, about)| {
            let about = print::shortened(&visible_line(about.trim()), 60);
            let about = Some(about).filter(|about| !about.is_empty());
            CompletionCandidate::new(name).help(about.map(Into::into))
        })
        .collect()
}

/// Runs a future within the time limit.
fn soon<T>(work: impl Future<Output = anyhow::Result<T>>) -> Option<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .ok()?;
    let done = runtime.block_on(async { tokio::time::timeout(SOON, work).await });
    runtime.shutdown_background();
    done.ok()?.ok()
}
