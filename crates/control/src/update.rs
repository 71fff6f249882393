//! Converts events of a session to the event stream's format.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use windlass_protocol::{
    Decider, DecisionRecord, Ending, Millis, PermissionReply, SessionId, SessionUpdate,
    StreamedEvent, ToolError, ToolPlace,
};
use windlass_runtime::{Entry, SessionEvent, ToolEvent};

/// An entry of a session's journal, as it is streamed.
pub fn streamed(session: &SessionId, entry: Entry) -> StreamedEvent {
    StreamedEvent {
        session: session.clone(),
        number: entry.number,
        at: Millis::at(entry.at),
        update: update(entry.event),
    }
}

fn update(event: SessionEvent) -> SessionUpdate {
    match event {
        SessionEvent::Called {
            call,
            tool,
            action,
            handle,
        } => SessionUpdate::Called {
            call: call.to_string(),
            tool: tool.to_string(),
            action,
            handle,
        },
        SessionEvent::Replied { call, is_error } => SessionUpdate::Replied {
            call: call.to_string(),
            is_error,
        },
        SessionEvent::Part(part) => SessionUpdate::Part {
            part: Box::new((*part).clone()),
        },
        SessionEvent::Tool {
            number,
            handle,
            one_shot,
            at,
            event,
        } => {
            let place = ToolPlace {
                tool_number: number,
                handle,
                one_shot,
                offset: at,
            };
            of_tool(place, event)
        }
        SessionEvent::PermissionAsked(request) => SessionUpdate::Permission {
            request: (*request).clone(),
        },
        SessionEvent::PermissionReplied { id, decision } => SessionUpdate::PermissionReplied {
            permission: id,
            reply: decision.reply,
        },
        SessionEvent::PermissionDecided { request, decision } => SessionUpdate::PermissionDecided {
            request: (*request).clone(),
            reply: decision.reply,
        },
        SessionEvent::QuestionAsked(ask) => SessionUpdate::Question((*ask).clone()),
        SessionEvent::QuestionClosed { ask } => SessionUpdate::QuestionClosed { ask },
        SessionEvent::Noticed(notice) => SessionUpdate::Noticed { notice },
        SessionEvent::Delivered { notices } => SessionUpdate::Delivered { notices },
        SessionEvent::Locked { handle } => SessionUpdate::Locked { handle },
        SessionEvent::Unlocked { handle } => SessionUpdate::Unlocked { handle },
        SessionEvent::TurnEnded => SessionUpdate::TurnEnded,
        SessionEvent::Closed => SessionUpdate::Closed,
    }
}

fn of_tool(tool: ToolPlace, event: ToolEvent) -> SessionUpdate {
    match event {
        ToolEvent::Started => SessionUpdate::Started(tool),
        ToolEvent::Wrote { bytes } => SessionUpdate::Wrote { tool, bytes },
        ToolEvent::Asked { question, .. } => SessionUpdate::Asked { tool, question },
        ToolEvent::Answered => SessionUpdate::Answered(tool),
        ToolEvent::Aborting { reason } => SessionUpdate::Aborting { tool, reason },
        ToolEvent::Ended(ending) => SessionUpdate::Stopped {
            tool,
            failed: ending.result.is_err(),
            message: ending.result.err().map(|error| error.message),
        },
    }
}

/// The entry of an event that was streamed. Details that are not streamed are
/// lost.
pub(crate) fn entry(streamed: StreamedEvent) -> Entry {
    Entry {
        number: streamed.number,
        at: SystemTime::UNIX_EPOCH + Duration::from_millis(streamed.at.0),
        event: event(streamed.update),
    }
}

fn event(update: SessionUpdate) -> SessionEvent {
    let decision = |reply: Option<PermissionReply>| {
        let decider = match reply {
            Some(_) => Decider::Person,
            None => Decider::Withdrawn,
        };
        Arc::new(DecisionRecord::new(decider, reply))
    };
    match update {
        SessionUpdate::Called {
            call,
            tool,
            action,
            handle,
        } => SessionEvent::Called {
            call: call.into(),
            tool: tool.into(),
            action,
            handle,
        },
        SessionUpdate::Replied { call, is_error } => SessionEvent::Replied {
            call: call.into(),
            is_error,
        },
        SessionUpdate::Part { part } => SessionEvent::Part(Arc::from(part)),
        SessionUpdate::Started(tool) => tool_event(tool, ToolEvent::Started),
        SessionUpdate::Wrote { tool, bytes } => tool_event(tool, ToolEvent::Wrote { bytes }),
        SessionUpdate::Asked { tool, question } => tool_event(tool, ToolEvent::asked(question)),
        SessionUpdate::Answered(tool) => tool_event(tool, ToolEvent::Answered),
        SessionUpdate::Aborting { tool, reason } => {
            tool_event(tool, ToolEvent::Aborting { reason })
        }
        SessionUpdate::Stopped {
            tool,
            failed,
            message,
        } => {
            let result = if failed {
                Err(ToolError::new(message.unwrap_or_default()))
            } else {
                Ok(None)
            };
            tool_event(tool, ToolEvent::Ended(Ending::with(result)))
        }
        SessionUpdate::Permission { request } => SessionEvent::PermissionAsked(Arc::new(request)),
        SessionUpdate::PermissionReplied { permission, reply } => SessionEvent::PermissionReplied {
            id: permission,
            decision: decision(reply),
        },
        SessionUpdate::PermissionDecided { request, reply } => SessionEvent::PermissionDecided {
            request: Arc::new(request),
            decision: decision(reply),
        },
        SessionUpdate::Question(ask) => SessionEvent::QuestionAsked(Arc::new(ask)),
        SessionUpdate::QuestionClosed { ask } => SessionEvent::QuestionClosed { ask },
        SessionUpdate::Noticed { notice } => SessionEvent::Noticed(notice),
        SessionUpdate::Delivered { notices } => SessionEvent::Delivered { notices },
        SessionUpdate::Locked { handle } => SessionEvent::Locked { handle },
        SessionUpdate::Unlocked { handle } => SessionEvent::Unlocked { handle },
        SessionUpdate::TurnEnded => SessionEvent::TurnEnded,
        SessionUpdate::Closed => SessionEvent::Closed,
    }
}

fn tool_event(tool: ToolPlace, event: ToolEvent) -> SessionEvent {
    SessionEvent::Tool {
        number: tool.tool_number,
        handle: tool.handle,
        one_shot: tool.one_shot,
        at: tool.offset,
        event,
    }
}
