//! The reply to a call, and the attachments recorded with it.

use std::sync::Arc;

use serde_json::Value;
use windlass_protocol::{
    Attachment, CallReply, Ending, ErrorView, Exit, HandleState, HandleView, ReplyContent,
    ReplyExtras, ServerRefusal, ShownInPart,
};

use crate::catalogue::RegisteredTool;
use crate::event::Status;
use crate::handle::Handle;
use crate::job_output::Reading;
use crate::part::CallPart;
use crate::refusal::Refusal;
use crate::session::SessionInner;
use crate::show;

/// The reply to a call, before it is recorded.
pub(crate) struct CallAnswer {
    content: ReplyContent,
    is_error: bool,
    error: Option<ErrorView>,
    exit: Option<Exit>,
    /// The result as data, if the one-shot returns some.
    structured: Option<Box<Value>>,
    refused: Option<Box<ServerRefusal>>,
    /// Attachments for the record.
    attachments: Vec<Attachment>,
    /// The shown share of the output, for the record.
    digest: Option<Box<ShownInPart>>,
}

impl CallAnswer {
    /// The reply for a tool that is configured not to run.
    pub(crate) fn skipped(tool: &RegisteredTool) -> Self {
        let name = &tool.definition.name;
        Self {
            content: ReplyContent::Text(format!(
                "skipped: the configuration sets `{name}` not to \
                                                 run"
            )),
            is_error: false,
            error: None,
            exit: None,
            structured: None,
            refused: None,
            attachments: Vec::new(),
            digest: None,
        }
    }

    /// The reply of a builtin.
    pub(crate) fn builtin(session: &SessionInner, content: ReplyContent) -> Self {
        let told: &[HandleView] = match &content {
            ReplyContent::Await(reply) => &reply.completed,
            _ => &[],
        };
        let attachments = told.iter().flat_map(|view| attached(session, view));
        Self {
            attachments: attachments.collect(),
            digest: in_part(told),
            content,
            is_error: false,
            error: None,
            exit: None,
            structured: None,
            refused: None,
        }
    }

    /// The whole output of a one-shot, and its ending.
    pub(crate) fn one_shot(session: &SessionInner, handle: &Arc<Handle>, ending: Ending) -> Self {
        let Reading {
            mut text,
            log,
            digest,
            ..
        } = show::output(handle);
        let mut digest = digest.map(Box::new);
        // A tool that was ended has not done what it was called for, whatever
        // it could still report.
        let is_error = ending.result.is_err() || ending.aborted.is_some();
        let mut attachments = ending.attachments;
        attachments.extend(log.as_deref().map(Attachment::log));
        let mut beyond_message = None;
        match ending.result {
            Ok(None) => {}
            Ok(Some(result)) => {
                text = result;
                digest = None;
            }
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
        if let Some(digest) = &digest {
            let digested = digest.log.as_deref().filter(|_| log.is_none());
            attachments.extend(digested.map(Attachment::log));
            if let Some(id) = session.keep_one_shot(handle) {
                show::refer_to_lines(&mut text, &id);
            }
        }
        Self {
            digest,
            content: ReplyContent::Text(text),
            is_error,
            error: beyond_message,
            exit: ending.exit,
            structured: ending.structured,
            refused: ending.refused,
            attachments,
        }
    }

    /// The reply that shows a handle.
    pub(crate) fn view(session: &SessionInner, view: HandleView) -> Self {
        Self {
            attachments: attached(session, &view),
            digest: view.digest.clone(),
            content: ReplyContent::Handle(Box::new(view)),
            is_error: false,
            error: None,
            exit: None,
            structured: None,
            refused: None,
        }
    }
}

/// A message without its last line, if one of the preceding lines of output
/// already shows it.
fn unrepeated<'a>(message: &'a str, before: &str) -> &'a str {
    let lines = before.trim_end().lines().rev().take(LINES_BEFORE);
    let mut shorter = lines
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
        .filter_map(|line| {
            let cut = line
                .char_indices()
                .nth(LONGEST_LINE)
                .map_or(line.len(), |(at, _)| at);
            message.strip_suffix(&line[..cut])?.strip_suffix(": ")
        });
    shorter.next().unwrap_or(message)
}

/// The number of preceding lines that are compared.
const LINES_BEFORE: usize = 5;
/// The number of characters of a line that messages repeat.
const LONGEST_LINE: usize = 200;

/// The combined digest figures of the views in a reply, if some show their
/// output in part.
fn in_part(views: &[HandleView]) -> Option<Box<ShownInPart>> {
    let mut digests = views.iter().filter_map(|view| view.digest.as_deref());
    let first = digests.next()?.clone();
    Some(Box::new(digests.fold(first, |sum, digest| ShownInPart {
        shown: sum.shown + digest.shown,
        whole: sum.whole + digest.whole,
        log: None,
    })))
}

/// The attachments of a view: those of the tool with its end, and the complete
/// output if lines were left out.
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
    let log = view
        .digest
        .as_ref()
        .and_then(|digest| digest.log.as_deref());
    attachments.extend(view.log.as_deref().or(log).map(Attachment::log));
    attachments
}

/// Records the end of the call with its answer, and returns the reply.
pub(crate) fn reply(call: &CallPart<'_>, answer: Result<CallAnswer, Refusal>) -> CallReply {
    let id = call.id.to_string();
    let (reply, attachments, digest) = match answer {
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
                    is_refusal: false,
                },
            };
            (reply, answer.attachments, answer.digest)
        }
        Err(refusal) => {
            let reply = CallReply::refused(id, refusal.to_string());
            (reply, Vec::new(), None)
        }
    };
    call.ended(&reply, attachments, digest.as_deref());
    reply
}
