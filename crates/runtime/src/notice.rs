//! What the assistant has not been told yet, each thing exactly once.
//!
//! A notice is queued when a handle changes, withdrawn when a reply tells the
//! change itself, and given out with the next reply otherwise.

use windlass_protocol::{Notice, NoticeKind, NoticeLevel};

use crate::event::Status;
use crate::handle::Handle;

/// The queue of one session.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    queue: Vec<(u64, Notice)>,
}

impl Notices {
    /// Queues a notice. One that says how a handle stands now replaces what
    /// was queued about how it stood before.
    pub(crate) fn push(&mut self, handle: u64, notice: Notice) {
        if supersedes(notice.kind) {
            self.withdraw(handle);
        }
        self.queue.push((handle, notice));
    }

    /// Queues a notice beside those about how the handle stands.
    pub(crate) fn add(&mut self, handle: u64, notice: Notice) {
        self.queue.push((handle, notice));
    }

    /// A reply has told how the handle stands.
    pub(crate) fn withdraw(&mut self, handle: u64) {
        self.queue
            .retain(|(number, notice)| *number != handle || !supersedes(notice.kind));
    }

    /// The handle's question has been answered.
    pub(crate) fn withdraw_question(&mut self, handle: u64) {
        self.queue
            .retain(|(number, notice)| *number != handle || notice.kind != NoticeKind::Waiting);
    }

    /// Something of this kind is queued for the handle.
    pub(crate) fn holds(&self, handle: u64, kind: NoticeKind) -> bool {
        self.queue
            .iter()
            .any(|(number, notice)| *number == handle && notice.kind == kind)
    }

    /// Everything queued, which is then told.
    pub(crate) fn take(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.queue)
            .into_iter()
            .map(|(_, notice)| notice)
            .collect()
    }
}

/// The kinds that say how a handle stands.
fn supersedes(kind: NoticeKind) -> bool {
    match kind {
        NoticeKind::Success | NoticeKind::Failure | NoticeKind::Waiting | NoticeKind::Content => {
            true
        }
        NoticeKind::LeftRunning | NoticeKind::Server => false,
    }
}

/// The notice that a handle's new status calls for, by its tool's flags.
pub(crate) fn of_status(handle: &Handle, status: &Status) -> Option<Notice> {
    let id = handle.id.as_ref()?;
    let tool = &handle.tool.definition;
    let flags = tool.notifications;
    let (wanted, level, kind, text) = match status {
        Status::Pending | Status::Running { .. } => return None,
        Status::Waiting { question, .. } => (
            flags.on_waiting,
            NoticeLevel::Warning,
            NoticeKind::Waiting,
            format!("`{id}` waits for an answer: {}", question.text),
        ),
        Status::Stopped(ending) => match &ending.result {
            Ok(_) => (
                flags.on_success,
                NoticeLevel::Info,
                NoticeKind::Success,
                format!("`{id}` stopped well; fetch it to read its result"),
            ),
            Err(error) => (
                flags.on_failure,
                NoticeLevel::Error,
                NoticeKind::Failure,
                format!("`{id}` stopped: {}", error.message),
            ),
        },
    };
    wanted.then(|| notice(handle, level, kind, text))
}

/// New output of a running handle.
pub(crate) fn of_content(handle: &Handle) -> Option<Notice> {
    let id = handle.id.as_ref()?;
    handle.tool.definition.notifications.on_content.then(|| {
        notice(
            handle,
            NoticeLevel::Info,
            NoticeKind::Content,
            format!("`{id}` has new output"),
        )
    })
}

/// Processes that a tool left running.
pub(crate) fn of_left_running(handle: &Handle, count: usize) -> Notice {
    let processes = if count == 1 { "process" } else { "processes" };
    let tool = &handle.tool.definition.name;
    let text = match &handle.id {
        Some(id) => format!("`{id}` left {count} {processes} running; abort it to end them"),
        None => format!(
            "`{tool}` left {count} {processes} running until the session ends; \
             action `spawn` would give a handle to watch and end them"
        ),
    };
    notice(handle, NoticeLevel::Warning, NoticeKind::LeftRunning, text)
}

pub(crate) fn notice(
    handle: &Handle,
    level: NoticeLevel,
    kind: NoticeKind,
    text: String,
) -> Notice {
    Notice {
        level,
        kind,
        handle: handle.id.clone(),
        tool: Some(handle.tool.definition.name.clone()),
        text,
    }
}
