//! Sessions and their record.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use windlass_runtime::protocol::RecordTrouble;
use windlass_runtime::{Entry, Recorder, Session, SessionEvent, SessionOptions};
use windlass_store::{SessionStart, Store, StoreError};

use crate::place::{state_dir, workspace_id};

/// Opens the user's record, for reading or pruning.
pub fn open_record() -> Result<Store, StoreError> {
    Store::open(&folder(&state_dir()))
}

fn folder(state_dir: &Path) -> PathBuf {
    state_dir.join("record")
}

/// The record, opened when it is needed.
pub(crate) struct Record {
    folder: PathBuf,
    store: OnceLock<Result<Store, StoreError>>,
}

impl Record {
    /// The record in the user's state directory.
    pub(crate) fn new(state_dir: &Path) -> Self {
        Self {
            folder: folder(state_dir),
            store: OnceLock::new(),
        }
    }

    pub(crate) fn store(&self) -> Result<&Store, &StoreError> {
        let store = self.store.get_or_init(|| Store::open(&self.folder));
        store.as_ref()
    }

    /// Records a session. Its logs then live as long as its record.
    pub(crate) fn keep(&self, options: &mut SessionOptions, state_dir: &Path) {
        let store = match self.store() {
            Ok(store) => store,
            Err(error) => {
                options.recorder = Some(Arc::new(Unrecorded {
                    error: causes(error),
                    lost: AtomicU64::new(0),
                }));
                return;
            }
        };
        let id = options.id.get_or_insert_with(Session::new_id).clone();
        let logs = options.log_dir.get_or_insert_with(|| {
            options.keep_logs = true;
            state_dir.join("logs").join(id.as_str())
        });
        let project_id = workspace_id(&options.root);
        let front_end = options.front_end.clone();
        options.recorder = Some(store.recorder(SessionStart {
            id,
            project_id: project_id.clone(),
            directory: options.root.clone(),
            parent: options.parent.clone(),
            front_end: front_end.unwrap_or_else(|| "library".to_owned()),
            title: options.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            logs: options.keep_logs.then(|| logs.clone()),
        }));
        if options.rules.is_none() {
            options.rules = Some(store.rules(&project_id, &options.root));
        }
    }
}

/// Replaces a record that could not be opened: nothing is recorded, and that is
/// reported.
struct Unrecorded {
    error: String,
    /// The number of changes that were not recorded.
    lost: AtomicU64,
}

impl Recorder for Unrecorded {
    fn happened(&self, entry: &Entry) {
        if let SessionEvent::Part(_) = entry.event {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn trouble(&self) -> Option<RecordTrouble> {
        Some(RecordTrouble {
            error: Some(self.error.clone()),
            waiting: 0,
            lost: self.lost.load(Ordering::Relaxed),
        })
    }
}

/// An error with its causes.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
