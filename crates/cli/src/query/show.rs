//! The channel from a turn to its display.

use std::collections::VecDeque;

use tokio::sync::{mpsc, oneshot};
use windlass_assistant::{Audience, Heard, ModelEvent};
use windlass_protocol::{Batch, BatchReply, HandleId, Notice};
use windlass_runtime::{HandleRef, Session};

use super::remaining::LeasedHandle;
use crate::prompt::Choice;

/// An event to display.
pub(crate) enum Show {
    /// More text.
    Text(String),
    /// More reasoning.
    Reasoning(String),
    /// A call is being written.
    Calling,
    /// The reply broke off and is requested again.
    Again(String),
    /// The model's message is complete.
    Said,
    /// Calls are run.
    Running(Batch),
    /// They are answered.
    Answered(BatchReply),
    /// Notices for the assistant.
    Told(Vec<Notice>),
    /// The turn ends, and running handles are treated.
    Ending,
    /// The inquiry about these handles failed, and they were ended.
    InquiryFailed(Vec<HandleId>),
    /// These handles were ended.
    Ended(Vec<HandleId>),
    /// These handles outlive the session.
    Kept(Vec<LeasedHandle>),
    /// A turn begins.
    Begins,
    /// The turn is over, and the next message is waited for.
    Idle,
    /// Lines to show as they are.
    Lines(Vec<String>),
    /// Another session is shown from now on.
    Switched(Box<Session>),
    /// The terminal of a handle is shown until the person leaves it.
    Attach(Box<HandleRef>),
    /// Ctrl-C, with a channel for the person's choice.
    Interrupted(oneshot::Sender<Choice>),
    /// The end of the display.
    Over,
}

/// Sends events to the display.
#[derive(Clone)]
pub(crate) struct Shower(mpsc::UnboundedSender<Show>);

impl Shower {
    pub(crate) fn show(&self, show: Show) {
        // Fails only after the display has ended.
        let _ = self.0.send(show);
    }
}

/// Events to display, in order, with access to urgent ones.
pub(crate) struct Shows {
    receiver: mpsc::UnboundedReceiver<Show>,
    /// Events that arrived while only urgent ones were requested.
    kept: VecDeque<Show>,
}

/// An event that removes any prompt.
pub(crate) enum Urgent {
    Interrupted(oneshot::Sender<Choice>),
    Over,
}

/// Both ends.
pub(crate) fn channel() -> (Shower, Shows) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let shows = Shows {
        receiver,
        kept: VecDeque::new(),
    };
    (Shower(sender), shows)
}

impl Shows {
    /// The next event; `None` at the end. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Option<Show> {
        let show = match self.kept.pop_front() {
            Some(show) => Some(show),
            None => self.receiver.recv().await,
        };
        show.filter(|show| !matches!(show, Show::Over))
    }

    /// The next event, if it has arrived and is not the end.
    pub(crate) fn ready(&mut self) -> Option<Show> {
        if self.kept.is_empty() {
            self.kept.extend(self.receiver.try_recv().ok());
        }
        match self.kept.front() {
            Some(Show::Over) | None => None,
            Some(_) => self.kept.pop_front(),
        }
    }

    /// The next urgent event. Earlier events are kept.
    pub(crate) async fn urgent(&mut self) -> Urgent {
        loop {
            match self.receiver.recv().await {
                Some(Show::Interrupted(reply)) => return Urgent::Interrupted(reply),
                Some(Show::Over) | None => {
                    self.kept.push_back(Show::Over);
                    return Urgent::Over;
                }
                Some(show) => self.kept.push_back(show),
            }
        }
    }
}

impl Audience for Shower {
    fn hear(&self, heard: Heard<'_>) {
        self.show(match heard {
            Heard::Model(event) => match event {
                ModelEvent::Text(text) => Show::Text(text.clone()),
                ModelEvent::Reasoning(text) => Show::Reasoning(text.clone()),
                ModelEvent::Calling { .. } => Show::Calling,
                ModelEvent::Again { why } => Show::Again(why.clone()),
                _ => return,
            },
            Heard::Said(_) => Show::Said,
            Heard::Running(batch) => Show::Running(batch.clone()),
            Heard::Answered(reply) => Show::Answered(reply.clone()),
            Heard::Told(notices) => Show::Told(notices.to_vec()),
            Heard::Ending => Show::Ending,
            Heard::Ended(report) => {
                if !report.undecided.is_empty() {
                    self.show(Show::InquiryFailed(report.undecided.clone()));
                }
                if report.ended.is_empty() {
                    return;
                }
                Show::Ended(report.ended.clone())
            }
        });
    }
}
