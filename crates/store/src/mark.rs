//! A runtime's mark: a locked file that shows that it is alive.
//!
//! The system releases a lock when its process dies, for whatever reason, and
//! no other process can hold it by mistake. Process ids are reused and are
//! meaningless in another container.

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use ulid::Ulid;

/// The mark of this runtime. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct Mark {
    pub(crate) id: String,
    path: PathBuf,
    _locked: File,
}

impl Mark {
    /// Makes a new mark in the folder.
    pub(crate) fn new(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let id = Ulid::generate().to_string();
        let path = place(folder, &id);
        // It gets its name once it is locked, so no process sees it earlier.
        let unnamed = path.with_extension("new");
        let file = File::create_new(&unnamed)?;
        file.lock()?;
        fs::rename(&unnamed, &path)?;
        Ok(Self {
            id,
            path,
            _locked: file,
        })
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        // Without it the next one that looks finds the runtime dead, as it
        // would with an unlocked one.
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether the runtime of that name is alive; true if unknown.
pub(crate) fn is_alive(folder: &Path, id: &str) -> bool {
    let path = place(folder, id);
    match File::open(&path) {
        Err(error) => error.kind() != io::ErrorKind::NotFound,
        Ok(file) => match file.try_lock() {
            Ok(()) => {
                // A name is never reused, so no process needs it.
                let _ = fs::remove_file(&path);
                false
            }
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => true,
        },
    }
}

/// Takes away the marks of runtimes that are gone.
pub(crate) fn sweep(folder: &Path) {
    let Ok(marks) = fs::read_dir(folder) else {
        return;
    };
    for mark in marks.flatten() {
        let path = mark.path();
        if path.extension() == Some(OsStr::new("lock"))
            && let Some(id) = path.file_stem().and_then(OsStr::to_str)
        {
            is_alive(folder, id);
        }
    }
}

fn place(folder: &Path, id: &str) -> PathBuf {
    folder.join(format!("{id}.lock"))
}

#[cfg(test)]
#[path = "mark_tests.rs"]
mod tests;
