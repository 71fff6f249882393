//! The options of a session.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use windlass_protocol::SessionId;

use crate::client::SessionClient;
use crate::inquirer::Inquirer;
use crate::keeping::HandleKeeper;
use crate::past::PastEvents;
use crate::pending::{Attendance, OnBehalf};
use crate::recorder::{RecordFailure, Recorder};
use crate::rules::RuleBook;
use crate::session_limits::SessionLimits;

/// The settings of a session. The default asks nobody, trusts nobody and keeps
/// no record.
#[derive(Clone, Default)]
pub struct SessionOptions {
    /// The session's id. Default: a new one.
    pub id: Option<SessionId>,
    /// The project's root folder.
    pub root: PathBuf,
    /// The folder for logs of large output; removed when the session closes,
    /// unless `keep_logs` is set.
    pub log_dir: Option<PathBuf>,
    /// Keeps the logs when the session closes, because its record refers to
    /// them.
    pub keep_logs: bool,
    /// The front end, for the record: `drive`, `mcp`.
    pub front_end: Option<String>,
    /// A name from a person or a client, for the record and for lists. A
    /// session's successor keeps it.
    pub name: Option<String>,
    /// The session that this one works for, as an agent's does.
    pub parent: Option<SessionId>,
    /// The driver of the session needs no permissions.
    pub trusted: bool,
    /// The session's client asks its user itself before a tool runs.
    pub client_asks: bool,
    /// The client, if tools may send it requests.
    pub client: Option<Arc<dyn SessionClient>>,
    /// Whether anyone replies to the session's requests.
    pub attendance: Attendance,
    /// The requests of the session that this one works for, as an agent's does.
    /// Its attendance applies.
    pub on_behalf: Option<OnBehalf>,
    /// A model to ask.
    pub inquirer: Option<Arc<dyn Inquirer>>,
    /// The remembered rules of the project.
    pub rules: Option<Arc<dyn RuleBook>>,
    /// A record.
    pub recorder: Option<Arc<dyn Recorder>>,
    /// The treatment of calls that cannot be recorded.
    pub record_failure: RecordFailure,
    /// Keeps handles beyond this runtime. Without it, none is kept.
    pub keeper: Option<Arc<dyn HandleKeeper>>,
    /// The treatment of handles that still run when a turn ends.
    pub between_turns: BetweenTurns,
    /// Limits for all its tools together.
    pub limits: SessionLimits,
    /// The number of bytes of stored results of stopped handles. Default: 64
    /// MiB.
    pub stored_bytes: Option<u64>,
    /// The number of events in the journal. Default: 4,096.
    pub journal_capacity: Option<usize>,
    /// The start of the session, if another runtime started it.
    pub began: Option<SystemTime>,
    /// Stores the events for the next runtime of the session, beside the
    /// record. Calls do not wait for it.
    pub event_log: Option<Arc<dyn Recorder>>,
    /// The events of the session from before this runtime takes it over. The
    /// numbers of events and tools continue. [`Session::recall`](crate::Session::recall) then settles
    /// open items.
    pub past: PastEvents,
}

/// The treatment of handles between two turns of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BetweenTurns {
    /// Their tools' policies decide when the turn ends.
    #[default]
    ByPolicy,
    /// They continue, except those whose tool has `on_turn_end = "abort"`.
    Keep,
}
