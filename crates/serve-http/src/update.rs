//! Events of a session in the words of the event stream.

use windlass_protocol::{SessionId, SessionUpdate, StreamedEvent, ToolPlace};
use windlass_runtime::{Entry, SessionEvent, ToolEvent};

use crate::sessions::millis;

/// An entry of a session's journal, as it is streamed.
pub(crate) fn streamed(session: &SessionId, entry: Entry) -> StreamedEvent {
    StreamedEvent {
        session: session.clone(),
        number: entry.number,
        at: millis(entry.at),
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
