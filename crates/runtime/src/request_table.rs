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
    Arguments, Decider, DecisionRecord, PermissionAnswer, PermissionReply, PermissionRule,
    SessionId,
};

use crate::arguments::conceal;
use crate::inquirer::Answered;
use crate::journal::{Journal, SessionEvent};
use crate::pending::{Attendance, OpenRequest, PersonRequest, ReplyError};
use crate::refusal::ArgumentMisfit;
use crate::subject::Subject;

/// The number of requests whose ids are remembered.
const REMEMBERED: usize = 1024;

/// The conditions under which a reply to another request settles this one.
pub(crate) struct Terms {
    pub(crate) subject: Subject,
    /// The configured rules of its tool.
    pub(crate) config: Vec<PermissionRule>,
    /// Rules that the others cannot override.
    pub(crate) floor: Vec<PermissionRule>,
    /// A person should review its arguments.
    pub(crate) editable: bool,
    /// Its arguments must not be recorded.
    pub(crate) secret: bool,
    /// Checks a person's edited arguments.
    pub(crate) check: EditCheck,
}

/// Checks edited arguments.
pub(crate) type EditCheck = Box<dyn Fn(&Arguments) -> Result<(), ArgumentMisfit> + Send + Sync>;

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
    opened: VecDeque<String>,
    pub(crate) watchers: Vec<(SessionId, mpsc::UnboundedSender<OpenRequest>)>,
}

/// An open request, and its asker.
pub(crate) struct RequestEntry {
    pub(crate) request: PersonRequest,
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

    pub(crate) fn shown(self: &Arc<Self>, open: &RequestEntry) -> OpenRequest {
        OpenRequest {
            request: open.request.clone(),
            closed: open.closed.clone(),
            table: Arc::clone(self),
        }
    }

    pub(crate) fn reply(&self, id: &str, answer: PermissionAnswer) -> Result<(), ReplyError> {
        let mut state = self.0.lock();
        if let Some(RequestEntry {
            asker: Asker::Permission { terms, .. },
            ..
        }) = state.open.get(id)
            && let Some(arguments) = &answer.arguments
            && answer.reply != PermissionReply::Reject
        {
            (terms.check)(arguments).map_err(ReplyError::UnfitArguments)?;
        }
        let open = state.take(id, |open| matches!(open.asker, Asker::Permission { .. }));
        let open = open.ok_or_else(|| state.missing(id, ReplyError::NoPermission))?;
        let session = open.session().clone();
        let rejects = answer.reply == PermissionReply::Reject;
        open.reply(answer);
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
        if let Some(open) = state.take(id, |_| true) {
            open.answer(Answered::With(value));
        }
        Ok(())
    }

    /// Closes a question. Returns whether it was open.
    pub(crate) fn close_question(&self, id: &str, answered: Answered) -> bool {
        let mut state = self.0.lock();
        let open = state.take(id, |open| matches!(open.asker, Asker::Question(_)));
        open.map(|open| open.answer(answered)).is_some()
    }
}

impl TableState {
    /// Sends a request to all watchers of these sessions.
    pub(crate) fn tell_watchers(&mut self, lineage: &[SessionId], shown: &OpenRequest) {
        self.watchers.retain(|(session, watcher)| {
            if lineage.contains(session) {
                watcher.send(shown.clone()).is_ok()
            } else {
                !watcher.is_closed()
            }
        });
    }

    pub(crate) fn remember(&mut self, id: &str) {
        if self.opened.len() == REMEMBERED {
            self.opened.pop_front();
        }
        self.opened.push_back(id.to_owned());
    }

    pub(crate) fn has_closed(&self, id: &str) -> bool {
        !self.open.contains_key(id) && self.opened.iter().any(|opened| opened == id)
    }

    /// The error for a request that is closed or never existed.
    fn missing(&self, id: &str, never: impl FnOnce(String) -> ReplyError) -> ReplyError {
        if self.has_closed(id) {
            ReplyError::Closed(brief(id))
        } else {
            never(brief(id))
        }
    }

    fn take(&mut self, id: &str, wanted: impl Fn(&RequestEntry) -> bool) -> Option<RequestEntry> {
        self.open.get(id).filter(|open| wanted(open))?;
        self.open.shift_remove(id)
    }

    pub(crate) fn settle(
        &mut self,
        session: &SessionId,
        reply: PermissionReply,
        wanted: impl Fn(&Terms) -> bool,
    ) {
        let settled = self.open.extract_if(.., |_, open| match &open.asker {
            Asker::Permission { terms, .. } => open.is_of(session) && wanted(terms),
            Asker::Question(_) | Asker::Trust(_) => false,
        });
        for (_, open) in settled {
            open.settle(reply);
        }
    }
}

/// Each of these methods consumes the entry, so that it is closed once. An
/// asker that is gone needs no outcome.
impl RequestEntry {
    fn session(&self) -> &SessionId {
        self.lineage
            .last()
            .expect("it holds at least the session itself")
    }

    pub(crate) fn is_of(&self, session: &SessionId) -> bool {
        self.session() == session
    }

    pub(crate) fn is_below(&self, session: &SessionId) -> bool {
        self.lineage.contains(session)
    }

    fn reply(self, answer: PermissionAnswer) {
        let Asker::Permission { terms, .. } = &self.asker else {
            unreachable!("only permissions are replied to so");
        };
        let mut arguments = answer.arguments.clone();
        if let Some(arguments) = arguments.as_mut().filter(|_| terms.secret) {
            conceal(arguments);
        }
        let decision = DecisionRecord {
            message: answer.message.clone(),
            arguments,
            ..DecisionRecord::new(Decider::Person, Some(answer.reply))
        };
        if let Asker::Permission { sender, .. } = self.close(&decision) {
            let _ = sender.send(PermissionOutcome::Replied(answer));
        }
    }

    fn settle(self, reply: PermissionReply) {
        let decision = DecisionRecord::new(Decider::Another, Some(reply));
        if let Asker::Permission { sender, .. } = self.close(&decision) {
            let _ = sender.send(PermissionOutcome::Settled(reply));
        }
    }

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

    pub(crate) fn withdraw(self) {
        self.close(&DecisionRecord::new(Decider::Withdrawn, None));
    }

    pub(crate) fn give_up(self) {
        match self.close(&DecisionRecord::new(Decider::Nobody, None)) {
            Asker::Permission { sender, .. } => drop(sender.send(PermissionOutcome::Nobody)),
            Asker::Question(sender) => drop(sender.send(Answered::Nobody)),
            Asker::Trust(_) => {}
        }
    }

    /// Informs the journal and the watchers, and returns the asker.
    fn close(self, decision: &DecisionRecord) -> Asker {
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
