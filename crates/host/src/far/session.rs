//! The directory of a near session: the files of its held programs, and the lock of the far end that serves them.

use std::fs;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Signal, getpid, kill_process};
use tokio::time::Instant;
use windlass_hold_wire::{LinkSession, ProgramOrigin};

use super::files::{ProgramFiles, is_empty};
use crate::ServeError;

/// How long an earlier far end may take to release its programs.
pub(super) const LETTING_GO: Duration = Duration::from_secs(3);
/// Longer than any lease, plus time to read the receipt.
const LONGEST_LEASE: Duration = Duration::from_hours(48);
/// How many times the directory is created again if an earlier far end removes it meanwhile.
const ATTEMPTS: usize = 16;
/// The file that the far end of the session locks.
pub(super) const LOCK: &str = "lock";
/// The file that far ends of other sessions lock together, as long as they have programs of this one.
pub(super) const ADOPTERS: &str = "adopters";
/// The interval between attempts to lock.
pub(super) const STEP: Duration = Duration::from_millis(5);

/// The directory of one session. Only one far end uses it at a time.
pub(super) struct SessionFolder {
    path: PathBuf,
    tag: u64,
    _lock: fs::File,
}

impl SessionFolder {
    /// Opens the directory of a session. A far end that still uses it has a broken link and is told to release it.
    pub(super) async fn open(parent: &Path, session: &LinkSession) -> Result<Self, ServeError> {
        let path = parent.join(session_name(session));
        let failed = |source| ServeError::Folder {
            folder: path.clone(),
            source,
        };
        sweep(parent, &path);
        for _ in 0..ATTEMPTS {
            let made = fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(&path);
            made.map_err(failed)?;
            if let Some(lock) = Self::lock(&path.join(LOCK)).await.map_err(failed)? {
                let (tag, _) = session.split_first_chunk().expect("it has 16 bytes");
                return Ok(Self {
                    path,
                    tag: u64::from_le_bytes(*tag),
                    _lock: lock,
                });
            }
        }
        Err(failed(io::ErrorKind::ResourceBusy.into()))
    }

    /// Takes the lock; `None` if its former owner removed the directory because it was empty.
    async fn lock(path: &Path) -> io::Result<Option<fs::File>> {
        let mut options = fs::OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut file = match options.mode(0o600).open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        take_lock(&file).await?;
        if fs::metadata(path).ok().map(|it| it.ino()) != Some(file.metadata()?.ino()) {
            return Ok(None);
        }
        file.rewind()?;
        file.set_len(0)?;
        file.write_all(std::process::id().to_string().as_bytes())?;
        Ok(Some(file))
    }

    /// A number that no other program of a near end has. A program that is adopted again in the same session has a new
    /// number there, and so another tag.
    pub(super) fn tag_of(&self, number: u64) -> u64 {
        self.tag ^ number
    }

    /// The files of a program of this session.
    pub(super) fn files(&self, number: u64) -> ProgramFiles {
        ProgramFiles::new(&self.path, number, None)
    }

    /// The files of a program of another session. Its near runtime has left the program, or is gone. The runtime may
    /// live on and use its session, so the session's lock is not taken.
    pub(super) async fn files_of(&self, origin: &ProgramOrigin) -> io::Result<ProgramFiles> {
        let parent = self.path.parent().unwrap_or(Path::new("/"));
        let folder = parent.join(session_name(&origin.session));
        if folder == self.path {
            return Ok(self.files(origin.program));
        }
        let mut options = fs::OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let begun = Instant::now();
        loop {
            let file = options.mode(0o600).open(folder.join(ADOPTERS))?;
            // Only a process that is about to remove the directory has an exclusive lock.
            if flock(&file, FlockOperation::NonBlockingLockShared).is_ok() {
                return Ok(ProgramFiles::new(&folder, origin.program, Some(file)));
            }
            if begun.elapsed() >= LETTING_GO {
                return Err(io::ErrorKind::ResourceBusy.into());
            }
            tokio::time::sleep(STEP).await;
        }
    }
}

pub(super) fn session_name(session: &LinkSession) -> String {
    format!("{:032x}", u128::from_be_bytes(*session))
}

/// Takes a lock. A far end that holds it is told to release it.
async fn take_lock(mut file: &fs::File) -> io::Result<()> {
    let begun = Instant::now();
    let mut signals = [Signal::TERM, Signal::KILL].into_iter();
    let mut next = Duration::ZERO;
    while !is_free(file) {
        if begun.elapsed() >= next {
            // The lock's owner has written its pid.
            let mut text = String::new();
            file.rewind()?;
            file.read_to_string(&mut text)?;
            let owner = text.trim().parse().ok().and_then(Pid::from_raw);
            match (owner, signals.next()) {
                // A process that serves several links releases the lock on its own.
                (Some(owner), Some(signal)) if owner != getpid() => {
                    let _ = kill_process(owner, signal);
                }
                (Some(owner), Some(_)) if owner == getpid() => {}
                (None, _) if begun.elapsed() < LETTING_GO => {}
                _ => return Err(io::ErrorKind::ResourceBusy.into()),
            }
            next += LETTING_GO;
        }
        tokio::time::sleep(STEP).await;
    }
    Ok(())
}

/// Takes a lock, if no other process has it.
fn is_free(file: &fs::File) -> bool {
    flock(file, FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// Removes the directory of another session, if it has no programs, no far end serves it, and nobody else has adopted
/// programs of it. `adopters` is the caller's lock.
pub(super) fn remove_if_unused(folder: &Path, adopters: &fs::File) {
    let lock = fs::File::open(folder.join(LOCK));
    let is_unserved = lock.as_ref().is_ok_and(is_free) && is_free(adopters);
    if is_unserved && is_empty(folder) {
        remove(folder);
    }
}

fn remove(folder: &Path) {
    for name in [ADOPTERS, LOCK] {
        let _ = fs::remove_file(folder.join(name));
    }
    let _ = fs::remove_dir(folder);
}

/// Removes the directories of sessions that have been inactive for longer than any lease.
fn sweep(parent: &Path, own: &Path) {
    let sessions = fs::read_dir(parent).into_iter().flatten().flatten();
    for session in sessions.map(|entry| entry.path()).filter(|it| it != own) {
        let lock = fs::File::open(session.join(LOCK));
        let adopters = fs::File::open(session.join(ADOPTERS));
        let is_unused = lock.as_ref().is_ok_and(is_free) && adopters.as_ref().map_or(true, is_free);
        let mut entries = fs::read_dir(&session).into_iter().flatten().flatten();
        let is_old = |entry: fs::DirEntry| {
            let changed = entry.metadata().and_then(|it| it.modified());
            changed.is_ok_and(|it| it.elapsed().is_ok_and(|age| age > LONGEST_LEASE))
        };
        if is_unused && entries.all(is_old) {
            let _ = fs::remove_dir_all(&session);
        }
    }
}

impl Drop for SessionFolder {
    fn drop(&mut self) {
        if is_empty(&self.path) {
            remove(&self.path);
        }
    }
}
