//! Input of a program: written at once if its pipe has room, queued within a
//! bound otherwise.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::io::Errno;
use tokio::io::Interest;

use crate::WriteError;
use crate::readiness::{Registered, register};
use crate::terminal::EndOfInput;

/// The delay before a full pipe is offered input again, if its room cannot be waited for.
const RETRY: Duration = Duration::from_millis(10);
/// The maximum size of the queue.
const LIMIT: usize = 1024 * 1024;

/// Notes whether the last write ended a line.
pub(crate) type LineNoter = Box<dyn Fn(bool) + Send>;

/// The input of a program.
pub(crate) struct Input {
    state: Mutex<InputState>,
}

struct InputState {
    pipe: Result<Arc<OwnedFd>, WriteError>,
    queue: VecDeque<u8>,
    /// Whether the pipe is closed when the queue is empty.
    closing: bool,
    /// Whether the pipe was closed since the last [`Input::take_close`].
    just_closed: bool,
    /// How many bytes of the last offer the pipe did not take.
    offered: usize,
    /// Whether the last write ended a line.
    at_line_start: bool,
    /// Notes this for the next owner of the program.
    line_noter: Option<LineNoter>,
    written: Option<Instant>,
    /// The task that drains the queue.
    task: Option<Waker>,
}

impl Input {
    /// An input without a pipe refuses everything with this error.
    pub(crate) fn new(pipe: Result<Arc<OwnedFd>, WriteError>) -> Self {
        Self {
            state: Mutex::new(InputState {
                pipe,
                queue: VecDeque::new(),
                closing: false,
                just_closed: false,
                offered: 0,
                at_line_start: true,
                line_noter: None,
                written: None,
                task: None,
            }),
        }
    }

    /// Continues after the last write of the program's earlier owner, and notes later ones for the next.
    pub(crate) fn continue_line(&self, at_line_start: bool, noter: LineNoter) {
        let mut state = self.state.lock();
        state.at_line_start = at_line_start;
        state.line_noter = Some(noter);
    }

    /// Accepts all of `bytes` or none.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<(), WriteError> {
        let mut state = self.state.lock();
        let pipe = state.pipe.clone()?;
        if state.closing {
            return Err(WriteError::Closed);
        }
        if state.queue.len() + bytes.len() > LIMIT {
            let queued = state.queue.len();
            return Err(WriteError::Full { queued });
        }
        state.written = Some(Instant::now());
        let taken = if state.queue.is_empty() {
            state.write_now(&pipe, bytes)?
        } else {
            0
        };
        if let Some(last) = bytes.last() {
            state.set_line_start(matches!(last, b'\n' | b'\r'));
        }
        if taken < bytes.len() {
            state.queue.extend(&bytes[taken..]);
            state.wake();
        }
        Ok(())
    }

    /// Writes as many of `bytes` as the pipe takes now, after queued ones. The rest counts as queued until the next call.
    pub(crate) fn offer(&self, bytes: &[u8]) -> Result<usize, WriteError> {
        let mut state = self.state.lock();
        let pipe = state.pipe.clone()?;
        if state.closing {
            return Err(WriteError::Closed);
        }
        while !state.queue.is_empty() {
            let queued = std::mem::take(&mut state.queue);
            let length = state.write_now(&pipe, queued.as_slices().0)?;
            state.queue = queued;
            if length == 0 {
                return Ok(0);
            }
            state.queue.drain(..length);
        }
        let length = state.write_now(&pipe, bytes)?;
        state.offered = bytes.len() - length;
        if let Some(last) = bytes[..length].last() {
            state.set_line_start(matches!(last, b'\n' | b'\r'));
            state.written = Some(Instant::now());
        }
        Ok(length)
    }

    /// Waits until the pipe may take more, or is closed.
    pub(crate) async fn room(&self) {
        let pipe = self.state.lock().pipe.clone();
        let Ok(pipe) = pipe else { return };
        // The executor accepts a descriptor only once, and the driver may have registered this one.
        let registered = pipe
            .try_clone()
            .and_then(|pipe| register(Arc::new(pipe), Interest::WRITABLE));
        match registered {
            Ok(registered) => drop(registered.writable().await),
            // There are too many descriptors.
            Err(_) => tokio::time::sleep(RETRY).await,
        }
    }

    /// Closes the pipe once the queue is empty.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.closing = true;
        state.written = Some(Instant::now());
        if state.queue.is_empty() && state.pipe.is_ok() {
            state.close(WriteError::Closed);
        }
    }

    /// Whether it refuses all input from now on.
    pub(crate) fn is_closed(&self) -> bool {
        let state = self.state.lock();
        state.closing || state.pipe.is_err()
    }

    /// Whether the pipe was closed since the last call. Other processes may still hold copies of it.
    pub(crate) fn take_close(&self) -> bool {
        std::mem::take(&mut self.state.lock().just_closed)
    }

    /// Types the end of input at a terminal. The program may continue to read
    /// afterwards.
    pub(crate) fn type_end(&self, end: &EndOfInput) {
        // Within a line, the first one only passes on the typed part of it.
        let within_line = end.canonical && !self.state.lock().at_line_start;
        let bytes = [end.byte; 2];
        let _ = self.write(if within_line { &bytes } else { &bytes[..1] });
        self.state.lock().set_line_start(true);
    }

    /// Whether input is queued, here or by a caller of [`Input::offer`].
    pub(crate) fn is_queued(&self) -> bool {
        let state = self.state.lock();
        !state.queue.is_empty() || state.offered > 0
    }

    /// Drops queued input, because nobody will write any more.
    pub(crate) fn abandon(&self) {
        self.state.lock().close(WriteError::Closed);
    }

    /// Handles the end of the program.
    pub(crate) fn exited(&self) {
        let mut state = self.state.lock();
        if !matches!(state.pipe, Err(WriteError::NoInput)) {
            state.close(WriteError::Exited);
        }
    }

    /// Notes another event that the program may react to, such as a signal.
    pub(crate) fn touch(&self) {
        self.state.lock().written = Some(Instant::now());
    }

    /// The time of the last event that the program may react to.
    pub(crate) fn written(&self) -> Option<Instant> {
        self.state.lock().written
    }
}

impl InputState {
    fn set_line_start(&mut self, at_line_start: bool) {
        if self.at_line_start != at_line_start
            && let Some(noter) = &self.line_noter
        {
            noter(at_line_start);
        }
        self.at_line_start = at_line_start;
    }

    /// Writes as many bytes as the pipe takes now.
    fn write_now(&mut self, pipe: &OwnedFd, bytes: &[u8]) -> Result<usize, WriteError> {
        match rustix::io::retry_on_intr(|| rustix::io::write(pipe, bytes)) {
            Ok(length) => Ok(length),
            Err(Errno::AGAIN) => Ok(0),
            Err(_) => {
                self.close(WriteError::Closed);
                Err(WriteError::Closed)
            }
        }
    }

    fn close(&mut self, why: WriteError) {
        self.offered = 0;
        self.just_closed |= self.pipe.is_ok();
        self.pipe = Err(why);
        self.queue = VecDeque::new();
        self.wake();
    }

    fn wake(&mut self) {
        if let Some(task) = self.task.take() {
            task.wake();
        }
    }
}

/// The reading end of the queue. The pipe is registered with the executor only
/// once it is full.
#[derive(Default)]
pub(crate) struct Flush {
    pipe: Option<Registered>,
}

impl Flush {
    /// Writes as much as the pipe takes; the task is woken when it can
    /// continue.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>, input: &Input) {
        let mut state = input.state.lock();
        while let Ok(pipe) = &state.pipe
            && !state.queue.is_empty()
        {
            if self.pipe.is_none() {
                // A terminal is already registered for reading, and the executor accepts a descriptor only once.
                self.pipe = register(Arc::clone(pipe), Interest::WRITABLE)
                    .or_else(|_| register(Arc::new(pipe.try_clone()?), Interest::WRITABLE))
                    .ok();
            }
            let Some(Poll::Ready(Ok(mut guard))) =
                self.pipe.as_ref().map(|pipe| pipe.poll_write_ready(cx))
            else {
                break;
            };
            match rustix::io::retry_on_intr(|| rustix::io::write(pipe, state.queue.as_slices().0)) {
                Ok(taken) => drop(state.queue.drain(..taken)),
                Err(Errno::AGAIN) => guard.clear_ready(),
                Err(_) => {
                    drop(guard);
                    state.close(WriteError::Closed);
                }
            }
        }
        if state.closing && state.queue.is_empty() && state.pipe.is_ok() {
            state.close(WriteError::Closed);
        }
        if state.queue.is_empty() {
            // Release memory and registration: a program that was slow to read once may idle for days.
            state.queue.shrink_to_fit();
            self.pipe = None;
        }
        if state.pipe.is_ok()
            && !state
                .task
                .as_ref()
                .is_some_and(|task| task.will_wake(cx.waker()))
        {
            state.task = Some(cx.waker().clone());
        }
    }
}

#[cfg(test)]
#[path = "input_tests.rs"]
mod tests;
