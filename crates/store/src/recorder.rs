//! The recorder of a session.

use std::sync::Arc;

use async_trait::async_trait;
use windlass_protocol::{Millis, RecordTrouble, SessionId};
use windlass_runtime::{Entry, Recorder, SessionEvent};

use crate::store::StoreInner;
use crate::write::Write;

pub(crate) struct SessionRecorder {
    pub(crate) session: SessionId,
    pub(crate) store: Arc<StoreInner>,
}

#[async_trait]
impl Recorder for SessionRecorder {
    fn happened(&self, entry: &Entry) {
        let at = Millis::at(entry.at);
        let session = || self.session.clone();
        let write = |write| self.store.writer.write(write);
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
