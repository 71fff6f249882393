//! The events of a session: numbered, in order, bounded.
//!
//! Start at [`Journal::tail`]. A reader that falls behind gets the number of
//! missed events instead of blocking the writer.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::SystemTime;

use windlass_protocol::{
    Ask, DecisionRecord, HandleAction, HandleId, Notice, PermissionId, PermissionRequest,
    ToolEvent, ToolPart,
};

use crate::feed::{Feed, More};
use crate::recorder::Recorder;
use crate::ring::RingBounds;
use crate::weight::weight;

/// An event of a session.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionEvent {
    /// A call came in.
    Called {
        /// The call.
        call: Arc<str>,
        /// Its tool.
        tool: Arc<str>,
        /// Its action, unless it is a one-shot.
        action: Option<HandleAction>,
        /// Its handle, unless it is a one-shot.
        handle: Option<HandleId>,
    },
    /// A call was answered.
    Replied {
        /// The call.
        call: Arc<str>,
        /// Whether it was refused or failed.
        is_error: bool,
    },
    /// The record of a call has changed; this is the complete new version.
    Part(Arc<ToolPart>),
    /// Something happened to a tool.
    Tool {
        /// The handle's number within the session; one-shots have one too.
        number: u64,
        /// The handle's id, unless it is a one-shot.
        handle: Option<HandleId>,
        /// The id by which a person finds it, if it is a one-shot.
        one_shot: Option<HandleId>,
        /// The number of bytes of output before the event.
        at: u64,
        /// The event.
        event: ToolEvent,
    },
    /// A person is asked for permission.
    PermissionAsked(Arc<PermissionRequest>),
    /// The request was replied to, or withdrawn when there is no reply.
    PermissionReplied {
        /// The request.
        id: PermissionId,
        /// The reply, and whose it is.
        decision: Arc<DecisionRecord>,
    },
    /// A permission was decided without asking anybody.
    PermissionDecided {
        /// The request that would have been made.
        request: Arc<PermissionRequest>,
        /// The decision.
        decision: Arc<DecisionRecord>,
    },
    /// A question was asked.
    QuestionAsked(Arc<Ask>),
    /// A question was answered, or withdrawn.
    QuestionClosed {
        /// The asking.
        ask: String,
    },
    /// A notice was queued for the assistant.
    Noticed(Notice),
    /// A person has taken a handle over.
    Locked {
        /// The handle.
        handle: HandleId,
    },
    /// A person has handed a handle back.
    Unlocked {
        /// The handle.
        handle: HandleId,
    },
    /// Notices were delivered to the assistant, or a reply has made them
    /// obsolete.
    Delivered {
        /// The numbers that the notices have in the journal.
        notices: Vec<u64>,
    },
    /// The turn ended.
    TurnEnded,
    /// The session ended; nothing follows.
    Closed,
}

/// A numbered event.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its number in the session, from 1 on.
    pub number: u64,
    /// Its time.
    pub at: SystemTime,
    /// The event.
    pub event: SessionEvent,
}

/// The maximum size of the events of one journal, about in bytes.
const WEIGHT: usize = 8 << 20;

/// The events of one session.
pub struct Journal {
    events: Feed<Entry>,
    recorders: Vec<Arc<dyn Recorder>>,
}

impl Journal {
    /// A journal that keeps the newest `capacity` events, fewer if they are
    /// large. The recorder gets every event, in the journal's order.
    pub fn new(capacity: usize, recorder: Option<Arc<dyn Recorder>>) -> Arc<Self> {
        Self::resume(capacity, recorder.into_iter().collect(), 0, [])
    }

    /// A journal that continues after event number `last`, with these earlier
    /// events. The recorders already have them.
    pub(crate) fn resume(
        capacity: usize,
        recorders: Vec<Arc<dyn Recorder>>,
        last: u64,
        past: impl IntoIterator<Item = Entry>,
    ) -> Arc<Self> {
        let events = Feed::new(RingBounds {
            items: capacity.max(1),
            weight: WEIGHT,
        });
        let weighed = past.into_iter().map(|entry| {
            let weight = weight(&entry.event);
            (entry, weight)
        });
        events.resume(last, weighed);
        Arc::new(Self { events, recorders })
    }

    /// Appends an event and wakes the readers. Returns its number, or 0 if it
    /// was rejected, as everything is after [`SessionEvent::Closed`].
    pub fn append(&self, event: SessionEvent) -> u64 {
        let more = match event {
            SessionEvent::Closed => More::Never,
            _ => More::Follows,
        };
        let mut given = 0;
        self.events.append(more, weight(&event), |number| {
            let entry = Entry {
                number,
                at: SystemTime::now(),
                event,
            };
            given = number;
            for recorder in &self.recorders {
                recorder.happened(&entry);
            }
            entry
        });
        given
    }

    /// The number of the newest event, 0 before the first.
    pub fn last(&self) -> u64 {
        self.events.last()
    }

    /// Continues after event number `last`, if that is higher: the events in
    /// between were reported elsewhere, and readers here have missed them.
    pub fn skip_to(&self, last: u64) {
        self.events.skip_to(last);
    }

    /// Reads the events after number `after`; 0 is the start.
    pub fn tail(self: &Arc<Self>, after: u64) -> Tail {
        Tail {
            journal: Arc::clone(self),
            position: after,
        }
    }
}

impl std::fmt::Debug for Journal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Journal")
            .field("last", &self.last())
            .finish_non_exhaustive()
    }
}

/// A reader of a journal.
#[derive(Debug, Clone)]
pub struct Tail {
    journal: Arc<Journal>,
    position: u64,
}

impl Tail {
    /// Waits for the next event. Returns the number of missed events with it,
    /// and `None` after the last event of a closed session. Cancellation safe.
    pub async fn next(&mut self) -> Option<(u64, Entry)> {
        let after = self.position;
        let next = poll_fn(|context| self.journal.events.poll_after(after, context)).await?;
        self.position = next.number;
        Some((next.missed, next.value))
    }
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
