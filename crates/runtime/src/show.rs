//! What the assistant reads of a handle.

use std::path::{Path, PathBuf};

use windlass_protocol::{
    Ending, ErrorView, Exit, HandleId, HandleState, HandleView, ToolError, View,
};

use crate::cut;
use crate::event::Status;
use crate::handle::Handle;
use crate::inquiry;
use crate::job_output::Reading;
use crate::session::SessionInner;
use crate::stored::Views;

/// The handle as it stands, with what is new, which is thereby told.
pub(crate) fn show(
    session: &SessionInner,
    handle: &Handle,
    id: &HandleId,
    view: View,
) -> HandleView {
    let mut told = handle.told.lock();
    let status = handle.tell(|_| session.withdraw_notices(handle));
    // What a stopped handle said is told once as news; after that, and for
    // as long as it is there, it is told whole.
    let view = if *told { View::All } else { view };
    if let Some(stored) = handle.stored() {
        *told = true;
        return stored.view(id, view);
    }
    let terminal = handle.job().and_then(|job| job.terminal());
    // Before the output is read: a prompt that is known of is in what is read.
    let awaits_input = terminal.is_some_and(|terminal| terminal.is_at_prompt());
    let reading = read(handle, view, &status);
    let mut shown = HandleView::new(id.clone(), status.state());
    shown.awaiting_input = awaits_input && status.is_running();
    shown.cursor = reading.cursor.filter(|_| !status.is_stopped());
    show_omitted(&mut shown, &reading);
    shown.note = inquiry::note(session, handle, &status);
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
        }
    }
    shown
}

/// The views that are stored of a stopped handle, which thereby is not told.
pub(crate) fn views(handle: &Handle, id: &HandleId, ending: Ending) -> Views {
    let status = Status::Stopped(ending.clone());
    let view = |view: View| {
        let reading = read(handle, view, &status);
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

/// The handle without its output, as a pending entry of `await`.
pub(crate) fn outline(session: &SessionInner, handle: &Handle, id: &HandleId) -> HandleView {
    let status = handle.tell(|status| {
        if matches!(status, Status::Waiting { .. }) {
            session.withdraw_notices(handle);
        }
    });
    let mut shown = HandleView::new(id.clone(), status.state());
    shown.note = inquiry::note(session, handle, &status);
    if let Status::Waiting { question, .. } = status {
        shown.question = Some(question);
    }
    shown
}

/// All that a one-shot that has ended said, and where the whole of it lies if
/// something was left out.
pub(crate) fn output(handle: &Handle) -> (String, Option<PathBuf>) {
    let reading = read(handle, View::New, &handle.status());
    let mut text = reading.text;
    let log = reading.log.filter(|_| reading.omitted_bytes > 0);
    if let Some(log) = &log {
        refer_to(&mut text, log);
    }
    (text, log)
}

/// Says in a line of its own which file has all of a text.
pub(crate) fn refer_to(text: &mut String, log: &Path) {
    end_line(text);
    text.push_str("[all of it: ");
    text.push_str(&log.to_string_lossy());
    text.push(']');
}

/// Adds what an error says beside its message, in lines of their own.
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

/// Ends the last line of what is not empty.
pub(crate) fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

/// Reads as much output as a reply can hold beside the tool's own result.
fn read(handle: &Handle, view: View, status: &Status) -> Reading {
    let taken = match status {
        Status::Stopped(ending) => cut::length(ending),
        Status::Waiting { question, .. } => cut::question_length(question),
        Status::Pending | Status::Running { .. } => 0,
    };
    handle.job().map_or_else(Reading::default, |job| {
        let limit = handle.tool.definition.limits.output_limit;
        job.output().read(view, limit.saturating_sub(taken))
    })
}

/// The end of a stopped handle's result or output, which thereby is not told.
pub(crate) fn last_words(handle: &Handle, limit: usize) -> String {
    let end =
        |text: &str| text[text.ceil_char_boundary(text.len().saturating_sub(limit))..].to_owned();
    match (handle.stored(), handle.status()) {
        (Some(stored), _) => end(&stored.output()),
        (
            None,
            Status::Stopped(Ending {
                result: Ok(Some(result)),
                ..
            }),
        ) => end(&result),
        (None, _) => handle
            .job()
            .map_or_else(String::new, |job| job.output().preview(limit)),
    }
}

/// How many bytes the handle's result and output take at most.
pub(crate) fn most(handle: &Handle) -> usize {
    let ending = match handle.status() {
        Status::Stopped(ending) => cut::length(&ending),
        _ => 0,
    };
    let written = match handle.stored() {
        Some(stored) => stored.output_bytes(),
        None => handle.job().map_or(0, |job| job.output().written()),
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
