//! Stops the running tools of a turn.

use std::collections::HashSet;

use serde_json::json;
use ulid::Ulid;
use windlass_protocol::{
    Batch, BatchReply, HandleId, HandleState, Notice, NoticeKind, NoticeLevel, ReplyContent,
    ToolCall,
};
use windlass_runtime::{RunOptions, Session};

/// Ends every handle that this turn has started. Handles of earlier turns
/// continue, because the conversation may still need them.
pub(crate) async fn stop_handles(session: &Session, before: &HashSet<HandleId>) {
    let is_new = |id: &HandleId| !before.contains(id);
    let Some(reply) = abort_handles(session, is_new).await else {
        return;
    };
    // They were not meant for the assistant, so it gets a notice.
    for told in reply.notices {
        session.notify(told);
    }
    session.notify(Notice {
        level: NoticeLevel::Warning,
        kind: NoticeKind::Failure,
        handle: None,
        tool: None,
        text: "the user stopped every tool that this turn has started".to_owned(),
    });
}

/// The handles that run.
pub(crate) fn running(session: &Session) -> HashSet<HandleId> {
    let handles = session.handles().into_iter();
    let running = handles.filter(|handle| handle.state != HandleState::Stopped);
    running.map(|handle| handle.id).collect()
}

/// Ends the running handles that are `wanted`; `None` if there are none.
pub(crate) async fn abort_handles(
    session: &Session,
    wanted: impl Fn(&HandleId) -> bool,
) -> Option<BatchReply> {
    let calls: Vec<ToolCall> = session
        .handles()
        .into_iter()
        .filter(|handle| handle.state != HandleState::Stopped && wanted(&handle.id))
        .map(|handle| ToolCall {
            id: format!("stop_{}", handle.id),
            tool: handle.tool,
            arguments: json!({"action": "abort", "id": handle.id})
                .as_object()
                .cloned()
                .unwrap_or_default(),
        })
        .collect();
    if calls.is_empty() {
        return None;
    }
    let batch = Batch {
        id: format!("stop_{}", Ulid::generate()),
        calls,
    };
    Some(session.run(batch, RunOptions::default()).await)
}

/// The number of processes that the aborts of a batch have ended.
pub(crate) fn processes_ended(reply: &BatchReply) -> usize {
    let contents = reply.replies.iter().map(|reply| &reply.content);
    contents
        .filter_map(|content| match content {
            ReplyContent::Handle(view) => view.ended,
            _ => None,
        })
        .sum()
}
