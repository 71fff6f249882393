//! Event logs of sessions, for the process that resumes the sessions.
//!
//! Start at [`EventLogs::open`]. Each session has its own [`LineLog`], which is
//! written before the event is published: everything that a client has read is
//! in it. `hub_log.rs` has the combined events of all sessions, with their own
//! numbers.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use indexmap::IndexMap;
use parking_lot::Mutex;
use windlass_protocol::{Millis, SessionId, StreamedEvent};
use windlass_runtime::{Entry, LooseEnd, PastEvents, Recorder, SessionEvent, SessionOptions};

use crate::hub_log::HubLog;
use crate::line_log::{LineLog, remove_if_free};
use crate::logged::LoggedSession;
use crate::update;

/// The most servers of one project that keep their events.
const SERVERS: usize = 16;

/// The logs of one server. Cloning is cheap and gives the same ones.
#[derive(Clone)]
pub struct EventLogs(Arc<LogFolder>);

struct LogFolder {
    folder: PathBuf,
    hub: Mutex<Option<HubLog>>,
    sessions: Mutex<Vec<Weak<SessionLog>>>,
}

/// A session as restored from its log.
pub struct LoggedPast {
    /// Its set-up.
    pub session: LoggedSession,
    pub events: PastEvents,
    state: OpenSessionLog,
}

impl EventLogs {
    /// Opens the logs of a project's servers, which are in this folder, for a
    /// server that starts. It goes on with the events of one that is gone, if
    /// there is one.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let inner = LogFolder {
            folder: folder.to_owned(),
            hub: Mutex::new(None),
            sessions: Mutex::default(),
        };
        let logs = Self(Arc::new(inner));
        logs.take_hub()?;
        Ok(logs)
    }

    fn take_hub(&self) -> io::Result<()> {
        for number in 0..SERVERS {
            let folder = self.0.folder.join(format!("all-{number}"));
            if let Some((log, lines)) = LineLog::open(&folder)? {
                *self.0.hub.lock() = Some(HubLog::new(log, &lines));
                return Ok(());
            }
        }
        Err(io::Error::other("too many servers of this project run"))
    }

    /// The log of all events, once.
    pub(crate) fn hub(&self) -> Option<HubLog> {
        self.0.hub.lock().take()
    }

    /// The events of a session whose server is gone. `None` if there are none,
    /// or another server has them.
    pub fn past(&self, id: &SessionId) -> Option<LoggedPast> {
        let folder = self.folder_of(id);
        if !folder.exists() {
            return None;
        }
        let (log, lines) = LineLog::open(&folder).ok()??;
        let mut session = None;
        let mut events = PastEvents::default();
        let mut open = IndexMap::new();
        for line in lines {
            if let Ok(event) = serde_json::from_str::<StreamedEvent>(&line) {
                let entry = update::entry(event);
                for end in LooseEnd::closed_by(&entry.event) {
                    open.shift_remove(&end);
                }
                if let Some(end) = LooseEnd::opened_by(&entry) {
                    open.insert(end, line);
                }
                events.add(entry);
            } else if let Ok(first) = serde_json::from_str::<LoggedSession>(&line) {
                session = Some(first);
            }
        }
        Some(LoggedPast {
            session: session?,
            events,
            state: OpenSessionLog { log, open },
        })
    }

    /// Keeps the events of a session that begins.
    pub fn keep(&self, options: &mut SessionOptions, idle: Option<Duration>) {
        let id = options
            .id
            .get_or_insert_with(windlass_runtime::Session::new_id);
        let session = LoggedSession {
            session: id.clone(),
            front_end: options.front_end.clone().unwrap_or_default(),
            name: options.name.clone(),
            trusted: options.trusted,
            idle_secs: idle.map(|idle| idle.as_secs()),
            created: Millis::at(SystemTime::now()),
        };
        match LineLog::open(&self.folder_of(id)) {
            Ok(Some((log, _))) => {
                let open = IndexMap::new();
                let log = self.recorder(session, OpenSessionLog { log, open });
                log.write(&log.first_line(), &[]);
                options.event_log = Some(log);
            }
            Ok(None) => tracing::warn!(session = %id, "another server keeps these events"),
            Err(error) => tracing::warn!(%error, "events cannot be kept"),
        }
    }

    /// Goes on with the events of a session that is taken up.
    pub fn resume(&self, options: &mut SessionOptions, past: LoggedPast) {
        options.event_log = Some(self.recorder(past.session, past.state));
        options.past = past.events;
    }

    fn recorder(&self, session: LoggedSession, state: OpenSessionLog) -> Arc<SessionLog> {
        let state = Mutex::new(Some(state));
        let kept = Arc::new(SessionLog { session, state });
        let mut sessions = self.0.sessions.lock();
        sessions.retain(|session| session.strong_count() > 0);
        sessions.push(Arc::downgrade(&kept));
        kept
    }

    /// Lets go of all logs as they are, for another process to go on with.
    pub fn let_go(&self) {
        self.0.hub.lock().take();
        for session in self.0.sessions.lock().iter() {
            if let Some(session) = session.upgrade() {
                session.state.lock().take();
            }
        }
    }

    /// Takes the logs of this server back that it has let go of, and gives the
    /// number of the newest event of each session.
    pub(crate) fn take_back(&self) -> io::Result<Vec<(SessionId, u64)>> {
        self.take_hub()?;
        let mut last = Vec::new();
        for session in self.0.sessions.lock().iter() {
            let Some(session) = session.upgrade() else {
                continue;
            };
            let id = session.session.session.clone();
            if let Some(past) = self.past(&id) {
                *session.state.lock() = Some(past.state);
                last.push((id, past.events.last()));
            }
        }
        Ok(last)
    }

    /// Removes the logs of sessions that no server has, but for these.
    pub fn forget_all_but(&self, kept: &[SessionId]) {
        let Ok(folders) = std::fs::read_dir(self.sessions_folder()) else {
            return;
        };
        for folder in folders.flatten() {
            let name = folder.file_name();
            if !kept.iter().any(|id| *id.as_str() == *name) {
                remove_if_free(&folder.path());
            }
        }
    }

    fn sessions_folder(&self) -> PathBuf {
        self.0.folder.join("sessions")
    }

    fn folder_of(&self, id: &SessionId) -> PathBuf {
        self.sessions_folder().join(id.as_str())
    }
}

/// Writes the events of one session.
struct SessionLog {
    session: LoggedSession,
    /// `None` once the log was let go of, or could not be written.
    state: Mutex<Option<OpenSessionLog>>,
}

struct OpenSessionLog {
    log: LineLog,
    /// Events that must not be forgotten, as lines.
    open: IndexMap<LooseEnd, String>,
}

impl SessionLog {
    fn first_line(&self) -> String {
        serde_json::to_string(&self.session).expect("it has no keys but strings")
    }

    /// Writes a line. A log that cannot be written is removed: its numbers
    /// would be given again.
    fn write(&self, line: &str, closed: &[LooseEnd]) {
        let mut state = self.state.lock();
        let Some(OpenSessionLog { log, open }) = &mut *state else {
            return;
        };
        for end in closed {
            open.shift_remove(end);
        }
        let first = || {
            let lines = open.values().cloned();
            std::iter::once(self.first_line()).chain(lines).collect()
        };
        if let Err(error) = log.append(line, first) {
            tracing::warn!(session = %self.session.session, %error, "events are not kept any longer");
            if let Some(OpenSessionLog { log, .. }) = state.take() {
                log.remove();
            }
        }
    }
}

impl Recorder for SessionLog {
    fn happened(&self, entry: &Entry) {
        if entry.event == SessionEvent::Closed {
            if let Some(OpenSessionLog { log, .. }) = self.state.lock().take() {
                log.remove();
            }
            return;
        }
        let event = update::streamed(&self.session.session, entry.clone());
        let Ok(line) = serde_json::to_string(&event) else {
            return;
        };
        self.write(&line, &LooseEnd::closed_by(&entry.event));
        if let Some(end) = LooseEnd::opened_by(entry)
            && let Some(OpenSessionLog { open, .. }) = &mut *self.state.lock()
        {
            open.insert(end, line);
        }
    }
}

#[cfg(test)]
#[path = "event_logs_tests.rs"]
mod tests;
