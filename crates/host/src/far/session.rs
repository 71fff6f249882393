//! The folder of a near session: what leads to its held programs, and the lock of the far end that has them.

use std::fs;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Signal, kill_process};
use windlass_hold_wire::LinkSession;
use windlass_process::HeldKey;

use crate::ServeError;

/// How long an earlier far end may take to let go of its programs.
const LETTING_GO: Duration = Duration::from_secs(3);
/// No lease is longer, with some time to read its receipt.
const LONGEST_LEASE: Duration = Duration::from_hours(48);
/// How often the folder is made again that an earlier far end has removed meanwhile.
const ATTEMPTS: usize = 16;
/// How often the lock is tried.
const STEP: Duration = Duration::from_millis(5);

/// The folder of one session. One far end has it at a time.
pub(super) struct SessionFolder {
    path: PathBuf,
    _lock: fs::File,
}

impl SessionFolder {
    /// Opens the folder of a session. A far end that still has it is one whose link has broken: it is told to let go.
    pub(super) async fn open(parent: &Path, session: &LinkSession) -> Result<Self, ServeError> {
        let name = format!("{:032x}", u128::from_be_bytes(*session));
        let path = parent.join(name);
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
            if let Some(lock) = Self::lock(&path.join("lock")).await.map_err(failed)? {
                return Ok(Self { path, _lock: lock });
            }
        }
        Err(failed(io::ErrorKind::ResourceBusy.into()))
    }

    /// Takes the lock; `None` if the far end that had it has removed the folder, because nothing was left.
    async fn lock(path: &Path) -> io::Result<Option<fs::File>> {
        let mut options = fs::OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut file = match options.mode(0o600).open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let begun = Instant::now();
        let mut signals = [Signal::TERM, Signal::KILL].into_iter();
        let mut next = Duration::ZERO;
        while flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            if begun.elapsed() >= next {
                // Whoever has the lock has written its pid.
                let mut text = String::new();
                file.rewind()?;
                file.read_to_string(&mut text)?;
                let owner = text.trim().parse().ok().and_then(Pid::from_raw);
                match (owner, signals.next()) {
                    (Some(owner), Some(signal)) => {
                        let _ = kill_process(owner, signal);
                    }
                    (None, _) if begun.elapsed() < LETTING_GO => {}
                    _ => return Err(io::ErrorKind::ResourceBusy.into()),
                }
                next += LETTING_GO;
            }
            tokio::time::sleep(STEP).await;
        }
        if fs::metadata(path).ok().map(|it| it.ino()) != Some(file.metadata()?.ino()) {
            return Ok(None);
        }
        file.rewind()?;
        file.set_len(0)?;
        file.write_all(std::process::id().to_string().as_bytes())?;
        Ok(Some(file))
    }

    /// The folder itself.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The file that leads to a program.
    pub(super) fn registration(&self, number: u64) -> PathBuf {
        self.path.join(format!("{number}.key"))
    }

    /// The log of a program that writes much.
    pub(super) fn log(&self, number: u64) -> PathBuf {
        self.path.join(format!("{number}.log"))
    }

    /// Notes the key of a program, before anybody hears that it runs.
    pub(super) fn register(&self, number: u64, key: &HeldKey) -> io::Result<()> {
        let mut options = fs::OpenOptions::new();
        let options = options.write(true).create(true).truncate(true).mode(0o600);
        let mut file = options.open(self.registration(number))?;
        file.write_all(&key.nonce)
    }

    /// The key of a program that an earlier far end has started.
    pub(super) fn key(&self, number: u64) -> Option<HeldKey> {
        let nonce = fs::read(self.registration(number)).ok()?;
        Some(HeldKey {
            folder: self.path.clone(),
            name: number.to_string(),
            nonce: nonce.try_into().ok()?,
        })
    }

    /// The receipt of a program whose holder has ended it: the reason in words, and how many processes were ended.
    pub(super) fn receipt(&self, number: u64) -> Option<(String, u32)> {
        let text = fs::read(self.path.join(format!("{number}.receipt"))).ok()?;
        let receipt: serde_json::Value = serde_json::from_slice(&text).ok()?;
        let ended = receipt["ended"].as_u64().unwrap_or(0);
        let why = match receipt["reason"].as_str() {
            Some("lease") => "its lease was over",
            _ => "it was ended there",
        };
        Some((why.to_owned(), u32::try_from(ended).unwrap_or(u32::MAX)))
    }

    /// Removes what leads to a program that has ended.
    pub(super) fn remove(&self, number: u64) {
        for extension in ["key", "receipt", "log", "sock"] {
            let _ = fs::remove_file(self.path.join(format!("{number}.{extension}")));
        }
    }

    /// Whether nothing is left of its programs.
    fn is_empty(&self) -> bool {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        let mut names = entries.map(|entry| entry.file_name());
        names.all(|name| name == "lock")
    }
}

/// Removes the folders of sessions in which nothing has happened for longer than any lease lasts.
fn sweep(parent: &Path, own: &Path) {
    let sessions = fs::read_dir(parent).into_iter().flatten().flatten();
    for session in sessions.map(|entry| entry.path()).filter(|it| it != own) {
        let lock = fs::File::open(session.join("lock"));
        let is_free = lock
            .as_ref()
            .is_ok_and(|lock| flock(lock, FlockOperation::NonBlockingLockExclusive).is_ok());
        let mut entries = fs::read_dir(&session).into_iter().flatten().flatten();
        let is_old = |entry: fs::DirEntry| {
            let changed = entry.metadata().and_then(|it| it.modified());
            changed.is_ok_and(|it| it.elapsed().is_ok_and(|age| age > LONGEST_LEASE))
        };
        if is_free && entries.all(is_old) {
            let _ = fs::remove_dir_all(&session);
        }
    }
}

impl Drop for SessionFolder {
    fn drop(&mut self) {
        if self.is_empty() {
            let _ = fs::remove_file(self.path.join("lock"));
            let _ = fs::remove_dir(&self.path);
        }
    }
}
