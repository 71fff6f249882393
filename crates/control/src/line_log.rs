//! A log of lines in two files: the older one is dropped when the newer one is
//! full.
//!
//! Start at [`LineLog::open`]. A line is written completely before it takes
//! effect, so that it survives the death of the process. It is not synced to
//! disk: after a crash of the machine there are no sessions to resume. The
//! folder belongs to one process at a time.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

/// How large a file grows.
const FULL: u64 = 8 << 20;

const OLDER: &str = "older";
const NEWER: &str = "newer";
const NEXT: &str = "next";

pub(crate) struct LineLog {
    folder: PathBuf,
    /// The folder, locked for as long as this is open.
    _lock: File,
    newer: File,
    size: u64,
    full: u64,
}

impl LineLog {
    /// Opens the log in a folder, which is made if it is not there, and gives
    /// the lines that are in it. `None` while another process has it.
    pub(crate) fn open(folder: &Path) -> io::Result<Option<(Self, Vec<String>)>> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        let Some(lock) = lock(folder)? else {
            return Ok(None);
        };
        let newer = folder.join(NEWER);
        if !newer.exists() {
            // It was killed between two renames.
            ignore_missing(fs::rename(folder.join(NEXT), &newer))?;
        }
        let mut lines = Vec::new();
        for file in [folder.join(OLDER), newer.clone()] {
            lines.extend(read_lines(&file)?);
        }
        let newer = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(newer)?;
        let log = Self {
            folder: folder.to_owned(),
            _lock: lock,
            size: newer.metadata()?.len(),
            newer,
            full: FULL,
        };
        Ok(Some((log, lines)))
    }

    /// Adds a line. When the newer file is full, another takes its place, which
    /// begins with the lines that `first` gives.
    pub(crate) fn append(
        &mut self,
        line: &str,
        first: impl FnOnce() -> Vec<String>,
    ) -> io::Result<()> {
        if self.size > self.full {
            self.begin_next(&first())?;
        }
        self.size += write_line(&mut self.newer, line)?;
        Ok(())
    }

    /// Removes the log and everything in it.
    pub(crate) fn remove(self) {
        // It is locked until it is gone. There is nobody to tell when it
        // cannot be removed; the next owner of the folder tries again.
        let _ = fs::remove_dir_all(&self.folder);
    }

    fn begin_next(&mut self, lines: &[String]) -> io::Result<()> {
        let next = self.folder.join(NEXT);
        let mut file = OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(true)
            .mode(0o600)
            .open(&next)?;
        let mut size = 0;
        for line in lines {
            size += write_line(&mut file, line)?;
        }
        let newer = self.folder.join(NEWER);
        fs::rename(&newer, self.folder.join(OLDER))?;
        fs::rename(&next, &newer)?;
        self.newer = OpenOptions::new().append(true).open(&newer)?;
        self.size = size;
        Ok(())
    }
}

/// Locks a folder; `None` while another process has it.
fn lock(folder: &Path) -> io::Result<Option<File>> {
    let file = File::open(folder)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Removes the log in a folder, unless a process has it.
pub(crate) fn remove_if_free(folder: &Path) {
    if let Ok(Some(_lock)) = lock(folder) {
        let _ = fs::remove_dir_all(folder);
    }
}

/// One write, so that a line is in the file whole or not at all.
fn write_line(file: &mut File, line: &str) -> io::Result<u64> {
    let line = format!("{line}\n");
    file.write_all(line.as_bytes())?;
    Ok(line.len() as u64)
}

fn read_lines(file: &Path) -> io::Result<Vec<String>> {
    let bytes = match fs::read(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read?,
    };
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().map(str::to_owned).collect())
}

fn ignore_missing(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
#[path = "line_log_tests.rs"]
mod tests;
