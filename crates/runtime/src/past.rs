//! The events of a session from before this runtime took it over.
//!
//! Start at [`PastEvents`]: a store of events returns them with
//! [`SessionOptions::past`](crate::SessionOptions::past). Numbers continue, so
//! that readers miss nothing and read nothing twice. [`Session::recall`] then
//! settles the [loose ends](LooseEnd): everything that was open when the last
//! runtime died either continues or is closed.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use windlass_protocol::{
    Decider, DecisionRecord, Ending, HandleId, Millis, NoticeKind, PartId, PartState, PermissionId,
    Question, ToolEvent,
};

use crate::handle::Handle;
use crate::journal::{Entry, SessionEvent};
use crate::session::{Session, SessionInner};

/// The time limit for a tool to repeat its open question.
const ASKS_AGAIN: Duration = Duration::from_secs(5);

/// Open items, with the events that opened them, oldest first.
pub(crate) type LooseEnds = IndexMap<LooseEnd, Entry>;

/// An item that an event opens and a later event closes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum LooseEnd {
    /// A call without a reply.
    Call(Arc<str>),
    /// A part of the record that is not final.
    Part(PartId),
    /// A tool that has not ended, by its number.
    Tool(u64),
    /// A request for permission.
    Permission(PermissionId),
    /// A question, by the id of its asking.
    Question(String),
    /// A notice that has not been delivered, by its number in the journal.
    Notice(u64),
    /// A handle that a person has taken over.
    Lock(HandleId),
}

impl LooseEnd {
    /// The thing that the event opens, if it opens one.
    pub fn opened_by(entry: &Entry) -> Option<Self> {
        Some(match &entry.event {
            SessionEvent::Called { call, .. } => Self::Call(Arc::clone(call)),
            SessionEvent::Part(part) if !is_final(&part.state) => Self::Part(part.id.clone()),
            SessionEvent::Tool { number, event, .. } if *event == ToolEvent::Started => {
                Self::Tool(*number)
            }
            SessionEvent::PermissionAsked(request) => Self::Permission(request.id.clone()),
            SessionEvent::QuestionAsked(ask) => Self::Question(ask.ask.clone()),
            SessionEvent::Noticed(_) => Self::Notice(entry.number),
            SessionEvent::Locked { handle, .. } => Self::Lock(handle.clone()),
            _ => return None,
        })
    }

    /// The things that the event closes.
    pub fn closed_by(event: &SessionEvent) -> Vec<Self> {
        match event {
            SessionEvent::Replied { call, .. } => vec![Self::Call(Arc::clone(call))],
            SessionEvent::Part(part) if is_final(&part.state) => vec![Self::Part(part.id.clone())],
            SessionEvent::Tool {
                number,
                event: ToolEvent::Ended(_),
                ..
            } => vec![Self::Tool(*number)],
            SessionEvent::PermissionReplied { id, .. } => vec![Self::Permission(id.clone())],
            SessionEvent::QuestionClosed { ask } => vec![Self::Question(ask.clone())],
            SessionEvent::Delivered { notices } => {
                notices.iter().copied().map(Self::Notice).collect()
            }
            SessionEvent::Unlocked { handle } => vec![Self::Lock(handle.clone())],
            _ => Vec::new(),
        }
    }
}

fn is_final(state: &PartState) -> bool {
    match state {
        PartState::Pending(_) | PartState::Running(_) => false,
        PartState::Completed(_) | PartState::Error(_) => true,
    }
}

/// The events of a session from before a runtime takes it over. Empty for a new
/// session.
#[derive(Debug, Clone, Default)]
pub struct PastEvents {
    /// The newest, with consecutive numbers.
    newest: VecDeque<Entry>,
    loose_ends: LooseEnds,
    last: u64,
    tools: u64,
}

impl PastEvents {
    /// A session with unknown events, of which this is the highest possible
    /// number.
    pub fn lost_until(last: u64) -> Self {
        Self {
            last,
            ..Self::default()
        }
    }

    /// Adds the next event. Before the newest ones, events that opened a loose
    /// end may be given alone.
    pub fn add(&mut self, entry: Entry) {
        if entry.number <= self.last {
            return;
        }
        if entry.number != self.last + 1 {
            self.newest.clear();
        }
        self.last = entry.number;
        if let SessionEvent::Tool { number, .. } = &entry.event {
            self.tools = self.tools.max(*number);
        }
        for closed in LooseEnd::closed_by(&entry.event) {
            self.loose_ends.shift_remove(&closed);
        }
        if let Some(opened) = LooseEnd::opened_by(&entry) {
            self.loose_ends.insert(opened, entry.clone());
        }
        self.newest.push_back(entry);
    }

    /// The number of the newest event, 0 if there is none.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// The newest events, with consecutive numbers.
    pub fn newest(&self) -> impl Iterator<Item = &Entry> {
        self.newest.iter()
    }

    /// All open items.
    pub fn loose_ends(&self) -> impl Iterator<Item = &LooseEnd> {
        self.loose_ends.keys()
    }

    /// The highest tool number.
    pub(crate) fn tools(&self) -> u64 {
        self.tools
    }

    pub(crate) fn into_parts(self) -> (VecDeque<Entry>, LooseEnds) {
        (self.newest, self.loose_ends)
    }
}

impl Session {
    /// Settles everything that was open when the session's last runtime died,
    /// after the running handles were adopted. Undelivered notices are queued
    /// again, and questions stay open for tools that repeat them. The rest is
    /// closed.
    pub fn recall(&self) {
        let is_question = |end: &LooseEnd| matches!(end, LooseEnd::Question(_));
        let (asks, ends) = {
            let mut all = self.inner.loose_ends.lock();
            let ends: Vec<_> = all.extract_if(.., |end, _| !is_question(end)).collect();
            // These stay, for tools that ask again.
            (all.clone(), ends)
        };
        for (end, entry) in ends {
            self.settle_loose_end(end, entry);
        }
        for (end, entry) in asks {
            self.await_question(end, &entry);
        }
    }

    fn settle_loose_end(&self, end: LooseEnd, entry: Entry) {
        let inner = &self.inner;
        match (end, entry.event) {
            (LooseEnd::Call(call), _) => {
                inner.journal.append(SessionEvent::Replied {
                    call,
                    is_error: true,
                });
            }
            (LooseEnd::Part(_), SessionEvent::Part(part)) => {
                let part = Arc::unwrap_or_clone(part).interrupted(Millis::at(entry.at));
                inner.journal.append(SessionEvent::Part(Arc::new(part)));
            }
            (
                LooseEnd::Tool(number),
                SessionEvent::Tool {
                    handle, one_shot, ..
                },
            ) => {
                let adopted = handle
                    .as_ref()
                    .and_then(|id| inner.lookup(id.as_str()).ok());
                if adopted.is_none_or(|adopted| adopted.number != number) {
                    inner.journal.append(SessionEvent::Tool {
                        number,
                        handle,
                        one_shot,
                        at: 0,
                        event: ToolEvent::Ended(Ending::failed("it ended with its runtime")),
                    });
                }
            }
            (LooseEnd::Permission(id), _) => {
                let decision = Arc::new(DecisionRecord::new(Decider::Withdrawn, None));
                inner
                    .journal
                    .append(SessionEvent::PermissionReplied { id, decision });
            }
            // Its successor already knows the status of each kept handle.
            (LooseEnd::Notice(number), SessionEvent::Noticed(notice))
                if notice.kind == NoticeKind::Kept =>
            {
                inner.tell_delivered(vec![number]);
            }
            (LooseEnd::Notice(number), SessionEvent::Noticed(notice)) => {
                let handle = notice.handle.as_ref();
                let handle = handle.and_then(|id| inner.lookup(id.as_str()).ok());
                let handle = handle.map_or(0, |handle| handle.number);
                inner.notices.lock().add(handle, number, notice, None);
            }
            (LooseEnd::Lock(handle), _) => {
                // A handle that was adopted with its lock is still locked.
                let adopted = inner.lookup(handle.as_str());
                if !adopted.is_ok_and(|adopted| adopted.is_locked()) {
                    inner.journal.append(SessionEvent::Unlocked { handle });
                }
            }
            _ => unreachable!("a loose end is listed with the event that opened it"),
        }
    }

    /// Keeps a question open until its tool has had time to repeat it, under
    /// the same id.
    fn await_question(&self, end: LooseEnd, entry: &Entry) {
        let SessionEvent::QuestionAsked(ask) = &entry.event else {
            unreachable!("a question is listed with the event that asked it");
        };
        let handle = ask.handle.as_ref();
        let handle = handle.and_then(|id| self.inner.lookup(id.as_str()).ok());
        let job = handle.and_then(|handle: Arc<Handle>| handle.job().cloned());
        let Some(job) = job else {
            return self.inner.close_past_ask(&end);
        };
        let session = Arc::downgrade(&self.inner);
        let closing = self.inner.closing.clone();
        windlass_task::spawn_tracked(&self.inner.tasks, async move {
            closing.run_until_cancelled(job.settle(ASKS_AGAIN)).await;
            if let Some(session) = session.upgrade() {
                session.close_past_ask(&end);
            }
        });
    }
}

impl SessionInner {
    /// Closes the question, unless it was repeated.
    fn close_past_ask(&self, end: &LooseEnd) {
        let removed = self.loose_ends.lock().shift_remove_entry(end);
        if let Some((LooseEnd::Question(ask), _)) = removed {
            self.journal.append(SessionEvent::QuestionClosed { ask });
        }
    }

    /// The id under which the handle asked this question before, if it was not
    /// answered. Returned once.
    pub(crate) fn past_ask(&self, handle: &HandleId, question: &Question) -> Option<String> {
        let mut ends = self.loose_ends.lock();
        let same = |entry: &Entry| match &entry.event {
            SessionEvent::QuestionAsked(ask) => {
                ask.handle.as_ref() == Some(handle)
                    && ask.question.id == question.id
                    && ask.question.text == question.text
            }
            _ => false,
        };
        let index = ends.values().position(same)?;
        match ends.shift_remove_index(index)? {
            (LooseEnd::Question(ask), _) => Some(ask),
            _ => None,
        }
    }
}
