//! Views of a handle for the assistant.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use windlass_protocol::{
    Ending, ErrorView, Exit, HandleId, HandleState, HandleView, LineRange, ShownInPart, ToolError,
    View,
};

use crate::cut;
use crate::digesting::InPart;
use crate::event::Status;
use crate::handle::Handle;
use crate::inquiry;
use crate::job_output::Reading;
use crate::session::SessionInner;
use crate::stored::{StoredResult, Views};

/// The handle's state and new output, which counts as delivered.
pub(crate) fn show(
    session: &SessionInner,
    handle: &Arc<Handle>,
    id: &HandleId,
    view: View,
) -> HandleView {
    session.recheck_kept(handle);
    let mut told = handle.told.lock();
    let status = handle.tell(|_| session.withdraw_notices(handle));
    // The output of a stopped handle is shown once as new; after that, and for
    // as long as it is available, it is shown whole.
    let in_part = in_part(handle, view);
    let view = if *told { View::All } else { view };
    if let Some(stored) = handle.stored()
        && (stored.has_views() && !is_read_from_log(stored, &status, in_part))
    {
        *told = true;
        return stored.view(id, view);
    }
    let terminal = handle.job().and_then(|job| job.terminal());
    // Before the output is read: a prompt that is known of is in what is read.
    let awaits_input = terminal.is_some_and(|terminal| terminal.is_at_prompt());
    let reading = read(handle, view, in_part, &status);
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
    let in_part = in_part(handle, View::New);
    let view = |view: View| {
        let reading = read(handle, view, in_part, &status);
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
    let status = handle.tell(|status| {
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

/// The complete output of an ended one-shot.
pub(crate) fn output(handle: &Handle) -> Reading {
    let in_part = in_part(handle, View::New);
    let mut reading = read(handle, View::New, in_part, &handle.status());
    reading.log = reading.log.filter(|_| reading.omitted_bytes > 0);
    if let Some(log) = &reading.log {
        refer_to(&mut reading.text, log);
    }
    reading
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

/// How a long text of the handle is shown, if its tool has a digest. An
/// explicitly requested view is not digested.
fn in_part(handle: &Handle, asked: View) -> Option<InPart> {
    let definition = &handle.tool.definition;
    let from = definition.digest.from;
    definition.is_digested().then_some(match asked {
        View::New => InPart::Digest { from },
        View::Screen | View::All => InPart::Excerpt,
    })
}

/// Whether the log of a stored handle has more than its views.
fn is_read_from_log(stored: &StoredResult, status: &Status, in_part: Option<InPart>) -> bool {
    let is_plain = matches!(status, Status::Stopped(ending) if matches!(ending.result, Ok(None)));
    is_plain && stored.logged().is_some() && in_part == Some(InPart::Excerpt)
}

/// Reads as much output as fits into a reply beside the tool's result.
fn read(handle: &Handle, view: View, in_part: Option<InPart>, status: &Status) -> Reading {
    let taken = match status {
        Status::Stopped(ending) => cut::length(ending),
        Status::Waiting { question, .. } => cut::question_length(question),
        Status::Pending | Status::Running { .. } => 0,
    };
    let Some(output) = handle.output() else {
        return Reading::default();
    };
    let limit = handle.tool.definition.limits.output_limit;
    let limit = limit.saturating_sub(taken);
    let reading = in_part.and_then(|in_part| output.read_in_part(view, in_part, limit));
    let reading = reading.unwrap_or_else(|| output.read(view, limit));
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
