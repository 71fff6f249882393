//! What a turn has to show, on its way to whoever shows it.

use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use windlass_assistant::{Audience, Heard, ModelEvent};
use windlass_protocol::{Ask, Batch, BatchReply, Notice, PermissionRequest};
use windlass_runtime::{PermissionDecision, Person};

/// Something to show.
pub(crate) enum Show {
    /// More text.
    Text(String),
    /// More reasoning.
    Reasoning(String),
    /// A call is being written.
    Calling,
    /// The answer broke off and is asked for again.
    Again(String),
    /// What the model said is whole.
    Said,
    /// Calls are run.
    Running(Batch),
    /// They are answered.
    Answered(BatchReply),
    /// What the assistant is told.
    Told(Vec<Notice>),
    /// The turn ends: what still runs is seen to.
    Ending,
    /// May this run?
    Permit(Box<PermissionRequest>, oneshot::Sender<PermissionDecision>),
    /// A tool asks.
    Question(Box<Ask>, oneshot::Sender<Value>),
    /// Ctrl-C.
    Interrupted,
    /// There is no more to show.
    Over,
}

/// Sends what a turn has to show.
#[derive(Clone)]
pub(crate) struct Shower(pub(crate) mpsc::UnboundedSender<Show>);

impl Shower {
    pub(crate) fn show(&self, show: Show) {
        // Nobody looks any more when the turn is over.
        let _ = self.0.send(show);
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
            Heard::Ended(_) => return,
        });
    }
}

/// The person who looks.
#[async_trait]
impl Person for Shower {
    async fn permit(&self, request: &PermissionRequest) -> Option<PermissionDecision> {
        let (reply, answer) = oneshot::channel();
        self.show(Show::Permit(Box::new(request.clone()), reply));
        answer.await.ok()
    }

    async fn answer(&self, ask: &Ask) -> Option<Value> {
        let (reply, answer) = oneshot::channel();
        self.show(Show::Question(Box::new(ask.clone()), reply));
        answer.await.ok()
    }
}
