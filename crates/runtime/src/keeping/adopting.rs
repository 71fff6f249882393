//! Takes over handles that another runtime has left.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use windlass_protocol::{Exit, HandleId, KeptHandle, Notice, NoticeKind, NoticeLevel};

use super::HandleKeeping;
use crate::catalogue::{RegisteredTool, Runs};
use crate::event::Status;
use crate::executor::{AdoptError, Reporter};
use crate::handle::Handle;
use crate::notice;
use crate::permission::GrantedBy;
use crate::session::{Session, SessionInner};
use crate::session_limits;

/// The time limit for learning the end of an exited program.
const END_LIMIT: Duration = Duration::from_secs(5);
/// The number of lines of a handle's output in a notice.
const LINES: usize = 20;
const LINES_BYTES: usize = 2048;

/// A handle to be adopted.
#[derive(Debug, Clone)]
pub struct AdoptedHandle {
    /// Its state.
    pub kept: KeptHandle,
    /// It has exited, and its status was not fetched yet.
    pub is_stopped: bool,
}

/// The outcome of an adoption.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AdoptOutcome {
    /// It belongs to this session, under its old id. The assistant will be
    /// told.
    Adopted,
    /// It has no holder, or its holder does not release it now.
    Gone,
    /// Another runtime has it.
    Taken {
        /// The runtime's process.
        owner: u32,
    },
    /// It stays where it is, and the assistant will be told why.
    Left,
}

impl Session {
    /// Takes over handles that another runtime has left, concurrently, each
    /// under its old id and with its output, read position, question and lock.
    /// A notice reports each; with `lines` it shows the end of the output, for
    /// an assistant that has never seen it. Returns the outcomes in the given
    /// order.
    pub async fn adopt(&self, handles: Vec<AdoptedHandle>, lines: bool) -> Vec<AdoptOutcome> {
        let inner = &self.inner;
        let adoptions = handles.into_iter().map(|handle| async move {
            let outcome = adopt_one(inner, handle.clone(), lines).await;
            match outcome {
                Ok(()) => AdoptOutcome::Adopted,
                Err(AdoptError::Gone | AdoptError::Silent) => AdoptOutcome::Gone,
                Err(AdoptError::Taken { owner }) => AdoptOutcome::Taken { owner },
                Err(error) => {
                    inner.push_notice(0, of_left(&handle.kept, &error));
                    AdoptOutcome::Left
                }
            }
        });
        join_all(adoptions).await
    }
}

async fn adopt_one(
    session: &Arc<SessionInner>,
    adopted: AdoptedHandle,
    lines: bool,
) -> Result<(), AdoptError> {
    let AdoptedHandle { kept, is_stopped } = adopted;
    let failed = |why: String| AdoptError::Failed { why };
    let tool = session.catalogue.get(&kept.tool).cloned();
    let tool = tool.ok_or_else(|| failed(format!("tool `{}` no longer exists", kept.tool)))?;
    let Runs::Executor(executor) = &tool.runs else {
        return Err(AdoptError::Unsupported);
    };
    let executor = Arc::clone(executor);
    let handle = reserve(session, tool, &kept)?;
    if let Some(title) = &kept.title {
        handle.entitle(title.clone());
    }
    handle.granted(if kept.by_rule {
        GrantedBy::Rule
    } else {
        GrantedBy::Policy
    });
    let reporter = Reporter::to(&handle);
    let job = match executor.adopt(kept.job.clone(), reporter).await {
        Ok(job) => job,
        Err(error) => {
            session.registry.lock().remove(&handle);
            return Err(error);
        }
    };
    handle.restore_lock(session, kept.lock.as_ref());
    *handle.keeping.lock() = HandleKeeping::Kept(Box::new(kept));
    session.update_kept(&handle, |kept| {
        kept.session = session.id.clone();
        kept.session_name.clone_from(&session.options.name);
        kept.front_end.clone_from(&session.options.front_end);
        kept.client = session.client_name.get().cloned();
        kept.number = handle.number;
        if let Some(key) = job.key() {
            kept.job.key = key;
        }
    });
    handle.install(job);
    session_limits::look_after(session);
    if is_stopped {
        let stopped = handle.wait_until(Status::is_stopped);
        let _ = tokio::time::timeout(END_LIMIT, stopped).await;
    }
    let notice = of_adopted(&handle, lines);
    session.push_notice(handle.number, notice);
    Ok(())
}

/// Reserves the handle's old id.
fn reserve(
    session: &Arc<SessionInner>,
    tool: Arc<RegisteredTool>,
    kept: &KeptHandle,
) -> Result<Arc<Handle>, AdoptError> {
    let id = &kept.handle;
    let mut registry = session.registry.lock();
    if registry.check_free([id].into_iter()).is_err() {
        return Err(AdoptError::Failed {
            why: format!("this session has another handle `{id}`"),
        });
    }
    let handle = Handle::adopted(session, tool, kept);
    registry.insert(&handle);
    Ok(handle)
}

/// The notice for an adopted handle.
fn of_adopted(handle: &Handle, lines: bool) -> Notice {
    let id = handle.known_as();
    let title = handle.title().unwrap_or_default();
    let (level, mut text) = match handle.status() {
        Status::Stopped(ending) => {
            let how = match (&ending.exit, &ending.result) {
                (Some(Exit::Code(code)), _) => format!("it stopped with exit code {code}"),
                (Some(Exit::Signal(signal)), _) => format!("it was ended by {signal}"),
                (None, Ok(_)) => "it finished successfully".to_owned(),
                (None, Err(error)) => format!("it stopped: {}", error.message),
            };
            (
                NoticeLevel::Warning,
                format!("`{id}` ({title}) was kept between sessions, and {how}"),
            )
        }
        Status::Waiting { question, .. } => (
            NoticeLevel::Warning,
            format!(
                "`{id}` ({title}) was kept between sessions and belongs to you again; it waits \
                 for an answer: {}",
                question.text
            ),
        ),
        Status::Pending | Status::Running { .. } => (
            NoticeLevel::Info,
            format!(
                "`{id}` ({title}) was kept between sessions; it is still running and belongs to \
                 you again"
            ),
        ),
    };
    let last = handle.job().map(|job| job.output().preview(LINES_BYTES));
    let last = last.as_deref().map(last_lines).unwrap_or_default();
    if (lines || handle.is_stopped()) && !last.is_empty() {
        text.push_str("\nIts last lines:\n");
        text.push_str(last);
    }
    notice::notice(handle, level, NoticeKind::Kept, text)
}

fn last_lines(text: &str) -> &str {
    let text = text.trim_end();
    let starts = text.rmatch_indices('\n').map(|(at, _)| at + 1);
    let from = starts
        .take(LINES)
        .last()
        .filter(|_| text.lines().count() > LINES);
    &text[from.unwrap_or(0)..]
}

/// The notice for a handle that was not adopted and continues to run.
fn of_left(kept: &KeptHandle, error: &AdoptError) -> Notice {
    let id: &HandleId = &kept.handle;
    Notice {
        level: NoticeLevel::Warning,
        kind: NoticeKind::Kept,
        handle: Some(id.clone()),
        tool: Some(kept.tool.clone()),
        text: format!(
            "`{id}` is kept from an earlier session and was not taken over: {error}; \
             the user can end it with `windlass kill {id}`"
        ),
    }
}
