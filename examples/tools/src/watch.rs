//! `watch`: tells what changes in a folder, while it runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use notify::event::{EventKind, ModifyKind};
use notify::{RecursiveMode, Watcher};
use schemars::JsonSchema;
use serde::Deserialize;
use windlass_sdk::{Error, Stateful, ToolHandle, unblock};

/// How long things must be quiet before they are told: an editor that saves a
/// file does several things to it.
const QUIET: Duration = Duration::from_millis(50);

/// Watches files and folders and tells what changes in them.
///
/// Each change is a line of content: `created`, `changed` or `removed`, and
/// the path. With `until` it stops by itself, so that `await` can wait for the
/// next change.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Watch {
    /// What to watch, relative to the project's folder, which it is unless
    /// said.
    #[serde(default = "here")]
    paths: Vec<String>,
    /// Names of files and folders that do not matter, at any depth.
    #[serde(default = "unimportant")]
    ignore: Vec<String>,
    /// Stop after so many changes.
    until: Option<usize>,
}

fn here() -> Vec<String> {
    vec![".".to_owned()]
}

fn unimportant() -> Vec<String> {
    [".git", "target", "node_modules"].map(str::to_owned).into()
}

impl Stateful for Watch {
    async fn run(self, handle: ToolHandle) -> Result<String, Error> {
        let root = handle.call().root().canonicalize()?;
        let (sender, changes) = mpsc::channel();
        let mut watcher = notify::recommended_watcher(move |event| {
            // There is no listener once the tool has ended.
            let _ = sender.send(event);
        })?;
        for path in &self.paths {
            watcher
                .watch(&root.join(path), RecursiveMode::Recursive)
                .map_err(|error| {
                    Error::from(error).context(format_args!("cannot watch `{path}`"))
                })?;
        }
        handle.report(format!("watching {}", self.paths.join(", ")));
        let told = Told {
            watch: self,
            root,
            handle: handle.clone(),
        };
        let count = unblock(move || told.tell(&changes));
        let count = handle.unless_aborted(count).await??;
        drop(watcher);
        Ok(format!("stopped after {count} changes"))
    }
}

/// The reported changes, and their receiver.
struct Told {
    watch: Watch,
    root: PathBuf,
    handle: ToolHandle,
}

/// What became of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Created,
    Changed,
    Removed,
}

impl Told {
    /// Tells changes until there were enough; gives how many there were.
    fn tell(&self, events: &Receiver<notify::Result<notify::Event>>) -> Result<usize, Error> {
        let mut count = 0;
        while self.watch.until.is_none_or(|until| count < until) {
            let first = events.recv()?;
            let mut changes = BTreeMap::new();
            self.note(first?, &mut changes);
            while let Ok(next) = events.recv_timeout(QUIET) {
                self.note(next?, &mut changes);
            }
            for (path, change) in &changes {
                self.handle
                    .report(format!("{} {}", change.word(), path.display()));
            }
            count += changes.len();
        }
        Ok(count)
    }

    fn note(&self, event: notify::Event, changes: &mut BTreeMap<PathBuf, Change>) {
        for path in event.paths {
            let change = match event.kind {
                EventKind::Create(_) => Change::Created,
                // A file that is renamed is one that comes and one that goes.
                EventKind::Modify(ModifyKind::Name(_)) if path.exists() => Change::Created,
                EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)) => Change::Removed,
                EventKind::Modify(_) => Change::Changed,
                EventKind::Access(_) | EventKind::Any | EventKind::Other => continue,
            };
            let path = path.strip_prefix(&self.root).unwrap_or(&path);
            if self.ignores(path) {
                continue;
            }
            match changes.get(path) {
                // What is new is not also changed.
                Some(Change::Created) if change == Change::Changed => {}
                _ => {
                    changes.insert(path.to_owned(), change);
                }
            }
        }
    }

    fn ignores(&self, path: &Path) -> bool {
        let ignored =
            |name: &std::ffi::OsStr| self.watch.ignore.iter().any(|other| name == other.as_str());
        path.as_os_str().is_empty() || path.iter().any(ignored)
    }
}

impl Change {
    fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Removed => "removed",
        }
    }
}
