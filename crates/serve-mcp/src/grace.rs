//! Waits for a handle that does not exist yet.
//!
//! A client sends the calls of one model reply as separate requests, so an
//! `await` may overtake the spawn before it. An unknown id is therefore waited
//! for briefly before it is an error.

use std::time::Duration;

use serde_json::Value;
use windlass_protocol::{Arguments, HandleAction, HandleState};
use windlass_runtime::{Await, Session, SessionEvent};

/// The longest time to wait for an unknown id.
const GRACE: Duration = Duration::from_millis(500);

/// The handles that a call with this action refers to.
pub(crate) fn expected(
    tool: &str,
    action: Option<HandleAction>,
    arguments: &Arguments,
) -> Vec<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    if tool == Await::NAME {
        let listed = |key: &str| arguments.get(key).and_then(Value::as_array);
        let plain = ["any", "all"].into_iter().filter_map(listed).flatten();
        let conditions = listed("until").into_iter().flatten();
        let conditions = conditions.filter_map(|condition| condition.get("id"));
        return plain.chain(conditions).filter_map(text).collect();
    }
    match action {
        None | Some(HandleAction::Spawn) => Vec::new(),
        Some(_) => arguments.get("id").and_then(text).into_iter().collect(),
    }
}

/// Resolves when all of them exist and have started, or after the time limit.
pub(crate) async fn appear(session: &Session, ids: &[String]) {
    if ids.is_empty() || are_there(session, ids) {
        return;
    }
    let journal = session.journal();
    let mut tail = journal.tail(journal.last());
    let appeared = async {
        // Looked at again, since something may have happened before the tail
        // was taken.
        while !are_there(session, ids) {
            loop {
                match tail.next().await {
                    None => return,
                    Some((_, entry)) if matches!(entry.event, SessionEvent::Tool { .. }) => break,
                    Some(_) => {}
                }
            }
        }
    };
    // Whatever is not there by then is refused with the ids that are.
    let _ = tokio::time::timeout(GRACE, appeared).await;
}

fn are_there(session: &Session, ids: &[String]) -> bool {
    let handles = session.handles();
    ids.iter().all(|id| {
        handles
            .iter()
            .any(|handle| handle.id.as_str() == id && handle.state != HandleState::Pending)
    })
}
