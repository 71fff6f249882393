//! A handle for an observer other than its assistant: a person at a page or a
//! terminal.
//!
//! Start at [`Session::handle`]. Nothing here moves the assistant's cursor.
//! `takeover.rs` takes handles over.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::Value;
use windlass_protocol::{
    Exit, HandleId, HandleInfo, HandleKind, InputError, LineRange, Receipt, ScreenPast,
    ScreenUpdate,
};

use crate::cut;
use crate::event::Status;
use crate::handle::Handle;
use crate::job::{Job, JobTerminal};
use crate::refusal::Refusal;
use crate::session::{Session, SessionInner};

/// The maximum length of a result in a handle's info.
const RESULT: usize = 4096;

impl Session {
    /// Every readable handle and every running one-shot, in order of their
    /// start.
    pub fn handle_infos(&self) -> Vec<HandleInfo> {
        let mut handles = self.inner.registry.lock().all();
        let one_shots = self.inner.one_shots.lock();
        handles.extend(one_shots.values().filter(|one| one.id().is_none()).cloned());
        drop(one_shots);
        handles.sort_by_key(|handle| handle.number);
        handles.iter().map(|handle| info(handle)).collect()
    }

    /// The handle of that id, or the one-shot that is listed by it.
    pub fn handle(&self, id: &str) -> Result<HandleRef, Refusal> {
        let handle = self.inner.lookup(id);
        let handle = handle.or_else(|refusal| {
            let one_shot = self.inner.one_shot(id);
            let gone = || self.inner.left_out.get(id);
            one_shot.or_else(gone).ok_or(refusal)
        })?;
        Ok(HandleRef {
            id: handle.known_as().clone(),
            session: Arc::clone(&self.inner),
            handle,
        })
    }

    /// The last message of the tool that a call has started: its question, or
    /// the last line of its output. `None` if there is none.
    pub fn last_word(&self, call: &str) -> Option<String> {
        let mut handles = self.inner.registry.lock().all();
        handles.extend(self.inner.one_shots.lock().values().cloned());
        let handle = handles.into_iter().find(|handle| &*handle.call == call)?;
        match handle.status() {
            Status::Waiting { question, .. } => Some(question.text),
            _ => last_line(&handle),
        }
    }

    /// Whether the session is ending or has ended.
    pub fn is_closing(&self) -> bool {
        self.inner.closing.is_cancelled()
    }
}

/// A handle, for an observer. It keeps the handle readable, but not its session
/// alive.
#[derive(Clone)]
pub struct HandleRef {
    pub(crate) id: HandleId,
    pub(crate) session: Arc<SessionInner>,
    pub(crate) handle: Arc<Handle>,
}

impl HandleRef {
    /// The handle's id.
    pub fn id(&self) -> &HandleId {
        &self.id
    }

    /// The state of the handle.
    pub fn info(&self) -> HandleInfo {
        info(&self.handle)
    }

    /// The handle has ended.
    pub fn is_stopped(&self) -> bool {
        self.handle.is_stopped()
    }

    /// Resolves when the handle has ended.
    pub async fn stopped(&self) {
        self.handle.wait_until(Status::is_stopped).await;
    }

    /// The terminal's screen: the rows that changed since an earlier
    /// generation, or all of them. `None` without a terminal.
    pub fn screen(&self, since: Option<u64>) -> Option<ScreenUpdate> {
        Some(self.terminal()?.screen(since))
    }

    /// The lines that have left its terminal's screen, as far as they are
    /// stored. `None` without a terminal.
    pub fn scrollback(&self) -> Option<String> {
        Some(self.terminal()?.scrollback())
    }

    /// The rows that have left its terminal's screen, as far as they are
    /// stored, with their styles. `None` without a terminal.
    pub fn past(&self) -> Option<ScreenPast> {
        Some(self.terminal()?.past())
    }

    /// Resolves when its screen's generation differs from this one.
    pub fn screen_changed(&self, generation: u64) -> BoxFuture<'static, ()> {
        match self.terminal() {
            Some(terminal) => terminal.screen_changed(generation),
            None => Box::pin(std::future::pending()),
        }
    }

    /// The number of bytes that [`HandleRef::log`] covers.
    pub fn written(&self) -> u64 {
        written(&self.handle)
    }

    /// Resolves when it has written more than this many bytes, or has ended.
    pub async fn written_past(&self, offset: u64) {
        let begun = |status: &Status| !matches!(status, Status::Pending);
        self.handle.wait_until(begun).await;
        let Some(job) = self.handle.job() else {
            return self.stopped().await;
        };
        let mut changes = job.output().bytes().changes();
        let written = async {
            while self.written() <= offset {
                if changes.changed().await.is_err() {
                    return std::future::pending().await;
                }
            }
        };
        tokio::select! {
            () = written => {}
            () = self.stopped() => {}
        }
    }

    /// The raw bytes within a range. Bytes that are no longer stored are left
    /// out; of an old handle, only those that the assistant can read remain.
    pub fn log(&self, range: Range<u64>) -> Vec<u8> {
        if let Some(output) = self.handle.output() {
            return output.log(range);
        }
        if let Some(stored) = self.handle.stored() {
            let output = stored.output().into_bytes();
            let place = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
            let end = place(range.end).min(output.len());
            return output[place(range.start).min(end)..end].to_vec();
        }
        Vec::new()
    }

    /// The number of the line that the byte at an offset of its log is part of, from 1 on.
    pub fn line_at(&self, offset: u64) -> u64 {
        let output = self.handle.output();
        let stored = || {
            let text = self.handle.stored()?.output();
            Some(cut::whole_text(&text))
        };
        let output = output.or_else(stored);
        output.map_or(1, |output| output.line_at(offset))
    }

    /// Lines of its output by number, as the assistant would fetch them, within
    /// a limit in bytes.
    pub fn lines(&self, lines: LineRange, limit: usize) -> String {
        let output = self.handle.output();
        let stored = || {
            let text = self.handle.stored()?.output();
            Some(cut::whole_text(&text))
        };
        let output = output.or_else(stored);
        output.map_or_else(String::new, |output| output.lines(lines, limit).0)
    }

    /// The offset of the first byte that arrived within the last `age`. Arrival
    /// times are accurate to a fraction of a second. They are unknown for an
    /// old handle: all of its output counts.
    pub fn written_before(&self, age: Duration) -> u64 {
        let output = self.handle.output();
        output.map_or(0, |output| output.written_before(age))
    }

    /// Changes the size of its terminal.
    pub fn resize(&self, rows: u16, cols: u16) -> Result<(), Refusal> {
        let terminal = self.job()?.terminal();
        let terminal = terminal.ok_or(InputError::NoTerminal)?;
        Ok(terminal.resize(rows, cols)?)
    }

    /// Answers its open question for the person.
    pub async fn answer(&self, answer: Value) -> Result<(), Refusal> {
        match self.handle.status() {
            Status::Waiting { question, .. } => self.handle.answer(&question, answer).await,
            Status::Stopped(_) => Err(Refusal::EndedForPerson(self.id.clone())),
            _ => Err(Refusal::AsksNothing(self.id.clone())),
        }
    }

    /// Ends the tool and all its processes for the person. Resolves when they
    /// are gone. If its host is unreachable, that is an error, and the tool is
    /// ended when the host is reachable again. May be called after the end.
    pub async fn abort(&self) -> Result<Receipt, Refusal> {
        let receipt = self.handle.end("aborted by the user").await;
        receipt.ok_or_else(|| Refusal::Unreached(self.id.clone()))
    }

    fn terminal(&self) -> Option<Arc<dyn JobTerminal>> {
        self.handle.job()?.terminal()
    }

    pub(crate) fn job(&self) -> Result<&Arc<dyn Job>, Refusal> {
        let id = &self.id;
        if self.is_stopped() {
            return Err(Refusal::EndedForPerson(id.clone()));
        }
        let job = self.handle.job();
        job.ok_or_else(|| Refusal::NotStarted(id.clone()))
    }
}

fn written(handle: &Handle) -> u64 {
    match (handle.output(), handle.stored()) {
        (Some(output), _) => output.written(),
        (None, Some(stored)) => stored.output_bytes(),
        (None, None) => 0,
    }
}

fn last_line(handle: &Handle) -> Option<String> {
    match handle.stored() {
        Some(stored) if stored.has_views() => stored.last_line().map(str::to_owned),
        _ => handle.output()?.last_line(),
    }
}

fn info(handle: &Handle) -> HandleInfo {
    let status = handle.status();
    let job = handle.job();
    let mut info = HandleInfo {
        id: handle.known_as().clone(),
        kind: match handle.id() {
            Some(_) => HandleKind::Handle,
            None => HandleKind::OneShot,
        },
        tool: handle.tool.definition.name.clone(),
        state: status.state(),
        command: handle.title().map(str::to_owned),
        elapsed_secs: (handle.elapsed().as_secs_f64() * 10.0).round() / 10.0,
        written: written(handle),
        terminal: job.is_some_and(|job| job.terminal().is_some()),
        locked: handle.is_locked(),
        last_line: last_line(handle),
        question: None,
        result: None,
        failed: false,
        usage: job
            .filter(|_| !status.is_stopped())
            .and_then(|job| job.usage()),
        exit_code: None,
        signal: None,
    };
    match status {
        Status::Waiting { question, .. } => info.question = Some(question),
        Status::Stopped(ending) => {
            match ending.exit {
                Some(Exit::Code(code)) => info.exit_code = Some(code),
                Some(Exit::Signal(signal)) => info.signal = Some(signal),
                None => {}
            }
            info.failed = ending.result.is_err();
            info.result = match ending.result {
                Ok(result) => result,
                Err(error) => Some(error.message),
            };
            info.result = info.result.map(|text| text.chars().take(RESULT).collect());
        }
        Status::Pending | Status::Running { .. } => {}
    }
    info
}
