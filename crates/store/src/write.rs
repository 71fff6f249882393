//! The changes to the record, one small write each.
//!
//! [`SessionRecorder`] makes them of the events of a session, the writer's
//! thread collects them (`writer.rs`), and [`apply`] carries them out.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use rusqlite::{Connection, Result, params};
use windlass_protocol::{
    ConversationEvent, DecisionRecord, Millis, Notice, PartState, PermissionId, PermissionRequest,
    RecordTrouble, SessionId, ToolPart,
};
use windlass_runtime::{Entry, Recorder, SessionEvent};

use crate::output::shorten;
use crate::reply;
use crate::rows::{json, number, role_word};
use crate::store::{SessionStart, StoreInner};
use crate::writer::WriterCommand;

/// One change of the record.
#[derive(Debug, Clone)]
pub(crate) enum Write {
    Begun(Box<Begun>),
    Part {
        part: Arc<ToolPart>,
        at: Millis,
    },
    Said {
        session: SessionId,
        event: Box<ConversationEvent>,
    },
    Asked {
        request: Arc<PermissionRequest>,
        at: Millis,
    },
    Decided {
        id: PermissionId,
        decision: Arc<DecisionRecord>,
        at: Millis,
    },
    Noticed {
        session: SessionId,
        number: u64,
        notice: Notice,
        at: Millis,
    },
    Delivered {
        session: SessionId,
        notices: Vec<u64>,
        at: Millis,
    },
    Touched {
        session: SessionId,
        at: Millis,
    },
    Ended {
        session: SessionId,
        at: Millis,
    },
}

/// A session has begun.
#[derive(Debug, Clone)]
pub(crate) struct Begun {
    pub(crate) start: SessionStart,
    pub(crate) runtime: String,
    pub(crate) pid: u32,
}

/// Records the events of one session.
pub(crate) struct SessionRecorder {
    pub(crate) session: SessionId,
    pub(crate) store: Arc<StoreInner>,
}

#[async_trait]
impl Recorder for SessionRecorder {
    fn happened(&self, entry: &Entry) {
        let at = Millis::at(entry.at);
        let session = || self.session.clone();
        let write = |write| self.store.writer.inbox.put(WriterCommand::Write(write));
        match &entry.event {
            SessionEvent::Part(part) => write(Write::Part {
                part: Arc::clone(part),
                at,
            }),
            SessionEvent::PermissionAsked(request) => write(Write::Asked {
                request: Arc::clone(request),
                at,
            }),
            SessionEvent::PermissionReplied { id, decision } => write(Write::Decided {
                id: id.clone(),
                decision: Arc::clone(decision),
                at,
            }),
            SessionEvent::PermissionDecided { request, decision } => {
                write(Write::Asked {
                    request: Arc::clone(request),
                    at,
                });
                write(Write::Decided {
                    id: request.id.clone(),
                    decision: Arc::clone(decision),
                    at,
                });
            }
            SessionEvent::Noticed(notice) => write(Write::Noticed {
                session: session(),
                number: entry.number,
                notice: notice.clone(),
                at,
            }),
            SessionEvent::Delivered { notices } => write(Write::Delivered {
                session: session(),
                notices: notices.clone(),
                at,
            }),
            SessionEvent::TurnEnded => write(Write::Touched {
                session: session(),
                at,
            }),
            SessionEvent::Closed => write(Write::Ended {
                session: session(),
                at,
            }),
            // What a tool did is told by the parts of its calls, and its
            // output by its log; an answer may be a secret.
            SessionEvent::Called { .. }
            | SessionEvent::Replied { .. }
            | SessionEvent::Tool { .. }
            | SessionEvent::QuestionAsked(_)
            | SessionEvent::QuestionClosed { .. }
            | SessionEvent::Locked { .. }
            | SessionEvent::Unlocked { .. } => {}
        }
    }

    async fn durable(&self) {
        self.store.writer.durable().await;
    }

    fn trouble(&self) -> Option<RecordTrouble> {
        self.store.writer.trouble()
    }
}

/// Carries a change out.
pub(crate) fn apply(connection: &Connection, outputs: &Path, write: &Write) -> Result<()> {
    match write {
        Write::Begun(begun) => begin(connection, begun),
        Write::Part { part, at } => write_part(connection, outputs, part, *at),
        Write::Said { session, event } => write_said(connection, session, event),
        Write::Asked { request, at } => {
            let sql = "INSERT OR IGNORE INTO permission (id, session, request, asked) VALUES (?, ?, ?, ?)";
            run(
                connection,
                sql,
                params![
                    request.id.as_str(),
                    request.session_id.as_str(),
                    json(request),
                    number(*at)
                ],
            )
        }
        Write::Decided { id, decision, at } => run(
            connection,
            "UPDATE permission SET decision = ?, decided = ? WHERE id = ? AND decision IS NULL",
            params![json(decision), number(*at), id.as_str()],
        ),
        Write::Noticed {
            session,
            number: place,
            notice,
            at,
        } => run(
            connection,
            "INSERT OR REPLACE INTO notice (session, number, notice, created) VALUES (?, ?, ?, ?)",
            params![
                session.as_str(),
                place.cast_signed(),
                json(notice),
                number(*at)
            ],
        ),
        Write::Delivered {
            session,
            notices,
            at,
        } => notices.iter().try_for_each(|place| {
            run(
                connection,
                "UPDATE notice SET delivered = ? WHERE session = ? AND number = ?",
                params![number(*at), session.as_str(), place.cast_signed()],
            )
        }),
        Write::Touched { session, at } => touch(connection, session.as_str(), number(*at), ""),
        Write::Ended { session, at } => run(
            connection,
            "UPDATE session SET updated = ?1, ended = ?1 WHERE id = ?2",
            params![number(*at), session.as_str()],
        ),
    }
}

fn begin(connection: &Connection, begun: &Begun) -> Result<()> {
    let start = &begun.start;
    let now = number(Millis::at(std::time::SystemTime::now()));
    // A session that is taken up again is the new runtime's.
    run(
        connection,
        "INSERT INTO session (id, project, directory, front_end, runtime, pid, version, logs, created, updated, parent, title)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?10, ?11)
         ON CONFLICT (id) DO UPDATE SET
             runtime = excluded.runtime, pid = excluded.pid, version = excluded.version,
             logs = coalesce(excluded.logs, logs), updated = excluded.updated, ended = NULL",
        params![
            start.id.as_str(),
            start.project_id,
            start.directory.to_string_lossy(),
            start.front_end,
            begun.runtime,
            begun.pid,
            start.version,
            start.logs.as_ref().map(|logs| logs.to_string_lossy()),
            now,
            start.parent.as_ref().map(SessionId::as_str),
            start.title.as_deref().unwrap_or_default(),
        ],
    )
}

fn write_part(
    connection: &Connection,
    outputs: &Path,
    part: &Arc<ToolPart>,
    at: Millis,
) -> Result<()> {
    let session = part.session_id.as_str();
    let message = part.message_id.as_str();
    run(
        connection,
        "INSERT OR IGNORE INTO message (id, session, role, created) VALUES (?, ?, 'assistant', ?)",
        params![message, session, number(at)],
    )?;
    let (part, output) = shorten(outputs, part);
    let (status, title) = match &part.state {
        PartState::Pending(_) => ("pending", None),
        PartState::Running(state) => ("running", state.title.as_deref()),
        PartState::Completed(state) => ("completed", Some(state.title.as_str())),
        PartState::Error(_) => ("error", None),
    };
    run(
        connection,
        "INSERT INTO part (id, session, message, status, body, output) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET
             status = excluded.status, body = excluded.body, output = excluded.output",
        params![
            part.id.as_str(),
            session,
            message,
            status,
            json(&*part),
            output.map(|output| output.to_string_lossy().into_owned()),
        ],
    )?;
    touch(connection, session, number(at), title.unwrap_or(""))
}

fn write_said(
    connection: &Connection,
    session: &SessionId,
    event: &ConversationEvent,
) -> Result<()> {
    let at = number(event.at);
    let (session, message) = (session.as_str(), event.message.as_str());
    run(
        connection,
        "INSERT OR IGNORE INTO message (id, session, role, created) VALUES (?, ?, ?, ?)",
        params![message, session, role_word(event.role), at],
    )?;
    let replies = reply::stored(connection, message, &event.replies)?;
    run(
        connection,
        "INSERT INTO said (session, message, text, payload, replies, at) VALUES (?, ?, ?, ?, ?, ?)",
        params![
            session,
            message,
            event.text,
            json(&event.payload),
            replies,
            at
        ],
    )?;
    // The first that was said is what a person knows the session by.
    let title: String = event
        .text
        .iter()
        .flat_map(|text| text.chars())
        .take(100)
        .collect();
    touch(connection, session, at, &title)
}

/// Records activity in the session, which may set its title. The time has a
/// resolution of a second, so that most calls do not change the row.
fn touch(connection: &Connection, session: &str, at: i64, title: &str) -> Result<()> {
    run(
        connection,
        "UPDATE session SET updated = max(updated, ?1), title = CASE WHEN title = '' THEN ?2 ELSE title END
         WHERE id = ?3 AND (updated <= ?1 - 1000 OR (title = '' AND ?2 <> ''))",
        params![at, title, session],
    )
}

fn run(connection: &Connection, sql: &str, params: impl rusqlite::Params) -> Result<()> {
    connection.prepare_cached(sql)?.execute(params).map(drop)
}
