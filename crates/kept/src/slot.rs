//! Slots for kept handles, which enforce the user's limit.

use std::io;
use std::path::{Path, PathBuf};

use windlass_protocol::{HandleId, KeepRequest};

use crate::store::write_private;

/// The maximum length of a handle's id in its file names: the path of a socket is limited.
const LONGEST_ID: usize = 40;

/// The reason why a handle is not kept.
#[derive(Debug, thiserror::Error)]
pub enum NotKept {
    /// The limit is reached.
    #[error("{max} handles are kept already, the maximum (`max` in the user's [kept])")]
    Full {
        /// The limit.
        max: usize,
    },
    /// The state file cannot be written.
    #[error("its state cannot be written: {0}")]
    Unwritable(#[source] io::Error),
}

/// A slot for a handle that is about to be started. Dropping it frees it, unless the handle was registered.
#[derive(Debug)]
pub struct KeptSlot {
    folder: PathBuf,
    name: String,
    /// Whether the slot is freed elsewhere.
    given: bool,
}

impl KeptSlot {
    /// Takes a slot. `handle` becomes part of its name, to help people who read the directory.
    pub(crate) fn take(folder: &Path, handle: &HandleId) -> io::Result<Self> {
        let handle: String = handle.as_str().chars().take(LONGEST_ID).collect();
        let name = format!("{}-{handle}", ulid::Ulid::generate());
        let slot = Self {
            folder: folder.to_owned(),
            name,
            given: false,
        };
        write_private(&slot.file("new"), b"")?;
        Ok(slot)
    }

    /// The name of its files.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The request that keeps a tool here. The slot stays taken until the handle is registered or forgotten.
    pub fn into_request(mut self, lease_secs: u64) -> KeepRequest {
        self.given = true;
        self.request(lease_secs)
    }

    /// The request that keeps a tool here.
    pub fn request(&self, lease_secs: u64) -> KeepRequest {
        KeepRequest {
            lease_secs,
            folder: self.folder.clone().into(),
            name: self.name.clone(),
            registration: Some(self.file("json").into()),
        }
    }

    fn file(&self, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", self.name))
    }
}

impl Drop for KeptSlot {
    fn drop(&mut self) {
        if !self.given {
            // Registering a handle renames the file.
            let _ = std::fs::remove_file(self.file("new"));
        }
    }
}
