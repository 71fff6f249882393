//! Replies to calls, and the views of handles in them.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use windlass_protocol::{
    Attachment, Ending, ErrorView, Exit, HandleId, HandleState, HandleView, LineRange,
    ReplyContent, ReplyExtras, ShownInPart, ToolError, View,
};

use crate::catalogue::RegisteredTool;
use crate::cut;
use crate::digesting::InPart;
use crate::event::Status;
use crate::handle::Handle;
use crate::inquiry;
use crate::job_output::Reading;
use crate::session::SessionInner;
use crate::stored::{StoredResult, Views};

/// The reply to a call, before it is recorded.
pub(crate) struct CallAnswer {
    pub(crate) content: ReplyContent,
    pub(crate) is_error: bool,
    pub(crate) error: Option<ErrorView>,
    pub(crate) extras: ReplyExtras,
    /// The shown share of the output, for the record.
    pub(crate) digest: Option<Box<ShownInPart>>,
}

impl CallAnswer {
    fn new(content: ReplyContent, attachments: Vec<Attachment>) -> Self {
        Self {
            content,
            is_error: false,
            error: None,
            extras: ReplyExtras {
                attachments,
                ..ReplyExtras::default()
            },
            digest: None,
        }
    }

    /// The reply for a tool that is configured not to run.
    pub(crate) fn skipped(tool: &RegisteredTool) -> Self {
        let name = &tool.definition.name;
        let text = format!("skipped: the configuration sets `{name}` not to run");
        Self::new(ReplyContent::Text(text), Vec::new())
    }

    /// The reply of a builtin.
    pub(crate) fn builtin(session: &SessionInner, content: ReplyContent) -> Self {
        let told: &[HandleView] = match &content {
            ReplyContent::Await(reply) => &reply.completed,
            _ => &[],
        };
        let attachments = told.iter().flat_map(|view| attached(session, view));
        let attachments = attachments.collect();
        Self {
            digest: digest_of(told),
            ..Self::new(content, attachments)
        }
    }

    /// The reply that shows a handle.
    pub(crate) fn view(session: &SessionInner, view: HandleView) -> Self {
        let attachments = attached(session, &view);
        Self {
            digest: view.digest.clone(),
            ..Self::new(ReplyContent::Handle(Box::new(view)), attachments)
        }
    }

    /// The whole output of a one-shot, and its ending.
    pub(crate) fn one_shot(session: &SessionInner, handle: &Arc<Handle>, ending: Ending) -> Self {
        let reading = read(handle, View::New, View::New, &handle.status());
        let Reading {
            mut text,
            omitted_bytes,
            log,
            digest,
            ..
        } = reading;
        let log = log.filter(|_| omitted_bytes > 0);
        if let Some(log) = &log {
            refer_to(&mut text, log);
        }
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
                end_line(&mut text);
                let message = unrepeated(&error.message, &text).to_owned();
                text.push_str(&message);
                explain(&mut text, &error);
                beyond_message = ErrorView::beyond_message(&error);
            }
        }
        if let Some(log) = ending.cut.and_then(|cut| cut.log) {
            refer_to(&mut text, &log);
            attachments.push(Attachment::log(&log));
        }
        if let Some(reason) = ending.aborted {
            end_line(&mut text);
            text.push_str(&reason);
        }
        if let Some(digest) = &digest {
            let digested = digest.log.as_deref().filter(|_| log.is_none());
            attachments.extend(digested.map(Attachment::log));
            if let Some(id) = session.keep_one_shot(handle) {
                refer_to_lines(&mut text, &id);
            }
        }
        Self {
            content: ReplyContent::Text(text),
            is_error,
            error: beyond_message,
            extras: ReplyExtras {
                exit: ending.exit,
                structured: ending.structured,
                refused: ending.refused,
                attachments,
                is_refusal: false,
            },
            digest,
        }
    }
}

/// The handle's state and new output, which counts as delivered.
pub(crate) fn show(
    session: &SessionInner,
    handle: &Arc<Handle>,
    id: &HandleId,
    asked: View,
) -> HandleView {
    session.recheck_kept(handle);
    let mut told = handle.told.lock();
    let status = handle.report_status(|_| session.withdraw_notices(handle));
    // The output of a stopped handle is shown once as new; after that, and for
    // as long as it is available, it is shown whole.
    let view = if *told { View::All } else { asked };
    if let Some(stored) = handle.stored()
        && (stored.has_views() && !is_read_from_log(handle, stored, &status, asked))
    {
        *told = true;
        return stored.view(id, view);
    }
    let terminal = handle.job().and_then(|job| job.terminal());
    // Before the output is read: a prompt that is known of is in what is read.
    let awaits_input = terminal.is_some_and(|terminal| terminal.is_at_prompt());
    let reading = read(handle, asked, view, &status);
    let mut shown = HandleView::new(id.clone(), status.state());
    shown.awaiting_input = awaits_input && status.is_running();
    shown.cursor = reading.cursor.filter(|_| !status.is_stopped());
    show_omitted(&mut shown, &reading);
    shown.note = inquiry::note(session, handle, &status)
        .or_else(|| unreachable_note(handle).filter(|_| !status.is_stopped()))
        .or_else(|| handle.take_keeping_note().filter(|_| !status.is_stopped()));
    let content = Some(reading.text).filter(|text| !text.is_empty());
    match status {
        Status::Pending => {}
        Status::Running { .. } => shown.content = content,
        Status::Waiting { question, .. } => {
            shown.content = content;
            shown.question = Some(question);
        }
        Status::Stopped(ending) => {
            *told = true;
            show_ending(&mut shown, ending, content);
            session.forget_kept(handle);
        }
    }
    shown
}

/// The stored views of a stopped handle. Nothing counts as delivered.
pub(crate) fn views(handle: &Handle, id: &HandleId, ending: Ending) -> Views {
    let status = Status::Stopped(ending.clone());
    let view = |view: View| {
        let reading = read(handle, View::New, view, &status);
        let mut shown = HandleView::new(id.clone(), HandleState::Stopped);
        show_omitted(&mut shown, &reading);
        let content = Some(reading.text).filter(|text| !text.is_empty());
        show_ending(&mut shown, ending.clone(), content);
        shown
    };
    let first = view(View::New);
    let again = Some(view(View::All)).filter(|again| *again != first);
    (first, again, ending.attachments)
}

/// The handle without its output, for pending entries of `await`.
pub(crate) fn outline(session: &SessionInner, handle: &Handle, id: &HandleId) -> HandleView {
    let status = handle.report_status(|status| {
        if matches!(status, Status::Waiting { .. }) {
            session.withdraw_notices(handle);
        }
    });
    let mut shown = HandleView::new(id.clone(), status.state());
    shown.note = inquiry::note(session, handle, &status)
        .or_else(|| unreachable_note(handle).filter(|_| !status.is_stopped()));
    if let Status::Waiting { question, .. } = status {
        shown.question = Some(question);
    }
    shown
}

/// The note for a handle whose machine does not answer: the shown state is as
/// of its last answer.
fn unreachable_note(handle: &Handle) -> Option<String> {
    handle.job()?.host().unreachable()
}

/// Lines of the handle's output by number. Nothing counts as delivered.
pub(crate) fn lines(handle: &Handle, id: &HandleId, lines: LineRange) -> HandleView {
    let limit = handle.tool.definition.limits.output_limit;
    let (text, count) = match (handle.output(), handle.stored()) {
        (Some(output), _) => output.lines(lines, limit),
        (None, Some(stored)) => cut::whole_text(&stored.output()).lines(lines, limit),
        (None, None) => (String::new(), 0),
    };
    let mut shown = HandleView::new(id.clone(), handle.status().state());
    if text.is_empty() {
        shown.note = Some(format!("there are {count} complete lines"));
    } else {
        shown.digest = Some(Box::new(ShownInPart {
            shown: text.len() as u64,
            ..ShownInPart::default()
        }));
        shown.content = Some(text);
    }
    shown
}

/// Appends a line that explains how to fetch omitted lines.
pub(crate) fn refer_to_lines(text: &mut String, id: &HandleId) {
    end_line(text);
    text.push_str("[left-out lines: fetch ");
    text.push_str(id.as_str());
    text.push(']');
}

/// Appends a line that names the file with the complete text.
pub(crate) fn refer_to(text: &mut String, log: &Path) {
    end_line(text);
    text.push_str("[all of it: ");
    text.push_str(&log.to_string_lossy());
    text.push(']');
}

/// Appends the details of an error, one line each.
pub(crate) fn explain(text: &mut String, error: &ToolError) {
    if error.transient {
        end_line(text);
        text.push_str("transient: true");
    }
    for cause in &error.trace {
        end_line(text);
        text.push_str("caused by: ");
        text.push_str(&cause.trim_end().replace(['\r', '\n'], " "));
    }
}

/// Terminates the last line unless the text is empty.
pub(crate) fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

/// Whether the log of a stored handle has more than its views.
fn is_read_from_log(handle: &Handle, stored: &StoredResult, status: &Status, asked: View) -> bool {
    let is_plain = matches!(status, Status::Stopped(ending) if matches!(ending.result, Ok(None)));
    let is_excerpt = handle.tool.definition.is_digested() && asked != View::New;
    is_plain && is_excerpt && stored.logged().is_some()
}

/// Reads as much output as fits into a reply beside the tool's result. If the
/// tool has a digest, long text is read in part: as a digest, unless the caller
/// `asked` for another view than the new output.
fn read(handle: &Handle, asked: View, view: View, status: &Status) -> Reading {
    let taken = match status {
        Status::Stopped(ending) => cut::length(ending),
        Status::Waiting { question, .. } => cut::question_length(question),
        Status::Pending | Status::Running { .. } => 0,
    };
    let Some(output) = handle.output() else {
        return Reading::default();
    };
    let definition = &handle.tool.definition;
    let limit = definition.limits.output_limit.saturating_sub(taken);
    let in_part = definition.is_digested().then_some(match asked {
        View::New => InPart::Digest {
            from: definition.digest.from,
        },
        View::Screen | View::All => InPart::Excerpt,
    });
    let reading = output.read_in_part(view, in_part, limit);
    if reading.digest.is_some() {
        handle.left_out.store(true, Ordering::Release);
    }
    reading
}

/// The end of a stopped handle's result or output. Nothing counts as delivered.
pub(crate) fn last_words(handle: &Handle, limit: usize) -> String {
    let end =
        |text: &str| text[text.ceil_char_boundary(text.len().saturating_sub(limit))..].to_owned();
    let views = handle.stored().filter(|stored| stored.has_views());
    match (views, handle.status()) {
        (Some(stored), _) => end(&stored.output()),
        (
            None,
            Status::Stopped(Ending {
                result: Ok(Some(result)),
                ..
            }),
        ) => end(&result),
        (None, _) => handle
            .output()
            .map_or_else(String::new, |output| output.preview(limit)),
    }
}

/// The maximum size of the handle's result and output.
pub(crate) fn most(handle: &Handle) -> usize {
    let ending = match handle.status() {
        Status::Stopped(ending) => cut::length(&ending),
        _ => 0,
    };
    let written = match handle.stored() {
        Some(stored) if stored.has_views() => stored.output_bytes(),
        _ => handle.output().map_or(0, |output| output.written()),
    };
    let limit = handle.tool.definition.limits.output_limit;
    let written = usize::try_from(written).unwrap_or(usize::MAX);
    written.saturating_add(ending).min(limit)
}

fn show_omitted(shown: &mut HandleView, reading: &Reading) {
    if reading.omitted_bytes > 0 {
        shown.omitted_bytes = Some(reading.omitted_bytes);
        shown.log.clone_from(&reading.log);
    }
    shown.digest = reading.digest.clone().map(Box::new);
}

fn show_ending(shown: &mut HandleView, ending: Ending, content: Option<String>) {
    debug_assert_eq!(shown.state, HandleState::Stopped);
    match ending.exit {
        Some(Exit::Code(code)) => shown.exit_code = Some(code),
        Some(Exit::Signal(signal)) => shown.signal = Some(signal),
        None => {}
    }
    shown.aborted = ending.aborted;
    if let Some(cut) = ending.cut {
        *shown.omitted_bytes.get_or_insert_default() += cut.omitted_bytes;
        shown.log = shown.log.take().or(cut.log);
    }
    match ending.result {
        Ok(None) => shown.result = Some(content.unwrap_or_default()),
        Ok(Some(result)) => {
            shown.result = Some(result);
            shown.content = content;
        }
        Err(error) => {
            shown.result = Some(error.message);
            shown.content = content;
            shown.error = Some(ErrorView {
                transient: error.transient,
                trace: error.trace,
            });
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
fn digest_of(views: &[HandleView]) -> Option<Box<ShownInPart>> {
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
