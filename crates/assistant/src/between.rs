//! What may come between: the user's word, what cannot wait, and stopping
//! everything that runs.

use serde_json::json;
use tokio::sync::mpsc;
use ulid::Ulid;
use windlass_protocol::{
    Batch, BatchReply, HandleState, Notice, NoticeKind, NoticeLevel, ReplyContent, ToolCall,
};
use windlass_runtime::{RunOptions, Session, SessionEvent, Tail};

use crate::turn::Interjection;

/// The next interjection; never, when nobody can make one.
pub(crate) async fn next(interjections: &mut mpsc::Receiver<Interjection>) -> Interjection {
    match interjections.recv().await {
        Some(interjection) => interjection,
        None => std::future::pending().await,
    }
}

/// Resolves when something happened that cannot wait.
pub(crate) async fn critical(journal: &mut Tail) {
    while let Some((_, entry)) = journal.next().await {
        if let SessionEvent::Noticed(notice) = &entry.event
            && notice.level == NoticeLevel::Critical
        {
            return;
        }
    }
    std::future::pending::<()>().await;
}

/// Ends every handle, as the user wants.
pub(crate) async fn stop_handles(session: &Session) {
    let Some(reply) = abort_handles(session).await else {
        return;
    };
    // They were not for the assistant, so it is told.
    for told in reply.notices {
        session.notify(told);
    }
    session.notify(Notice {
        level: NoticeLevel::Warning,
        kind: NoticeKind::Failure,
        handle: None,
        tool: None,
        text: "the user stopped every tool that was running".to_owned(),
    });
}

/// Ends every handle that runs; `None` when there is none.
pub(crate) async fn abort_handles(session: &Session) -> Option<BatchReply> {
    let calls: Vec<ToolCall> = session
        .handles()
        .into_iter()
        .filter(|handle| handle.state != HandleState::Stopped)
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

/// How many processes the aborts of a batch have ended.
pub(crate) fn processes_ended(reply: &BatchReply) -> usize {
    let contents = reply.replies.iter().map(|reply| &reply.content);
    contents
        .filter_map(|content| match content {
            ReplyContent::Handle(view) => view.ended,
            _ => None,
        })
        .sum()
}
