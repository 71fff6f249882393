//! The table of open requests, each of which is closed exactly once.
//!
//! ```text
//!            ┌─▶ replied     a person has answered it
//!            ├─▶ settled     a reply to another request covers it
//!   open ────┤
//!            ├─▶ given up    nobody answers it
//!            └─▶ withdrawn   the asking call no longer needs a reply
//! ```
//!
//! Start at [`RequestTable`]. A [`RequestEntry`] is closed by consuming it,
//! and that is told to the journal there. `pending.rs` is what front ends see
//! of it.

use std::collections::VecDeque;
use std::sync::Arc;

use indexmap::IndexMap;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use windlass_protocol::{
    Arguments, Decider, DecisionRecord, HandleAction, PermissionAnswer, PermissionReply, SessionId,
};

use crate::arguments::{check_typed, conceal, reveal};
use crate::catalogue::RegisteredTool;
use crate::inquirer::Answered;
use crate::journal::{Journal, SessionEvent};
use crate::pending::{Attendance, OpenRequest};
use crate::person_request::{PersonRequest, ReplyError};
use crate::refusal::ArgumentMisfit;
use crate::subject::Subject;

/// The number of requests whose ids are remembered.
pub(crate) const REMEMBERED: usize = 1024;

/// The conditions under which a reply is accepted, and under which a reply to
/// another request settles this one.
pub(crate) struct Terms {
    pub(crate) subject: Subject,
    pub(crate) tool: Arc<RegisteredTool>,
    pub(crate) action: Option<HandleAction>,
    /// A person should review its arguments.
    pub(crate) editable: bool,
    /// Its arguments, if they must not be recorded.
    pub(crate) secret: Option<Arguments>,
}

impl Terms {
    /// A person's edited arguments, as the tool takes them. A mistake in them is
    /// reported to the person, not to the assistant.
    fn accept(&self, mut edited: Arguments) -> Result<Arguments, ArgumentMisfit> {
        if let Some(original) = &self.secret {
            reveal(&mut edited, original);
        }
        match self.action {
            None | Some(HandleAction::Spawn) => self.tool.validate(edited),
            Some(HandleAction::Apply) => check_typed(&edited).map(|()| edited),
            Some(HandleAction::Fetch | HandleAction::Abort) => Ok(edited),
        }
    }
}

/// The outcome of a permission request.
pub(crate) enum PermissionOutcome {
    /// A person replied.
    Replied(PermissionAnswer),
    /// A reply to another request settled it.
    Settled(PermissionReply),
    /// No reply.
    Nobody,
}

/// The asker's side of a request. Dropping it withdraws the request if it is
/// open.
pub(crate) struct Ticket<T> {
    pub(crate) table: Arc<RequestTable>,
    pub(crate) id: String,
    pub(crate) outcome: oneshot::Receiver<T>,
}

impl<T> Ticket<T> {
    /// Waits until the request is closed.
    pub(crate) async fn outcome(mut self) -> T {
        match (&mut self.outcome).await {
            Ok(outcome) => outcome,
            Err(_) => unreachable!("only the ticket withdraws its request without an outcome"),
        }
    }
}

impl<T> Drop for Ticket<T> {
    fn drop(&mut self) {
        let mut state = self.table.0.lock();
        if let Some(open) = state.open.shift_remove(&self.id) {
            open.close(&DecisionRecord::new(Decider::Withdrawn, None));
        }
    }
}

/// The requests of a session and of the agents that work for it.
pub(crate) struct RequestTable(pub(crate) Mutex<TableState>);

pub(crate) struct TableState {
    pub(crate) attendance: Attendance,
    pub(crate) open: IndexMap<String, RequestEntry>,
    /// The ids of the newest requests, open or not, oldest first.
    pub(crate) opened: VecDeque<String>,
    pub(crate) watchers: Vec<Watcher>,
}

/// A watching session.
pub(crate) type Watcher = (SessionId, mpsc::UnboundedSender<OpenRequest>);

/// An open request, and its asker.
pub(crate) struct RequestEntry {
    pub(crate) request: PersonRequest,
    pub(crate) session: SessionId,
    /// The sessions that its session works for, the topmost first, then that
    /// session itself.
    pub(crate) lineage: Arc<[SessionId]>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) closed: CancellationToken,
    pub(crate) asker: Asker,
}

/// The receiver of a request's outcome.
pub(crate) enum Asker {
    Permission {
        terms: Terms,
        sender: oneshot::Sender<PermissionOutcome>,
    },
    Question(oneshot::Sender<Answered>),
    /// Receives the answers of all sessions.
    Trust(mpsc::UnboundedSender<bool>),
}

impl RequestTable {
    pub(crate) fn new(attendance: Attendance) -> Arc<Self> {
        Arc::new(Self(Mutex::new(TableState {
            attendance,
            open: IndexMap::new(),
            opened: VecDeque::new(),
            watchers: Vec::new(),
        })))
    }

    /// Sends a request to those of the watchers that see its session.
    pub(crate) fn show(self: &Arc<Self>, watchers: &mut Vec<Watcher>, open: &RequestEntry) {
        let shown = OpenRequest {
            request: open.request.clone(),
            closed: open.closed.clone(),
            table: Arc::clone(self),
        };
        watchers.retain(|(session, watcher)| {
            if open.lineage.contains(session) {
                watcher.send(shown.clone()).is_ok()
            } else {
                !watcher.is_closed()
            }
        });
    }

    pub(crate) fn reply(&self, id: &str, mut answer: PermissionAnswer) -> Result<(), ReplyError> {
        let mut state = self.0.lock();
        let Some(RequestEntry {
            session,
            asker: Asker::Permission { terms, .. },
            ..
        }) = state.open.get(id)
        else {
            return Err(state.missing(id, ReplyError::NoPermission));
        };
        let session = session.clone();
        let rejects = answer.reply == PermissionReply::Reject;
        let mut decision = DecisionRecord::new(Decider::Person, Some(answer.reply));
        decision.message.clone_from(&answer.message);
        if let Some(edited) = answer.arguments.take() {
            let mut recorded = edited.clone();
            if terms.secret.is_some() {
                conceal(&mut recorded);
            }
            decision.arguments = Some(recorded);
            if !rejects {
                let accepted = terms.accept(edited).map_err(ReplyError::UnfitArguments)?;
                answer.arguments = Some(accepted);
            }
        }
        if let Some(open) = state.open.shift_remove(id)
            && let Asker::Permission { sender, .. } = open.close(&decision)
        {
            let _ = sender.send(PermissionOutcome::Replied(answer));
        }
        if rejects {
            state.settle(&session, PermissionReply::Reject, |_| true);
        }
        Ok(())
    }

    pub(crate) fn answer(&self, id: &str, value: Value) -> Result<(), ReplyError> {
        let mut state = self.0.lock();
        let request = state.open.get(id).map(|open| &open.request);
        let Some(PersonRequest::Question(ask) | PersonRequest::Trust(ask)) = request else {
            return Err(state.missing(id, ReplyError::NoQuestion));
        };
        let question = &ask.question;
        let value = ask.check(value).map_err(|error| {
            if question.secret {
                ReplyError::UnfitSecret(question.id.clone())
            } else {
                ReplyError::Unfit(error)
            }
        })?;
        if let Some(open) = state.open.shift_remove(id) {
            open.answer(Answered::With(value));
        }
        Ok(())
    }

    /// Closes a question. Returns whether it was open.
    pub(crate) fn close_question(&self, id: &str, answered: Answered) -> bool {
        let mut state = self.0.lock();
        let open = state.open.get(id);
        if !open.is_some_and(|open| matches!(open.asker, Asker::Question(_))) {
            return false;
        }
        let open = state.open.shift_remove(id);
        open.map(|open| open.answer(answered)).is_some()
    }
}

impl TableState {
    /// The error for a request that is closed or never existed.
    fn missing(&self, id: &str, never: impl FnOnce(String) -> ReplyError) -> ReplyError {
        if !self.open.contains_key(id) && self.opened.iter().any(|opened| opened == id) {
            ReplyError::Closed(brief(id))
        } else {
            never(brief(id))
        }
    }

    /// Closes all permission requests of the session that are wanted.
    pub(crate) fn settle(
        &mut self,
        session: &SessionId,
        reply: PermissionReply,
        wanted: impl Fn(&Terms) -> bool,
    ) {
        let settled = self.open.extract_if(.., |_, open| match &open.asker {
            Asker::Permission { terms, .. } => open.session == *session && wanted(terms),
            Asker::Question(_) | Asker::Trust(_) => false,
        });
        let decision = DecisionRecord::new(Decider::Another, Some(reply));
        for (_, open) in settled {
            if let Asker::Permission { sender, .. } = open.close(&decision) {
                let _ = sender.send(PermissionOutcome::Settled(reply));
            }
        }
    }
}

/// Each of these methods consumes the entry, so that it is closed once. An
/// asker that is gone needs no outcome.
impl RequestEntry {
    fn answer(self, answered: Answered) {
        let decision = DecisionRecord::new(Decider::Person, None);
        match (self.close(&decision), answered) {
            (Asker::Question(sender), answered) => drop(sender.send(answered)),
            (Asker::Trust(sender), Answered::With(Value::Bool(is_trusted))) => {
                let _ = sender.send(is_trusted);
            }
            _ => {}
        }
    }

    pub(crate) fn give_up(self) {
        match self.close(&DecisionRecord::new(Decider::Nobody, None)) {
            Asker::Permission { sender, .. } => drop(sender.send(PermissionOutcome::Nobody)),
            Asker::Question(sender) => drop(sender.send(Answered::Nobody)),
            Asker::Trust(_) => {}
        }
    }

    /// Informs the journal and the watchers, and returns the asker.
    pub(crate) fn close(self, decision: &DecisionRecord) -> Asker {
        self.journal.append(match self.request {
            PersonRequest::Permission(request) => SessionEvent::PermissionReplied {
                id: request.id.clone(),
                decision: Arc::new(decision.clone()),
            },
            PersonRequest::Question(ask) | PersonRequest::Trust(ask) => {
                SessionEvent::QuestionClosed {
                    ask: ask.ask.clone(),
                }
            }
        });
        self.closed.cancel();
        self.asker
    }
}

/// At most 64 characters of an arbitrary id.
fn brief(id: &str) -> String {
    id.chars().take(64).collect()
}
