//! What a call is answered with, and what the record keeps beside it.

use serde_json::Value;
use windlass_protocol::{
    Attachment, CallReply, Ending, ErrorView, Exit, HandleState, HandleView, ReplyContent,
    ReplyExtras, ServerRefusal,
};

use crate::catalogue::RegisteredTool;
use crate::event::Status;
use crate::handle::Handle;
use crate::part::CallPart;
use crate::refusal::Refusal;
use crate::session::SessionInner;
use crate::show;

/// What a call is answered with.
pub(crate) struct Answer {
    content: ReplyContent,
    is_error: bool,
    error: Option<ErrorView>,
    exit: Option<Exit>,
    /// The result as data, where a one-shot gives that.
    structured: Option<Box<Value>>,
    refused: Option<Box<ServerRefusal>>,
    /// What came with it, for the record.
    attachments: Vec<Attachment>,
}

impl Answer {
    /// For a tool that is set not to run.
    pub(crate) fn skipped(tool: &RegisteredTool) -> Self {
        let name = &tool.definition.name;
        Self {
            content: ReplyContent::Text(format!("skipped: `{name}` is set not to run")),
            is_error: false,
            error: None,
            exit: None,
            structured: None,
            refused: None,
            attachments: Vec::new(),
        }
    }

    /// What a builtin says.
    pub(crate) fn builtin(session: &SessionInner, content: ReplyContent) -> Self {
        let told: &[HandleView] = match &content {
            ReplyContent::Await(reply) => &reply.completed,
            _ => &[],
        };
        let attachments = told.iter().flat_map(|view| attached(session, view));
        Self {
            attachments: attachments.collect(),
            content,
            is_error: false,
            error: None,
            exit: None,
            structured: None,
            refused: None,
        }
    }

    /// All that a one-shot said, and how it ended.
    pub(crate) fn one_shot(handle: &Handle, ending: Ending) -> Self {
        let (mut text, log) = show::output(handle);
        // A tool that was ended has not done what it was called for, whatever
        // it could still report.
        let is_error = ending.result.is_err() || ending.aborted.is_some();
        let mut attachments = ending.attachments;
        attachments.extend(log.as_deref().map(Attachment::log));
        let mut beyond_message = None;
        match ending.result {
            Ok(None) => {}
            Ok(Some(result)) => text = result,
            Err(error) => {
                show::end_line(&mut text);
                let message = unrepeated(&error.message, &text).to_owned();
                text.push_str(&message);
                show::explain(&mut text, &error);
                beyond_message = ErrorView::beyond_message(&error);
            }
        }
        if let Some(log) = ending.cut.and_then(|cut| cut.log) {
            show::refer_to(&mut text, &log);
            attachments.push(Attachment::log(&log));
        }
        if let Some(reason) = ending.aborted {
            show::end_line(&mut text);
            text.push_str(&reason);
        }
        Self {
            content: ReplyContent::Text(text),
            is_error,
            error: beyond_message,
            exit: ending.exit,
            structured: ending.structured,
            refused: ending.refused,
            attachments,
        }
    }

    /// How a handle stands.
    pub(crate) fn view(session: &SessionInner, view: HandleView) -> Self {
        Self {
            attachments: attached(session, &view),
            content: ReplyContent::Handle(Box::new(view)),
            is_error: false,
            error: None,
            exit: None,
            structured: None,
            refused: None,
        }
    }
}

/// A message without the last line of output at its end, if that line stands
/// right before it.
fn unrepeated<'a>(message: &'a str, before: &str) -> &'a str {
    let last = before.trim_end().lines().next_back().unwrap_or_default();
    let without = message.strip_suffix(last).filter(|_| !last.is_empty());
    let without = without.and_then(|message| message.strip_suffix(": "));
    without.unwrap_or(message)
}

/// What comes with what is told of a handle: with its end what its tool gave,
/// and all of its output where something was left out.
fn attached(session: &SessionInner, view: &HandleView) -> Vec<Attachment> {
    let mut attachments = Vec::new();
    if view.state == HandleState::Stopped
        && let Ok(handle) = session.lookup(view.id.as_str())
    {
        attachments = match (handle.stored(), handle.status()) {
            (Some(stored), _) => stored.attachments(),
            (None, Status::Stopped(ending)) => ending.attachments,
            (None, _) => Vec::new(),
        };
    }
    attachments.extend(view.log.as_deref().map(Attachment::log));
    attachments
}

/// Ends the call in the record with its answer, and gives that as the reply.
pub(crate) fn reply(call: &CallPart<'_>, answer: Result<Answer, Refusal>) -> CallReply {
    let id = call.id.to_string();
    let (reply, attachments) = match answer {
        Ok(answer) => {
            let reply = CallReply {
                id,
                content: answer.content,
                is_error: answer.is_error,
                error: answer.error,
                extras: ReplyExtras {
                    exit: answer.exit,
                    structured: answer.structured,
                    refused: answer.refused,
                    attachments: answer.attachments.clone(),
                },
            };
            (reply, answer.attachments)
        }
        Err(refusal) => (CallReply::refused(id, refusal.to_string()), Vec::new()),
    };
    call.ended(&reply, attachments);
    reply
}
