//! One batch that runs, and what is streamed of it.
//!
//! ```text
//!  Running ──answered──▶ Answered { until } ──told up to it──▶ Over
//! ```
//!
//! The batch runs by itself, however slowly its client reads; what is streamed
//! is taken from the session's journal when there is room for it.

use std::sync::Arc;

use futures_util::{StreamExt, stream};
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};
use tonic::Status;
use ulid::Ulid;
use windlass_protocol::{
    Ask, Batch, BatchReply, HandleId, MessageId, PermissionRequest, SessionId, ToolCall,
};
use windlass_runtime::{Journal, RunOptions, Session, SessionEvent, Tail};

use super::proto::run_calls_response::Update;
use super::tools::Streamed;
use super::{proto, words};
use crate::api::Api;
use crate::metrics::Watched;

pub(super) struct RunningBatch {
    message: MessageId,
    session: SessionId,
    /// The calls of the batch, and the handles that they name.
    calls: Vec<String>,
    handles: Vec<String>,
    journal: Arc<Journal>,
    tail: Tail,
    /// The number of the last event that was looked at.
    seen: u64,
    stage: BatchStage,
    /// An event that follows the report of a gap.
    held: Option<Update>,
    /// A client that goes away has given up its calls.
    _given_up: DropGuard,
    _watched: Watched,
}

enum BatchStage {
    Running(JoinHandle<BatchReply>),
    /// Events before the reply are sent first.
    Answered {
        until: u64,
        reply: BatchReply,
    },
    Over,
}

impl RunningBatch {
    pub(super) fn begin(api: &Api, session: &Session, calls: Vec<ToolCall>) -> Self {
        let message = MessageId::from_suffix(&Ulid::generate().to_string());
        let journal = Arc::clone(session.journal());
        let seen = journal.last();
        let cancel = CancellationToken::new();
        let ids = calls.iter().map(|call| call.id.clone()).collect();
        let named = |call: &ToolCall| Some(call.arguments.get("id")?.as_str()?.to_owned());
        let handles = calls.iter().filter_map(named).collect();
        let batch = Batch {
            id: message.to_string(),
            calls,
        };
        let options = RunOptions {
            message: Some(message.clone()),
            ..RunOptions::until(&cancel)
        };
        let run = windlass_task::spawn({
            let session = session.clone();
            async move { session.run(batch, options).await }
        });
        Self {
            message,
            session: session.id().clone(),
            calls: ids,
            handles,
            tail: journal.tail(seen),
            journal,
            seen,
            stage: BatchStage::Running(run),
            held: None,
            _given_up: cancel.drop_guard(),
            _watched: Watched::new(api, Some(session.id().as_str())),
        }
    }

    pub(super) fn stream(self) -> Streamed<proto::RunCallsResponse> {
        let updates = stream::unfold(self, |mut running| async move {
            let update = running.next().await?;
            let response = update.map(|update| proto::RunCallsResponse {
                update: Some(update),
            });
            Some((response, running))
        });
        updates.boxed()
    }

    async fn next(&mut self) -> Option<Result<Update, Status>> {
        loop {
            if let Some(update) = self.held.take() {
                return Some(Ok(update));
            }
            let entry = match &mut self.stage {
                BatchStage::Over => return None,
                BatchStage::Answered { until, .. } if self.seen >= *until => {
                    return self.reply().map(Ok);
                }
                BatchStage::Answered { .. } => self.tail.next().await,
                BatchStage::Running(run) => tokio::select! {
                    biased;
                    Some(entry) = self.tail.next() => Some(entry),
                    reply = run => {
                        let Ok(reply) = reply else {
                            self.stage = BatchStage::Over;
                            return Some(Err(Status::internal("the batch broke off")));
                        };
                        let until = self.journal.last();
                        self.stage = BatchStage::Answered { until, reply };
                        continue;
                    }
                },
            };
            let Some((missed, entry)) = entry else {
                // The session has ended, and all of it has been told.
                return self.reply().map(Ok);
            };
            self.seen = entry.number;
            let update = self.of_this_batch(entry.event);
            if missed > 0 {
                self.held = update;
                return Some(Ok(Update::Missed(missed)));
            }
            if let Some(update) = update {
                return Some(Ok(update));
            }
        }
    }

    fn reply(&mut self) -> Option<Update> {
        match std::mem::replace(&mut self.stage, BatchStage::Over) {
            BatchStage::Answered { reply, .. } => {
                let reply = words::batch_reply(self.message.clone(), reply);
                Some(Update::Reply(reply))
            }
            BatchStage::Running(_) | BatchStage::Over => None,
        }
    }

    fn of_this_batch(&self, event: SessionEvent) -> Option<Update> {
        match event {
            SessionEvent::Part(part) if part.message_id == self.message => {
                Some(Update::Part(words::part((*part).clone())))
            }
            SessionEvent::PermissionAsked(request) if self.is_ours(&request) => {
                let request = words::request((*request).clone());
                Some(Update::Permission(request))
            }
            SessionEvent::QuestionAsked(ask) if self.is_asked_here(&ask) => {
                let question = words::question(&self.session, (*ask).clone());
                Some(Update::Question(question))
            }
            _ => None,
        }
    }

    /// A one-shot of the batch asks, or a handle that the batch starts.
    fn is_asked_here(&self, ask: &Ask) -> bool {
        let is_call = |call: &String| self.calls.contains(call);
        let is_handle = |handle: &HandleId| self.handles.iter().any(|id| id == handle.as_str());
        ask.call.as_ref().is_some_and(is_call) || ask.handle.as_ref().is_some_and(is_handle)
    }

    fn is_ours(&self, request: &PermissionRequest) -> bool {
        let tool = request.tool.as_ref();
        tool.is_some_and(|tool| tool.message_id == self.message)
    }
}
