//! Open requests to a person.
//!
//! Start at [`PendingRequests`]. Every session has one, whether or not a front
//! end can show anything. Front ends list, watch and reply. `request_table.rs`
//! closes each request exactly once; `permission.rs` and `inquiry.rs` create
//! requests and act on replies.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use windlass_protocol::{
    Ask, Decider, DecisionRecord, HandleId, PermissionAnswer, PermissionId, PermissionReply,
    PermissionRequest, PermissionRule, Question, RequestRendering, RuleAction, SessionId,
};

use crate::inquirer::Answered;
use crate::journal::{Journal, SessionEvent};
use crate::person_request::{PersonRequest, ReplyError};
use crate::request_table::{
    Asker, PermissionOutcome, REMEMBERED, RequestEntry, RequestTable, TableState, Terms, Ticket,
};
use crate::rules::Rules;
use crate::session::new_ulid;

/// Whether anyone replies to a session's requests. A front end sets this at the
/// start of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Attendance {
    /// Nobody: permission is refused at once, and a question takes its default.
    #[default]
    Unattended,
    /// Someone may: a request stays open until it is answered or withdrawn.
    Attended,
}

impl Attendance {
    /// Attended if a person will reply.
    pub fn when(somebody_replies: bool) -> Self {
        if somebody_replies {
            Self::Attended
        } else {
            Self::Unattended
        }
    }
}

/// The open requests of a session. Clones share them, and so do the sessions of
/// agents: watchers of a session also see the requests of the agents that work
/// for it.
#[derive(Clone)]
pub struct PendingRequests {
    table: Arc<RequestTable>,
    session: SessionId,
    /// The sessions that this one works for, topmost first, then itself.
    lineage: Arc<[SessionId]>,
    /// The agents on the path to this session, by their handles.
    agents: Arc<[String]>,
    journal: Arc<Journal>,
    /// Cancelled when the session ends.
    closing: CancellationToken,
}

/// The requests of a session that works for another one.
#[derive(Clone)]
pub struct OnBehalf {
    /// The requests of the session that it works for.
    pub requests: PendingRequests,
    /// The agent's name in that session.
    pub agent: String,
}

impl PendingRequests {
    pub(crate) fn new(
        session: SessionId,
        on_behalf: Option<&OnBehalf>,
        attendance: Attendance,
        journal: Arc<Journal>,
        closing: CancellationToken,
    ) -> Self {
        let (table, above, agents) = match on_behalf {
            Some(OnBehalf { requests, agent }) => {
                let agents = requests.agents.iter().chain([agent]).cloned().collect();
                (
                    Arc::clone(&requests.table),
                    requests.lineage.to_vec(),
                    agents,
                )
            }
            None => (RequestTable::new(attendance), Vec::new(), Vec::new()),
        };
        Self {
            table,
            lineage: above.into_iter().chain([session.clone()]).collect(),
            session,
            agents: agents.into(),
            journal,
            closing,
        }
    }

    /// The open requests of this session, oldest first.
    pub fn list(&self) -> Vec<PersonRequest> {
        let state = self.table.0.lock();
        let own = state
            .open
            .values()
            .filter(|open| open.session == self.session);
        own.map(|open| open.request.clone()).collect()
    }

    /// The permissions that this session asks for, oldest first.
    pub fn permissions(&self) -> Vec<PermissionRequest> {
        let permission = |request| match request {
            PersonRequest::Permission(request) => Some(Arc::unwrap_or_clone(request)),
            PersonRequest::Question(_) | PersonRequest::Trust(_) => None,
        };
        self.list().into_iter().filter_map(permission).collect()
    }

    /// The open questions of this session, oldest first, including the question
    /// of trust.
    pub fn questions(&self) -> Vec<Ask> {
        let question = |request| match request {
            PersonRequest::Question(ask) | PersonRequest::Trust(ask) => {
                Some(Arc::unwrap_or_clone(ask))
            }
            PersonRequest::Permission(_) => None,
        };
        self.list().into_iter().filter_map(question).collect()
    }

    /// The open question of this session's handle.
    pub(crate) fn answering(&self, handle: &HandleId) -> Option<String> {
        let asked = |request: &PersonRequest| match request {
            PersonRequest::Question(ask) => ask.handle.as_ref() == Some(handle),
            PersonRequest::Permission(_) | PersonRequest::Trust(_) => false,
        };
        self.find(asked)
    }

    /// The open request for the permission of this session's call.
    pub(crate) fn permitting(&self, call: &str) -> Option<String> {
        let asked = |request: &PersonRequest| match request {
            PersonRequest::Permission(request) => {
                let of = request.tool.as_ref();
                of.is_some_and(|of| of.call_id == call)
            }
            PersonRequest::Question(_) | PersonRequest::Trust(_) => false,
        };
        self.find(asked)
    }

    fn find(&self, wanted: impl Fn(&PersonRequest) -> bool) -> Option<String> {
        let state = self.table.0.lock();
        let mut own = state
            .open
            .values()
            .filter(|open| open.session == self.session);
        let open = own.find(|open| wanted(&open.request))?;
        Some(open.request.id().to_owned())
    }

    /// Assigns the requests of a call to the handle as which it continues, with
    /// the same ids. Watchers get them again.
    pub(crate) fn hand_over(&self, call: &str, handle: &HandleId) {
        let mut state = self.table.0.lock();
        let TableState { open, watchers, .. } = &mut *state;
        for open in open.values_mut() {
            if open.session == self.session && open.request.hand_over(call, handle) {
                if let PersonRequest::Question(ask) = &open.request {
                    let asked = SessionEvent::QuestionAsked(Arc::clone(ask));
                    open.journal.append(asked);
                }
                self.table.show(watchers, open);
            }
        }
    }

    /// Assigns the permission request of a call to a repetition of that call.
    /// Watchers get it again.
    pub(crate) fn pass_to(&self, from: &str, to: &str) {
        let mut state = self.table.0.lock();
        let TableState { open, watchers, .. } = &mut *state;
        for open in open.values_mut() {
            if let PersonRequest::Permission(request) = &mut open.request
                && open.session == self.session
                && request.tool.as_ref().is_some_and(|of| of.call_id == from)
            {
                if let Some(of) = &mut Arc::make_mut(request).tool {
                    to.clone_into(&mut of.call_id);
                }
                self.table.show(watchers, open);
            }
        }
    }

    /// The number of open requests of this session.
    pub fn len(&self) -> usize {
        let state = self.table.0.lock();
        let open = state.open.values();
        open.filter(|open| open.session == self.session).count()
    }

    /// Nothing of this session waits for a person.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the request is open in this session, or was open in it or in one
    /// that shares its requests. Only the newest 1024 are remembered.
    pub fn knows(&self, id: &str) -> bool {
        let state = self.table.0.lock();
        match state.open.get(id) {
            Some(open) => open.session == self.session,
            None => state.opened.iter().any(|opened| opened == id),
        }
    }

    /// Watches all requests that are open or will be opened, of this session
    /// and of the agents that work for it.
    pub fn watch(&self) -> RequestWatch {
        let (sender, receiver) = mpsc::unbounded_channel();
        let mut state = self.table.0.lock();
        let mut watcher = vec![(self.session.clone(), sender)];
        for open in state.open.values() {
            self.table.show(&mut watcher, open);
        }
        state.watchers.append(&mut watcher);
        RequestWatch {
            receiver,
            closing: self.closing.clone(),
        }
    }

    /// Whether anybody will reply.
    pub fn attendance(&self) -> Attendance {
        self.table.0.lock().attendance
    }

    /// A person will reply.
    pub fn is_attended(&self) -> bool {
        self.attendance() == Attendance::Attended
    }

    /// Sets whether anyone replies, to this session and to those that share its
    /// requests. If nobody does, open requests are given up.
    pub fn set_attendance(&self, attendance: Attendance) {
        let mut state = self.table.0.lock();
        state.attendance = attendance;
        if attendance == Attendance::Unattended {
            for (_, open) in state.open.drain(..) {
                open.give_up();
            }
        }
    }

    /// Replies to a permission request. A rejection also rejects all other open
    /// permission requests of the session. Edited arguments that the tool does
    /// not accept leave the request open.
    pub fn reply(&self, id: &PermissionId, answer: PermissionAnswer) -> Result<(), ReplyError> {
        self.table.reply(id.as_str(), answer)
    }

    /// Answers a question. An answer that does not fit leaves it open.
    pub fn answer(&self, ask: &str, value: Value) -> Result<(), ReplyError> {
        self.table.answer(ask, value)
    }

    /// Declines to answer a question: its tool is ended with the reason as its
    /// error.
    pub fn decline(&self, ask: &str, why: String) -> Result<(), ReplyError> {
        if self.table.close_question(ask, Answered::Declined(why)) {
            Ok(())
        } else {
            Err(ReplyError::NoQuestion(ask.to_owned()))
        }
    }

    /// Opens a request for permission. Dropping the ticket withdraws it.
    pub(crate) fn open_permission(
        &self,
        mut request: PermissionRequest,
        terms: Terms,
    ) -> Ticket<PermissionOutcome> {
        // An agent of an agent is named by the one that the user knows.
        if let Some(agent) = self.agents.first() {
            request.metadata.insert("agent".to_owned(), json!(agent));
        }
        let rendering = RequestRendering::of_permission(&request);
        request
            .metadata
            .insert("rendering".to_owned(), json!(rendering));
        let (sender, outcome) = oneshot::channel();
        let request = PersonRequest::Permission(Arc::new(request));
        Ticket {
            table: Arc::clone(&self.table),
            id: self.open(request, Asker::Permission { terms, sender }),
            outcome,
        }
    }

    /// Opens a question. Dropping the ticket withdraws it.
    pub(crate) fn open_question(&self, mut ask: Ask) -> Ticket<Answered> {
        for agent in self.agents.iter().rev() {
            let mut told = format!("Agent `{agent}`, tool `{}`:", ask.tool);
            if let Some(pre_amble) = &ask.question.pre_amble {
                told.push('\n');
                told.push_str(pre_amble);
            }
            ask.question.pre_amble = Some(told);
        }
        ask.rendering = Some(Box::new(RequestRendering::of_question(&ask)));
        let (sender, outcome) = oneshot::channel();
        let request = PersonRequest::Question(Arc::new(ask));
        Ticket {
            table: Arc::clone(&self.table),
            id: self.open(request, Asker::Question(sender)),
            outcome,
        }
    }

    /// Asks whether the project is trusted. The answer goes to `taker`, which
    /// gets nothing if nobody answers.
    pub fn open_trust(&self, question: Question, taker: mpsc::UnboundedSender<bool>) {
        let mut ask = Ask {
            ask: format!("tru_{}", new_ulid()),
            call: None,
            handle: None,
            tool: "windlass".to_owned(),
            question,
            content: None,
            form: None,
            rendering: None,
        };
        ask.rendering = Some(Box::new(RequestRendering::of_question(&ask)));
        self.open(PersonRequest::Trust(Arc::new(ask)), Asker::Trust(taker));
    }

    /// Withdraws the request of this session to trust the project, if it is
    /// open.
    pub fn withdraw_trust(&self) {
        let mut state = self.table.0.lock();
        let asked = state.open.extract_if(.., |_, open| {
            open.session == self.session && matches!(open.request, PersonRequest::Trust(_))
        });
        for (_, open) in asked {
            open.close(&DecisionRecord::new(Decider::Withdrawn, None));
        }
    }

    /// Opens a request: journals it, and shows it to the watchers. Returns its
    /// id.
    fn open(&self, request: PersonRequest, asker: Asker) -> String {
        let (id, event) = match &request {
            PersonRequest::Permission(request) => (
                request.id.to_string(),
                SessionEvent::PermissionAsked(Arc::clone(request)),
            ),
            PersonRequest::Question(ask) | PersonRequest::Trust(ask) => (
                ask.ask.clone(),
                SessionEvent::QuestionAsked(Arc::clone(ask)),
            ),
        };
        let open = RequestEntry {
            request,
            session: self.session.clone(),
            lineage: Arc::clone(&self.lineage),
            journal: Arc::clone(&self.journal),
            closed: CancellationToken::new(),
            asker,
        };
        let mut state = self.table.0.lock();
        self.table.show(&mut state.watchers, &open);
        if state.opened.len() == REMEMBERED {
            state.opened.pop_front();
        }
        state.opened.push_back(id.clone());
        state.open.insert(id.clone(), open);
        // Within the lock, so that no reply is reported before its request.
        self.journal.append(event);
        id
    }

    /// Permits all requests of this session that these rules cover.
    pub(crate) fn settle_covered(&self, rules: &[PermissionRule]) {
        let covered = |terms: &Terms| {
            let rules = Rules {
                config: &terms.tool.definition.permissions,
                floor: &terms.tool.definition.permission_floor,
                remembered: rules.into(),
            };
            let verdict = rules.judge(&terms.subject);
            !terms.editable && matches!(verdict, Some((RuleAction::Allow, _)))
        };
        let mut state = self.table.0.lock();
        state.settle(&self.session, PermissionReply::Always, covered);
    }
}

/// A stream of opened requests, oldest first.
pub struct RequestWatch {
    receiver: mpsc::UnboundedReceiver<OpenRequest>,
    closing: CancellationToken,
}

impl RequestWatch {
    /// The next request, which may have been closed meanwhile; `None` when the
    /// session has ended. Cancellation safe.
    pub async fn next(&mut self) -> Option<OpenRequest> {
        tokio::select! {
            biased;
            () = self.closing.cancelled() => None,
            open = self.receiver.recv() => open,
        }
    }
}

/// A request that was opened. Clones share it.
#[derive(Clone)]
pub struct OpenRequest {
    pub(crate) request: PersonRequest,
    pub(crate) closed: CancellationToken,
    pub(crate) table: Arc<RequestTable>,
}

impl OpenRequest {
    /// The request itself.
    pub fn request(&self) -> &PersonRequest {
        &self.request
    }

    /// Whether it is still open.
    pub fn is_open(&self) -> bool {
        !self.closed.is_cancelled()
    }

    /// Resolves when it is closed, however that came about.
    pub async fn closed(&self) {
        self.closed.cancelled().await;
    }

    /// Replies to it, if it asks for permission.
    pub fn reply(&self, answer: PermissionAnswer) -> Result<(), ReplyError> {
        self.table.reply(self.request.id(), answer)
    }

    /// Answers it, if it is a question or asks for trust. An answer that does not fit leaves it
    /// open.
    pub fn answer(&self, value: Value) -> Result<(), ReplyError> {
        self.table.answer(self.request.id(), value)
    }

    /// Declines to answer: the question's tool is ended with this as its error.
    /// Ignored if it is closed.
    pub fn decline(&self, why: String) {
        let declined = Answered::Declined(why);
        let _was_open = self.table.close_question(self.request.id(), declined);
    }

    /// Gives it up: permission is refused, and a question takes its default.
    /// Ignored if it is closed.
    pub fn give_up(&self) {
        let open = self.table.0.lock().open.shift_remove(self.request.id());
        if let Some(open) = open {
            open.give_up();
        }
    }
}

#[cfg(test)]
#[path = "pending_tests.rs"]
mod tests;
