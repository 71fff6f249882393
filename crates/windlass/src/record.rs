//! Sessions and their record.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use windlass_runtime::{Session, SessionOptions};
use windlass_store::{SessionStart, Store, StoreError};

use crate::place::{state_dir, workspace_id};

/// Opens the user's record, for those who only read it or tidy it up.
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

    /// Has a session kept. Its logs then live as long as its record.
    pub(crate) fn keep(&self, options: &mut SessionOptions, state_dir: &Path) {
        let Ok(store) = self.store() else {
            return;
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
            version: env!("CARGO_PKG_VERSION").to_owned(),
            logs: options.keep_logs.then(|| logs.clone()),
        }));
        if options.rules.is_none() {
            options.rules = Some(store.rules(&project_id, &options.root));
        }
    }
}
