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
pub struct RuntimeMark {
    id: String,
    path: PathBuf,
    _locked: File,
}

impl RuntimeMark {
    /// Makes a new mark in the folder.
    pub fn new(folder: &Path) -> io::Result<Self> {
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

    /// The name of the runtime, which is never given twice.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether the runtime of that name is alive; true if unknown. The mark of a dead
    /// one is removed.
    pub fn is_alive(folder: &Path, id: &str) -> bool {
        let path = place(folder, id);
        match File::open(&path) {
            Err(error) => error.kind() != io::ErrorKind::NotFound,
            Ok(file) => match file.try_lock() {
                Ok(()) => {
                    // A name is never given twice, so nobody misses it.
                    let _ = fs::remove_file(&path);
                    false
                }
                Err(TryLockError::WouldBlock | TryLockError::Error(_)) => true,
            },
        }
    }

    /// Removes the marks of dead runtimes.
    pub fn sweep(folder: &Path) {
        let Ok(marks) = fs::read_dir(folder) else {
            return;
        };
        for mark in marks.flatten() {
            let path = mark.path();
            if path.extension() == Some(OsStr::new("lock"))
                && let Some(id) = path.file_stem().and_then(OsStr::to_str)
            {
                Self::is_alive(folder, id);
            }
        }
    }
}

impl Drop for RuntimeMark {
    fn drop(&mut self) {
        // Without it the next one that looks finds the runtime dead, as it
        // would with an unlocked one.
        let _ = fs::remove_file(&self.path);
    }
}

fn place(folder: &Path, id: &str) -> PathBuf {
    folder.join(format!("{id}.lock"))
}

#[cfg(test)]
#[path = "mark_tests.rs"]
mod tests;
