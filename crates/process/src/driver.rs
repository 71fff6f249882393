//! The task that serves a process: its output, its exit, and the queue of its
//! input.
//!
//! Start at [`Driver::poll`]. One task serves one process until its tree is
//! gone. Output written before the exit is read before the exit is reported.
//! Later output of other processes on the same pipes is read and discarded, so
//! that they neither block nor get `SIGPIPE`.

use std::cell::RefCell;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};

use tokio::io::Interest;
use tokio::sync::{mpsc, oneshot};

use crate::input::Flush;
#[cfg(target_os = "linux")]
use crate::linux::{Retained, TakeOutcome};
use crate::pipes::Ours;
use crate::process::ProcessShared;
use crate::readiness::{Registered, register};
use crate::watch::TreeMonitor;
use crate::{Exit, Receipt, Terminal};
#[cfg(target_os = "linux")]
use windlass_output::Output;
use windlass_output::Stream;
use windlass_sandbox::LimitKind;

/// Events of a program's tree.
pub(crate) enum News {
    /// The program has exited. Its tree is empty if `idle`.
    Exited { exit: Exit, idle: bool },
    /// The tree has become empty some time after the exit; the shim is free.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "only a shim outlives its program")
    )]
    Idle,
    /// The tree has exceeded a limit and is being ended.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "only a shim looks after limits")
    )]
    Exceeded(LimitKind),
    /// The tree was ended on request.
    Ended(Receipt),
    /// The tree is gone, or its state is unknown. The last event.
    Gone,
}

/// The size of one read: the default capacity of a pipe. Larger reads were no
/// faster in total.
const CHUNK: usize = 64 * 1024;
/// The new capacity of a pipe that was found full, so that its writer does not
/// block while we write the log.
const PIPE_SIZE: usize = 256 * 1024;
/// The number of bytes read from a stream before the task yields.
const TURN: usize = 1024 * 1024;

thread_local! {
    /// One buffer per thread; its pages are allocated on use.
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; CHUNK]);
}

/// Serves one process.
pub(crate) struct Driver {
    shared: Arc<ProcessShared>,
    /// `None` when the tree is empty.
    watch: Option<TreeMonitor>,
    streams: [Option<OutputSource>; 2],
    flush: Flush,
    /// Callers that wait until all written output is read.
    drains: mpsc::UnboundedReceiver<oneshot::Sender<()>>,
    exited: bool,
}

impl Driver {
    pub(crate) fn new(
        shared: Arc<ProcessShared>,
        watch: TreeMonitor,
        pipes: Ours,
        drains: mpsc::UnboundedReceiver<oneshot::Sender<()>>,
    ) -> std::io::Result<Self> {
        let source = |fd: Option<Arc<OwnedFd>>, stream| {
            fd.map(|fd| OutputSource::new(fd, stream)).transpose()
        };
        Ok(Self {
            shared,
            watch: Some(watch),
            streams: [
                source(pipes.stdout, Stream::Stdout)?,
                source(pipes.stderr, Stream::Stderr)?,
            ],
            flush: Flush::default(),
            drains,
            exited: false,
        })
    }

    /// Handles the exit: its output is in the pipes by now, and is read before
    /// the exit is reported.
    fn exited(&mut self) {
        self.exited = true;
        self.drain();
        self.shared.input.exited();
        if let Some(terminal) = &self.shared.terminal {
            terminal.exited();
        }
        self.shared.finish_output();
    }

    /// Reads the current contents of the pipes, of each at most its capacity,
    /// whether or not readiness was signalled.
    fn drain(&mut self) {
        for slot in &mut self.streams {
            let mut left = PIPE_SIZE;
            while let Some(source) = slot {
                match read(source.fd.get_ref(), source.stream, &self.shared, false) {
                    Read::End => *slot = None,
                    Read::Some { length, .. } if length < left => left -= length,
                    Read::Some { .. } | Read::Empty => break,
                }
            }
        }
    }

    fn serve_drains(&mut self, cx: &mut Context<'_>) {
        while let Poll::Ready(Some(reply)) = self.drains.poll_recv(cx) {
            if !self.exited && !self.shared.is_paused() {
                self.drain();
            }
            let _ = reply.send(());
        }
    }

    /// Whether the caller has released the terminal. It is no longer read then,
    /// and closing its last descriptor notifies its programs.
    fn hung_up(&self) -> bool {
        let terminal = self.shared.terminal.as_ref();
        terminal.is_some_and(Terminal::is_hung_up)
    }

    /// Handles the end of the tree. The shim is returned before the end is
    /// reported, so that the next start can reuse it.
    fn gone(&mut self, exit: Option<Exit>, idle: bool) {
        let lost = self
            .watch
            .as_ref()
            .map_or_else(String::new, TreeMonitor::loss);
        let exit = exit.or_else(|| (!self.exited).then_some(Exit::Lost(lost)));
        if !self.exited {
            self.exited();
        }
        #[cfg(target_os = "linux")]
        if let (Some(sandbox), Some(_)) = (&self.shared.sandbox, &self.shared.kept) {
            sandbox.release();
        }
        if let Some(watch) = self.watch.take()
            && idle
        {
            watch.recycle(&self.shared.hold);
        }
        self.tell_gone(exit);
    }

    /// Stops reading the program, because another owner continues.
    fn leave(&mut self) {
        self.streams = [None, None];
        self.shared.hold.leave();
        self.watch = None;
        self.shared.finish_output();
        self.tell_gone(Some(Exit::Lost(String::from("it was left running"))));
    }

    fn tell_gone(&self, exit: Option<Exit>) {
        self.shared.state.send_modify(|state| {
            state.exit = state.exit.take().or(exit);
            state.receipt.get_or_insert_default();
            state.gone = true;
        });
    }

    /// Handles all pending events; `true` after the last one.
    fn hear(&mut self, cx: &mut Context<'_>) -> bool {
        while let Some(watch) = &mut self.watch {
            let news = match watch {
                #[cfg(target_os = "linux")]
                TreeMonitor::Shim(watch) => watch.poll_next(cx),
                TreeMonitor::Plain(watch) => watch.poll_next(cx),
            };
            let Poll::Ready(news) = news else {
                return false;
            };
            match news {
                News::Exited { exit, idle: false } => {
                    self.exited();
                    self.shared
                        .state
                        .send_modify(|state| state.exit = Some(exit));
                }
                News::Exited { exit, idle: true } => self.gone(Some(exit), true),
                News::Idle => self.gone(None, true),
                News::Gone => self.gone(None, false),
                News::Exceeded(kind) => {
                    self.shared
                        .state
                        .send_modify(|state| state.exceeded = Some(kind));
                }
                News::Ended(receipt) => {
                    self.shared
                        .state
                        .send_modify(|state| state.receipt = Some(receipt));
                }
            }
        }
        true
    }
}

impl Future for Driver {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if this.shared.left.load(Ordering::Acquire) {
            this.leave();
            return Poll::Ready(());
        }
        if this.hear(cx) {
            return Poll::Ready(());
        }
        if this.hung_up() {
            this.streams = [None, None];
        }
        // Lifting the limit requests a drain, which wakes this task.
        let is_paused = this.shared.is_paused() && !this.exited;
        for slot in this.streams.iter_mut().filter(|_| !is_paused) {
            if let Some(source) = slot
                && source.poll_read(cx, &this.shared, this.exited).is_ready()
            {
                *slot = None;
            }
        }
        let mut streams = this.streams.iter().flatten();
        let is_paused = is_paused || streams.any(|source| source.held_back);
        this.serve_drains(cx);
        if is_paused && !this.shared.is_paused() {
            cx.waker().wake_by_ref();
        }
        this.flush.poll(cx, &this.shared.input);
        this.shared.pass_on_close();
        Poll::Pending
    }
}

impl Drop for Driver {
    /// Wakes all waiters if the executor was shut down.
    fn drop(&mut self) {
        if self.watch.is_some() {
            if !self.exited {
                self.shared.finish_output();
            }
            let lost = String::from("the runtime that read it was shut down");
            self.tell_gone(Some(Exit::Lost(lost)));
            // A kept program continues: its end was not requested.
            self.shared.hold.leave();
        }
    }
}

/// A pipe or a terminal that is read.
struct OutputSource {
    fd: Registered,
    stream: Stream,
    /// Whether the pipe was found full and enlarged.
    enlarged: bool,
    /// Whether the last read stopped at the limit, with more to read.
    held_back: bool,
}

impl OutputSource {
    fn new(fd: Arc<OwnedFd>, stream: Stream) -> std::io::Result<Self> {
        Ok(Self {
            fd: register(fd, Interest::READABLE)?,
            stream,
            enlarged: false,
            held_back: false,
        })
    }

    /// Reads available output; ready at the end of the pipe.
    fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        shared: &ProcessShared,
        discard: bool,
    ) -> Poll<()> {
        let mut left = TURN;
        self.held_back = false;
        loop {
            let Ok(mut guard) = ready!(self.fd.poll_read_ready(cx)) else {
                return Poll::Ready(());
            };
            match read(self.fd.get_ref(), self.stream, shared, discard) {
                Read::End => return Poll::Ready(()),
                Read::Empty => guard.clear_ready(),
                Read::Some { length, full } => {
                    if !full {
                        guard.clear_ready();
                    } else if !self.enlarged && shared.terminal.is_none() {
                        self.enlarge();
                    }
                    left = left.saturating_sub(length);
                    if left == 0 {
                        cx.waker().wake_by_ref();
                        return Poll::Pending;
                    }
                    if shared.is_paused() && !discard {
                        self.held_back = true;
                        return Poll::Pending;
                    }
                }
            }
        }
    }

    fn enlarge(&mut self) {
        self.enlarged = true;
        // The user's limit for pipes may be reached; then it is only slower.
        #[cfg(target_os = "linux")]
        let _ = rustix::pipe::fcntl_setpipe_size(self.fd.get_ref(), PIPE_SIZE);
    }
}

enum Read {
    /// If not `full`, there is nothing left.
    Some {
        length: usize,
        full: bool,
    },
    Empty,
    End,
}

fn read(fd: &OwnedFd, stream: Stream, shared: &ProcessShared, discard: bool) -> Read {
    #[cfg(target_os = "linux")]
    if let Some(kept) = &shared.kept
        && !discard
    {
        return read_kept(fd, stream, shared, &kept.retained);
    }
    BUFFER.with_borrow_mut(|buffer| {
        // A terminal beside pipes is not the only source.
        if let Some(terminal) = &shared.terminal
            && stream == Stream::Stdout
        {
            return read_pieces(fd, buffer, terminal, shared, discard);
        }
        let read = fill(fd, buffer);
        if let Read::Some { length, .. } = read
            && !discard
        {
            shared.output_of(stream).push(stream, &buffer[..length]);
        }
        read
    })
}

/// Reads a terminal in small pieces, but wakes waiters once. The kernel
/// delivers the next piece while we process the last one; collecting them first
/// would wait for each.
fn read_pieces(
    fd: &OwnedFd,
    buffer: &mut [u8],
    terminal: &Terminal,
    shared: &ProcessShared,
    discard: bool,
) -> Read {
    let _reading = terminal.reading();
    let mut length = 0;
    let read = loop {
        match fill(fd, buffer) {
            Read::Some { length: more, .. } => {
                if !discard {
                    terminal.see(&buffer[..more]);
                    shared.output.add(Stream::Stdout, &buffer[..more]);
                }
                length += more;
                if length >= CHUNK {
                    break Read::Some { length, full: true };
                }
            }
            nothing if length == 0 => return nothing,
            Read::Empty => {
                break Read::Some {
                    length,
                    full: false,
                };
            }
            // The next read reports the end again.
            Read::End => break Read::Some { length, full: true },
        }
    };
    shared.output.announce();
    read
}

/// Reads into the memory shared with the program's holder, and from there into
/// the output.
#[cfg(target_os = "linux")]
fn read_kept(fd: &OwnedFd, stream: Stream, shared: &ProcessShared, retained: &Retained) -> Read {
    let _reading = shared.terminal.as_ref().map(Terminal::reading);
    let mut length = 0;
    let read = loop {
        make_room(retained, &shared.output);
        let taken = retained.take(fd, stream, |stream, bytes| {
            if let Some(terminal) = &shared.terminal {
                terminal.see(bytes);
            }
            shared.output.add(stream, bytes);
        });
        match taken {
            TakeOutcome::Some(more) => {
                length += more;
                if length >= CHUNK {
                    break Read::Some { length, full: true };
                }
            }
            TakeOutcome::Empty if length == 0 => return Read::Empty,
            TakeOutcome::End if length == 0 => return Read::End,
            // It may not be empty: the stage takes less than requested. The next read decides.
            TakeOutcome::Empty | TakeOutcome::End => break Read::Some { length, full: true },
        }
    };
    shared.output.announce();
    read
}

/// Makes room in the memory for the next bytes. Bytes that were forgotten make room without a log.
#[cfg(target_os = "linux")]
fn make_room(retained: &Retained, output: &Output) {
    if retained.has_room() {
        return;
    }
    if let Some(checkpoint) = output.forgotten_checkpoint() {
        retained.publish(&checkpoint);
    }
    if !retained.has_room() {
        retained.publish(&output.checkpoint());
    }
}

fn fill(fd: &OwnedFd, buffer: &mut [u8]) -> Read {
    match rustix::io::retry_on_intr(|| rustix::io::read(fd, &mut *buffer)) {
        Ok(0) => Read::End,
        Ok(length) => {
            // A pipe that returned less than requested is empty.
            let full = length == buffer.len();
            Read::Some { length, full }
        }
        Err(rustix::io::Errno::AGAIN) => Read::Empty,
        // Reading a terminal that is no longer open anywhere is an error.
        Err(_) => Read::End,
    }
}
