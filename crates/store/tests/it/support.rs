//! A store in a folder of its own, and sessions that record into it.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use tempfile::TempDir;
use windlass_protocol::{MessagePart, SessionId, ToolPart};
use windlass_runtime::{
    Archive, Attendance, Catalogue, Page, RecordFailure, RunMode, RunPolicy, Runtime, Session,
    SessionOptions,
};
use windlass_store::{SessionStart, Store};
use windlass_testing::{Scripted, ScriptedPerson, lasting};

pub(crate) struct Record {
    pub(crate) folder: TempDir,
    pub(crate) store: Store,
}

impl Record {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        Self { folder, store }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A session that records under this id, with a scripted tool `tool`.
    pub(crate) fn session(&self, id: &str) -> Recorded {
        record(&self.store, id, RunMode::Unattended)
    }

    /// The parts of a session, in order.
    pub(crate) async fn parts(&self, id: &str) -> Vec<ToolPart> {
        parts(&self.store, id).await
    }
}

pub(crate) struct Recorded {
    pub(crate) session: Session,
    pub(crate) tool: Scripted,
    pub(crate) person: Arc<ScriptedPerson>,
}

pub(crate) fn record(store: &Store, id: &str, mode: RunMode) -> Recorded {
    record_or(store, id, mode, RecordFailure::GoOn)
}

/// A session in which this becomes of calls that cannot be recorded.
pub(crate) fn record_or(
    store: &Store,
    id: &str,
    mode: RunMode,
    record_failure: RecordFailure,
) -> Recorded {
    let tool = Scripted::new();
    let person = Arc::new(ScriptedPerson::new());
    let mut catalogue = Catalogue::new();
    let mut definition = lasting("tool");
    definition.run = RunPolicy::starting(mode);
    // Outputs of this size are what the record has files for.
    definition.limits.output_limit = 1 << 20;
    catalogue.register(definition, tool.executor()).unwrap();
    let id = session_id(id);
    let recorder = store.recorder(start(&id));
    let session = Runtime::new(catalogue).session(SessionOptions {
        id: Some(id),
        recorder: Some(recorder),
        record_failure,
        attendance: Attendance::Attended,
        rules: Some(store.rules("p1", Path::new("/project"))),
        ..SessionOptions::default()
    });
    person.attend(session.requests());
    Recorded {
        session,
        tool,
        person,
    }
}

pub(crate) fn start(id: &SessionId) -> SessionStart {
    SessionStart {
        id: id.clone(),
        project_id: "p1".into(),
        directory: "/project".into(),
        parent: None,
        front_end: "test".into(),
        title: None,
        version: "0".into(),
        logs: None,
    }
}

pub(crate) fn session_id(id: &str) -> SessionId {
    SessionId::new(id).unwrap()
}

pub(crate) async fn parts(store: &Store, id: &str) -> Vec<ToolPart> {
    let messages = store
        .messages(&session_id(id), Page::default())
        .await
        .unwrap();
    messages
        .into_iter()
        .flat_map(|message| message.parts)
        .filter_map(|part| match part {
            MessagePart::Tool(part) => Some(*part),
            MessagePart::Text(_) => None,
        })
        .collect()
}

/// A part's state as JSON.
pub(crate) fn state(part: &ToolPart) -> Value {
    serde_json::to_value(&part.state).unwrap()
}
