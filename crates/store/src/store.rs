//! Opens the record and hands out recorders and readers.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rusqlite::{Connection, ErrorCode};
use windlass_protocol::SessionId;
use windlass_runtime::{ArchiveError, Recorder, RuleBook};

use crate::mark::RuntimeMark;
use crate::migrate::migrate;
use crate::recover::recover;
use crate::rules::ProjectRules;
use crate::write::{Begun, SessionRecorder, Write};
use crate::writer::{WriterCommand, WriterThread};

/// The longest wait for another writing process while opening.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest wait for reading, once open.
const READING: Duration = Duration::from_secs(2);
/// The number of attempts to open while another process opens it too.
const TRIES: u32 = 50;

/// Why the record cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Its folder cannot be made or used.
    #[error("the folder `{}` cannot be used", .folder.display())]
    Folder {
        folder: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The database is not to be used.
    #[error("the database cannot be used")]
    Database(#[from] rusqlite::Error),
    /// A newer Windlass has written it.
    #[error(
        "the record has version {version}, and this Windlass supports versions up to {known}; \
             update Windlass"
    )]
    Newer {
        /// The record's version.
        version: usize,
        /// The latest known version.
        known: usize,
    },
}

/// A session that is to be recorded.
#[derive(Debug, Clone)]
pub struct SessionStart {
    pub id: SessionId,
    /// The project's id, equal in all of its sessions.
    pub project_id: String,
    /// The project's root folder.
    pub directory: PathBuf,
    /// The parent session, if it is an agent's session.
    pub parent: Option<SessionId>,
    /// The front end.
    pub front_end: String,
    /// Its title, if it has a name. Otherwise the first event sets it.
    pub title: Option<String>,
    /// The version of the program that records it.
    pub version: String,
    /// The folder of its logs, which is removed with its record.
    pub logs: Option<PathBuf>,
}

/// The record. Cloning is cheap and gives the same one. Pending changes are
/// written when the last clone and the last recorder are dropped.
#[derive(Clone)]
pub struct Store {
    pub(crate) inner: Arc<StoreInner>,
}

pub(crate) struct StoreInner {
    pub(crate) folder: PathBuf,
    pub(crate) mark: RuntimeMark,
    pub(crate) writer: WriterThread,
    /// The connection for reading.
    pub(crate) reading: Mutex<Connection>,
}

impl StoreInner {
    pub(crate) fn outputs(&self) -> PathBuf {
        self.folder.join("outputs")
    }

    pub(crate) fn marks(&self) -> PathBuf {
        self.folder.join("runtimes")
    }
}

impl Store {
    /// Opens the record in this folder, and creates it if missing. Marks the
    /// unfinished work of dead runtimes as interrupted.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        let failed = |source| StoreError::Folder {
            folder: folder.to_owned(),
            source,
        };
        make_private(folder).map_err(failed)?;
        let database = folder.join("record.db");
        let mut writing = connect(&database)?;
        let marks = folder.join("runtimes");
        let mark = RuntimeMark::new(&marks).map_err(failed)?;
        recover(&mut writing, &marks)?;
        let reading = connect(&database)?;
        reading.pragma_update(None, "query_only", true)?;
        reading.busy_timeout(READING)?;
        let writer = WriterThread::start(writing, folder.join("outputs")).map_err(failed)?;
        Ok(Self {
            inner: Arc::new(StoreInner {
                folder: folder.to_owned(),
                mark,
                writer,
                reading: Mutex::new(reading),
            }),
        })
    }

    /// The recorder of a session that begins now.
    pub fn recorder(&self, start: SessionStart) -> Arc<dyn Recorder> {
        let id = start.id.clone();
        let begun = Write::Begun(Box::new(Begun {
            start,
            runtime: self.inner.mark.id().to_owned(),
            pid: std::process::id(),
        }));
        self.inner.writer.inbox.put(WriterCommand::Write(begun));
        Arc::new(SessionRecorder {
            session: id,
            store: Arc::clone(&self.inner),
        })
    }

    /// The remembered rules of a project.
    pub fn rules(&self, project_id: &str, directory: &Path) -> Arc<dyn RuleBook> {
        Arc::new(ProjectRules {
            project: project_id.to_owned(),
            directory: directory.to_string_lossy().into_owned(),
            store: Arc::clone(&self.inner),
        })
    }

    /// Reads on a blocking thread, after all changes so far are written.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, ArchiveError> {
        self.inner.read(read).await
    }
}

impl StoreInner {
    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, ArchiveError> {
        self.writer.durable().await;
        let inner = Arc::clone(self);
        let reading = tokio::task::spawn_blocking(move || read(&inner.reading.lock()));
        match reading.await {
            Ok(read) => read.map_err(ArchiveError::new),
            Err(panic) => Err(ArchiveError::new(panic)),
        }
    }
}

/// Restricts access to the user, because the record contains output of tools.
fn make_private(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    // SQLite gives the files beside it the same mode.
    fs::OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(folder.join("record.db"))?;
    Ok(())
}

fn connect(database: &Path) -> Result<Connection, StoreError> {
    let mut tries = 0;
    loop {
        match connect_once(database) {
            // Turning to WAL does not wait for others that do so, too.
            Err(StoreError::Database(error)) if is_busy(&error) && tries < TRIES => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(20));
            }
            other => return other,
        }
    }
}

fn connect_once(database: &Path) -> Result<Connection, StoreError> {
    let mut connection = Connection::open(database)?;
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    migrate(&mut connection)?;
    Ok(connection)
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}
