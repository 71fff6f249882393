//! Notices: news that the assistant gets exactly once.
//!
//! A notice is queued when a handle changes. It is withdrawn if a reply reports
//! the change itself, and delivered with the next reply otherwise.

use std::borrow::Cow;

use windlass_protocol::{HandleId, Notice, NoticeKind, NoticeLevel, RecordTrouble, advice};

use crate::event::Status;
use crate::handle::Handle;
use crate::journal::SessionEvent;
use crate::session::SessionInner;
use crate::show;

/// The maximum length of an error message in a notice.
const LONGEST: usize = 2048;
/// The length of the end of a long result in a notice.
const LAST_WORDS: usize = 512;
/// The total size of the notices in one reply, beyond which each is cut to
/// about [`SHORT`].
const TOGETHER: usize = 8 * 1024;
const SHORT: usize = 240;

/// The queue of one session.
#[derive(Default)]
pub(crate) struct Notices {
    queue: Vec<Queued>,
}

/// Called when a notice was delivered; dropped if it never is.
pub(crate) type DeliveryCallback = Box<dyn FnOnce() + Send>;

struct Queued {
    handle: u64,
    /// Its number in the journal.
    number: u64,
    notice: Notice,
    delivered: Option<DeliveryCallback>,
}

/// Notices for delivery.
#[derive(Default)]
pub(crate) struct TakenNotices {
    pub(crate) notices: Vec<Notice>,
    /// Their numbers in the journal.
    pub(crate) numbers: Vec<u64>,
    /// Callbacks for delivery.
    pub(crate) delivered: Vec<DeliveryCallback>,
}

impl Notices {
    /// Queues a notice with this journal number. A notice on the state of a
    /// handle replaces earlier ones; their numbers are returned.
    pub(crate) fn push(&mut self, handle: u64, number: u64, notice: Notice) -> Vec<u64> {
        let replaced = if supersedes(notice.kind) {
            self.withdraw(handle)
        } else {
            Vec::new()
        };
        self.add(handle, number, notice, None);
        replaced
    }

    /// Queues a notice beside those on the handle's state.
    pub(crate) fn add(
        &mut self,
        handle: u64,
        number: u64,
        notice: Notice,
        delivered: Option<DeliveryCallback>,
    ) {
        self.queue.push(Queued {
            handle,
            number,
            notice,
            delivered,
        });
    }

    /// Withdraws the notices on a handle's state, which a reply has reported.
    /// Returns their numbers.
    pub(crate) fn withdraw(&mut self, handle: u64) -> Vec<u64> {
        self.remove(handle, supersedes)
    }

    /// Withdraws one notice, if it is still queued. Returns its number.
    pub(crate) fn withdraw_one(&mut self, number: u64) -> Vec<u64> {
        let withdrawn = self.queue.extract_if(.., |queued| queued.number == number);
        withdrawn.map(|queued| queued.number).collect()
    }

    fn remove(&mut self, handle: u64, needless: impl Fn(NoticeKind) -> bool) -> Vec<u64> {
        self.queue
            .extract_if(.., |queued| {
                queued.handle == handle && needless(queued.notice.kind)
            })
            .map(|queued| queued.number)
            .collect()
    }

    /// Whether a notice of this kind is queued for the handle.
    pub(crate) fn holds(&self, handle: u64, kind: NoticeKind) -> bool {
        self.queue
            .iter()
            .any(|queued| queued.handle == handle && queued.notice.kind == kind)
    }

    /// Takes all queued notices. If many handles have stopped at once, later
    /// notices are short.
    pub(crate) fn take(&mut self) -> TakenNotices {
        let mut taken = TakenNotices::default();
        let mut told = 0;
        for mut queued in std::mem::take(&mut self.queue) {
            let text = &mut queued.notice.text;
            if told > TOGETHER && text.len() > SHORT {
                *text = both_ends(text);
            }
            told += text.len();
            taken.notices.push(queued.notice);
            taken.numbers.push(queued.number);
            taken.delivered.extend(queued.delivered);
        }
        taken
    }
}

impl SessionInner {
    /// Queues the notice for a handle's new status, and keeps the job if it
    /// left processes running. Called before the status becomes visible, so
    /// that closing the session then ends those too.
    pub(crate) fn notice_change(&self, handle: &Handle, next: &Status) {
        if let Status::Running { .. } = next {
            let answered = |kind| kind == NoticeKind::Waiting;
            let told = self.notices.lock().remove(handle.number, answered);
            self.tell_delivered(told);
        }
        if let Some((true, notice)) = of_change(handle, next) {
            self.push_notice(handle.number, notice);
        }
        if let Status::Stopped(ending) = next
            && ending.left_running > 0
        {
            self.left.lock().extend(handle.job().cloned());
            let notice = of_left_running(handle, ending.left_running);
            self.push_notice(handle.number, notice);
        }
    }

    /// Queues the notice for new output of a handle, if its tool's flags want
    /// one and none is queued.
    pub(crate) fn notice_content(&self, handle: &Handle) {
        let kind = NoticeKind::Content;
        if let Some(id) = handle.id()
            && handle.tool.definition.notifications.on_content
            && !self.notices.lock().holds(handle.number, kind)
        {
            let text = format!("`{id}` has new output");
            self.push_notice(handle.number, notice(handle, NoticeLevel::Info, kind, text));
        }
    }

    pub(crate) fn push_notice(&self, handle: u64, notice: Notice) {
        let number = self.journal.append(SessionEvent::Noticed(notice.clone()));
        let replaced = self.notices.lock().push(handle, number, notice);
        self.tell_delivered(replaced);
    }

    /// Withdraws the notices on a handle's state, which a reply reports.
    pub(crate) fn withdraw_notices(&self, handle: &Handle) {
        let told = self.notices.lock().withdraw(handle.number);
        self.tell_delivered(told);
    }

    pub(crate) fn tell_delivered(&self, notices: Vec<u64>) {
        if !notices.is_empty() {
            self.journal.append(SessionEvent::Delivered { notices });
        }
    }

    /// Queues a notice beside those on the handle's state. Returns its number.
    pub(crate) fn add_notice(
        &self,
        handle: u64,
        notice: Notice,
        delivered: Option<DeliveryCallback>,
    ) -> u64 {
        let number = self.journal.append(SessionEvent::Noticed(notice.clone()));
        self.notices.lock().add(handle, number, notice, delivered);
        number
    }
}

/// Whether this kind reports the state of a handle.
fn supersedes(kind: NoticeKind) -> bool {
    match kind {
        NoticeKind::Success
        | NoticeKind::Failure
        | NoticeKind::Waiting
        | NoticeKind::Content
        | NoticeKind::Kept => true,
        NoticeKind::LeftRunning
        | NoticeKind::Server
        | NoticeKind::Record
        | NoticeKind::Edited
        | NoticeKind::Trust
        | NoticeKind::Sandbox => false,
    }
}

/// The notice for a stopped handle with the end of its result or output,
/// regardless of its tool's flags.
pub(crate) fn of_end(handle: &Handle, status: &Status) -> Option<Notice> {
    let (_, mut notice) = of_change(handle, status).filter(|_| status.is_stopped())?;
    let last_words = show::last_words(handle, LAST_WORDS);
    if !last_words.is_empty() {
        notice.text.push_str("\nIt ends with:\n");
        notice.text.push_str(&last_words);
    }
    Some(notice)
}

/// The notice for a handle's new status, and whether its tool's flags want it.
fn of_change(handle: &Handle, status: &Status) -> Option<(bool, Notice)> {
    let id = handle.id()?;
    let tool = &handle.tool.definition;
    let flags = tool.notifications;
    let (wanted, level, kind, text) = match status {
        Status::Pending | Status::Running { .. } => return None,
        Status::Waiting { question, .. } => (
            flags.on_waiting,
            NoticeLevel::Warning,
            NoticeKind::Waiting,
            format!("`{id}` waits for an answer: {}", brief(&question.text)),
        ),
        Status::Stopped(ending) => match (&ending.result, &ending.aborted) {
            // The turn's end may have ended it, and then it cannot be fetched.
            (Ok(result), Some(reason)) => (
                flags.on_success,
                NoticeLevel::Warning,
                NoticeKind::Success,
                ended_by(id, reason, &brief(result.as_deref().unwrap_or_default())),
            ),
            (Ok(_), None) => (
                flags.on_success,
                NoticeLevel::Info,
                NoticeKind::Success,
                format!("`{id}` finished successfully{}", advice::READ_RESULT),
            ),
            (Err(error), Some(reason)) => (
                flags.on_failure,
                NoticeLevel::Error,
                NoticeKind::Failure,
                ended_by(id, reason, &brief(&error.message)),
            ),
            (Err(error), None) => (
                flags.on_failure,
                NoticeLevel::Error,
                NoticeKind::Failure,
                format!("`{id}` stopped: {}", brief(&error.message)),
            ),
        },
    };
    Some((wanted, notice(handle, level, kind, text)))
}

/// The text for a tool that was ended and had a final message.
pub(crate) fn ended_by(id: &HandleId, reason: &str, last_word: &str) -> String {
    format!("`{id}` stopped: {reason}; it reported: {last_word}")
}

/// A shortened message; reading the handle returns all of it.
fn brief(message: &str) -> Cow<'_, str> {
    if message.len() <= LONGEST {
        return Cow::Borrowed(message);
    }
    let head = &message[..message.floor_char_boundary(LONGEST)];
    Cow::Owned(format!("{head}…{}", advice::READ_MORE))
}

fn both_ends(text: &str) -> String {
    let head = &text[..text.floor_char_boundary(SHORT / 2)];
    let tail = &text[text.ceil_char_boundary(text.len() - SHORT / 2)..];
    format!("{head}… (fetch it to read all) …{tail}")
}

/// A result that was dropped before it was read.
pub(crate) fn of_lost_result(handle: &Handle) -> Option<Notice> {
    let id = handle.id()?;
    let text = format!(
        "the unread result of `{id}` was deleted, because the unread results of this session use \
         too much space; run it again if you need it"
    );
    let (level, kind) = (NoticeLevel::Warning, NoticeKind::Failure);
    Some(notice(handle, level, kind, text))
}

/// Processes that a tool left running.
pub(crate) fn of_left_running(handle: &Handle, count: usize) -> Notice {
    let processes = if count == 1 { "process" } else { "processes" };
    let tool = &handle.tool.definition.name;
    let text = match handle.id() {
        Some(id) => format!(
            "`{id}` left {count} {processes} running{}",
            advice::END_THEM
        ),
        None => format!(
            "`{tool}` left {count} {processes} running until the session ends{}",
            advice::SPAWN_INSTEAD
        ),
    };
    notice(handle, NoticeLevel::Warning, NoticeKind::LeftRunning, text)
}

/// The notice for a change of the record's state since `told`.
pub(crate) fn of_record(
    told: Option<&RecordTrouble>,
    now: Option<&RecordTrouble>,
) -> Option<Notice> {
    let (told_lost, now_lost) = (told.map_or(0, |it| it.lost), now.map_or(0, |it| it.lost));
    let failed = told.is_some_and(|told| told.error.is_some());
    let lost = match now_lost.saturating_sub(told_lost) {
        0 => String::new(),
        lost => format!("; lost changes: {lost}"),
    };
    let error = now.and_then(|now| now.error.as_deref());
    let (level, text) = match error {
        // A loss is reported when it begins; its size is reported when it is over.
        Some(error) if !failed || told_lost == 0 && now_lost > 0 => {
            let waiting = now.map_or(0, |now| now.waiting);
            let text = format!(
                "the record of this session cannot be written ({error}); waiting changes: \
                 {waiting}{lost}"
            );
            (NoticeLevel::Error, text)
        }
        None if failed && lost.is_empty() => (
            NoticeLevel::Info,
            "the record can be written again; all waiting changes are recorded".to_owned(),
        ),
        None if failed || !lost.is_empty() => {
            let text = format!("the record can be written again{lost}");
            (NoticeLevel::Error, text)
        }
        _ => return None,
    };
    Some(Notice {
        level,
        kind: NoticeKind::Record,
        handle: None,
        tool: None,
        text,
    })
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
        handle: handle.id().cloned(),
        tool: Some(handle.tool.definition.name.clone()),
        text,
    }
}
