//! Places for kept handles: no more are kept than the user allows.

use std::io;
use std::path::{Path, PathBuf};

use windlass_protocol::{HandleId, KeepRequest};

use crate::store::write_private;

/// The longest part of a handle's id in the name of its files: a socket's path is short.
const LONGEST_ID: usize = 40;

/// A handle that is not kept, and the reason.
#[derive(Debug, thiserror::Error)]
pub enum NotKept {
    /// No more are kept at once.
    #[error("{max} handles are kept already, and no more may be (`max` in the user's [kept])")]
    Full {
        /// How many may be kept.
        max: usize,
    },
    /// Its state cannot be written.
    #[error("its state cannot be written: {0}")]
    Unwritable(#[source] io::Error),
}

/// A place for a handle that is about to be started. Dropping it gives it back, unless the handle was registered.
#[derive(Debug)]
pub struct KeptSlot {
    folder: PathBuf,
    name: String,
    /// Somebody else gives it back.
    given: bool,
}

impl KeptSlot {
    /// Takes a place. `handle` is part of its name, for those who look at the folder.
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

    /// The request that keeps a tool here. The place stays taken until the handle is registered or forgotten.
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
            // A registered handle has renamed it.
            let _ = std::fs::remove_file(self.file("new"));
        }
    }
}
