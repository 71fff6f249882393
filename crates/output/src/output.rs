//! The output of one tool: one producer, many readers.
//!
//! Start at [`Output::push`]. All state is behind one lock. `read` has the
//! readers, `find` waits for lines.

use std::collections::VecDeque;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use tokio::sync::watch;

use super::arrivals::Arrivals;
use super::forgetting::Forgetting;
use super::last_line::LastLine;
use super::matcher::Watcher;
use super::object::HeldObject;
use super::store::ByteStore;
use super::whole::WholeCharacters;

/// The stream of a child that bytes came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Standard output, and everything from a terminal.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Storage limits of an output, and the location of its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputOptions {
    /// The number of newest bytes kept in memory. Default: 256 KiB.
    pub memory: usize,
    /// The maximum disk usage of the log, accurate to a few MiB. Default: 1
    /// GiB. Beyond it the log keeps its first half and the newest bytes.
    pub log_limit: u64,
    /// The path of the log, which is created when the output outgrows memory or
    /// a read omits something. The file must not exist yet. `None`: there is no
    /// log, and bytes that outgrow memory are lost.
    pub log: Option<PathBuf>,
    /// Whether standard output is held while it may be one JSON object, see
    /// [`Output::take_object`].
    pub hold_object: bool,
}

impl Default for OutputOptions {
    fn default() -> Self {
        Self {
            memory: 256 << 10,
            log_limit: 1 << 30,
            log: None,
            hold_object: false,
        }
    }
}

/// A position from which another process can continue the output with
/// [`Output::resume`].
///
/// Everything between `base` and it is in the log. Bytes pushed after it must be
/// pushed again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// The number of bytes that are in the log.
    pub stored: u64,
    /// The number of newlines among them.
    pub newlines: u64,
    /// For stdout and stderr: the offset among all pushed bytes from which that
    /// stream must be pushed again.
    pub replay: [u64; 2],
    /// The offset before which bytes were forgotten, see
    /// [`Output::forget_before`].
    pub base: u64,
    /// The end of the hole in the log, 0 if it has none.
    pub hole_end: u64,
    /// Whether stdout is known to be plain text, so that it is no longer held
    /// as a possible JSON object.
    pub released: bool,
}

impl Checkpoint {
    /// The offset of the first byte that has to be pushed again.
    pub fn replay_from(&self) -> u64 {
        self.replay[0].min(self.replay[1])
    }
}

/// The output of one child. Clones share it. The log is removed when the last
/// clone is dropped, unless [`Output::keep_log`] was called.
#[derive(Clone)]
pub struct Output {
    pub(super) shared: Arc<OutputShared>,
}

pub(super) struct OutputShared {
    pub(super) state: Mutex<OutputState>,
}

pub(super) struct OutputState {
    pub(super) store: ByteStore,
    pub(super) arrivals: Arrivals,
    written: u64,
    last_write: Option<Instant>,
    pub(super) is_finished: bool,
    /// The writing program has exited. Another may follow unless `is_finished`.
    pub(super) run_ended: bool,
    keeps_log: bool,
    /// Created on first use: most outputs are never watched.
    changes: Option<watch::Sender<u64>>,
    pub(super) watchers: Vec<Watcher>,
    pub(super) next_watcher: u64,
    last_lines: [LastLine; 2],
    whole: [WholeCharacters; 2],
    /// The offsets of the last three bytes of each stream.
    tails: [[u64; 3]; 2],
    held: Option<Box<HeldObject>>,
    /// The offset at which the current program started to write.
    run_began: u64,
    /// The offsets at which the stream changed, as far back as output is
    /// stored.
    segments: VecDeque<(u64, Stream)>,
    /// Set once bytes were forgotten.
    forgetting: Option<Box<Forgetting>>,
}

impl Output {
    /// An empty output.
    pub fn new(options: OutputOptions) -> Self {
        Self::go_on(options, &Checkpoint::default(), |options| {
            ByteStore::new(options.memory, options.log, options.log_limit)
        })
    }

    /// Restores the output of another process at this checkpoint. `options`
    /// must be those of that output; its log is reused in place. The caller
    /// then pushes everything from [`Checkpoint::replay`] on.
    pub fn resume(options: OutputOptions, checkpoint: &Checkpoint) -> Self {
        let stored = checkpoint.stored;
        let output = Self::go_on(options, checkpoint, |options| {
            let OutputOptions {
                memory,
                log,
                log_limit,
                ..
            } = options;
            ByteStore::resume(memory, log, log_limit, checkpoint)
        });
        let tail = output.raw(stored.saturating_sub(LAST_LINE_TAIL)..stored);
        output.shared.state.lock().last_lines[Stream::Stdout as usize].push(&tail);
        output
    }

    fn go_on(
        options: OutputOptions,
        from: &Checkpoint,
        store: impl FnOnce(OutputOptions) -> ByteStore,
    ) -> Self {
        let hold_object = options.hold_object && !from.released;
        let state = OutputState {
            store: store(options),
            arrivals: Arrivals::default(),
            written: from.stored,
            last_write: None,
            is_finished: false,
            run_ended: false,
            keeps_log: false,
            changes: None,
            watchers: Vec::new(),
            next_watcher: 0,
            last_lines: Default::default(),
            whole: Default::default(),
            tails: Default::default(),
            held: hold_object.then(Box::default),
            run_began: from.replay[Stream::Stdout as usize],
            segments: VecDeque::new(),
            forgetting: None,
        };
        Self {
            shared: Arc::new(OutputShared {
                state: Mutex::new(state),
            }),
        }
    }

    /// Appends bytes that the child wrote. Ignored after [`Output::finish`],
    /// and between [`Output::end_run`] and [`Output::begin_run`].
    pub fn push(&self, stream: Stream, bytes: &[u8]) {
        self.add(stream, bytes);
        self.announce();
    }

    /// Appends bytes that the child wrote. They are readable at once, but
    /// waiting readers are woken only by [`Output::announce`].
    pub fn add(&self, stream: Stream, bytes: &[u8]) {
        let mut state = self.shared.state.lock();
        let at = state.written;
        state.add(stream, at, bytes);
    }

    /// Appends bytes that were pushed at offset `at` before the output was
    /// resumed. Waiting readers are woken only by [`Output::announce`].
    pub fn add_again(&self, stream: Stream, at: u64, bytes: &[u8]) {
        self.shared.state.lock().add(stream, at, bytes);
    }

    /// Flushes the log, creating it if necessary, and returns a position from
    /// which another process can continue. Without a log, everything before the
    /// checkpoint is lost to that process.
    pub fn checkpoint(&self) -> Checkpoint {
        let mut state = self.shared.state.lock();
        state.store.spill();
        state.checkpoint()
    }

    /// Declares that nobody will read the bytes before this offset. They are no
    /// longer written to the log, and are lost when they leave memory.
    pub fn forget_before(&self, offset: u64) {
        let mut state = self.shared.state.lock();
        state.store.forget_before(offset);
        state.forgetting.get_or_insert_default().advance(offset);
    }

    /// A position before which every byte was forgotten, if there is a new one.
    /// Another process can continue from it without a log.
    pub fn forgotten_checkpoint(&self) -> Option<Checkpoint> {
        self.shared.state.lock().forgetting.as_mut()?.take()
    }

    /// Wakes all waiting readers.
    pub fn announce(&self) {
        self.shared.state.lock().announce();
    }

    /// Starts the run of another program on this output, after
    /// [`Output::end_run`]. Offsets continue; last lines are reset. With
    /// `hold_object`, standard output is held while it may be one JSON object.
    /// Counts as a write for [`Output::last_write`]. Ignored after
    /// [`Output::finish`].
    pub fn begin_run(&self, hold_object: bool) {
        let mut state = self.shared.state.lock();
        if !state.is_finished {
            state.run_ended = false;
            state.run_began = state.written;
            state.last_write = Some(now());
            state.last_lines = Default::default();
            state.held = hold_object.then(Box::default);
        }
    }

    /// Ends the run of the writing program: pushes are ignored until
    /// [`Output::begin_run`]. Readers that wait for a line keep waiting.
    pub fn end_run(&self) {
        let mut state = self.shared.state.lock();
        if !state.run_ended {
            state.end_run();
            state.announce();
        }
    }

    /// Finishes the output. Later pushes are ignored.
    pub fn finish(&self) {
        let mut state = self.shared.state.lock();
        if state.is_finished {
            return;
        }
        if !state.run_ended {
            state.end_run();
        }
        state.is_finished = true;
        for watcher in std::mem::take(&mut state.watchers) {
            watcher.finished();
        }
        state.announce();
    }

    /// The number of bytes pushed, including held ones.
    pub fn written(&self) -> u64 {
        self.shared.state.lock().written
    }

    /// The time of the last push.
    pub fn last_write(&self) -> Option<Instant> {
        self.shared.state.lock().last_write
    }

    /// The number of bytes that had arrived at `time`, accurate to a fraction
    /// of a second.
    pub fn written_at(&self, time: Instant) -> u64 {
        self.shared.state.lock().arrivals.written_at(time)
    }

    /// Whether the output is complete.
    pub fn is_finished(&self) -> bool {
        self.shared.state.lock().is_finished
    }

    /// [`Output::written`] as it grows. Also marked as changed by
    /// [`Output::finish`] and [`Output::release`].
    pub fn changes(&self) -> watch::Receiver<u64> {
        let mut state = self.shared.state.lock();
        let written = state.written;
        let changes = state
            .changes
            .get_or_insert_with(|| watch::Sender::new(written));
        // Pushes without a listener were not announced.
        changes.send_if_modified(|value| std::mem::replace(value, written) != written);
        changes.subscribe()
    }

    /// The current end of the readable output.
    pub fn position(&self) -> u64 {
        self.shared.state.lock().store.end()
    }

    /// The stream that the byte at an offset came from, and the offset at which the stream changes next. Only the newest
    /// changes are remembered; bytes before them count as standard output.
    pub fn stream_at(&self, offset: u64) -> (Stream, Option<u64>) {
        let state = self.shared.state.lock();
        let next = state.segments.partition_point(|(at, _)| *at <= offset);
        let stream = next.checked_sub(1).map(|index| state.segments[index].1);
        let change = state.segments.get(next).map(|(at, _)| *at);
        (stream.unwrap_or(Stream::Stdout), change)
    }

    /// The last line of a stream that is not blank, as a terminal would show it,
    /// at most 200 characters of it.
    pub fn last_line(&self, stream: Stream) -> Option<String> {
        self.shared.state.lock().last_lines[stream as usize].get()
    }

    /// Standard output, if it was held during the last run and was one JSON
    /// object, judged by its braces. It stays held, so that [`Output::release`]
    /// can still show it.
    pub fn take_object(&self) -> Option<String> {
        let state = self.shared.state.lock();
        let held = state.held.as_ref().filter(|_| state.run_ended)?;
        held.object().map(str::to_owned)
    }

    /// Makes held bytes readable as plain text, and holds no more.
    pub fn release(&self) {
        let mut state = self.shared.state.lock();
        if state.held.is_some() {
            state.release();
            state.announce();
        }
    }

    /// Keeps the log file when the last clone of this output is dropped.
    pub fn keep_log(&self) {
        self.shared.state.lock().keeps_log = true;
    }
}

/// The number of changes between stdout and stderr that are remembered.
const SEGMENTS: usize = 1024;

/// The number of bytes of the log that are searched for the last line when an
/// output is resumed.
const LAST_LINE_TAIL: u64 = 4096;

/// The time by tokio's clock, which a test may pause.
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

impl OutputState {
    fn add(&mut self, stream: Stream, at: u64, bytes: &[u8]) {
        if self.run_ended || bytes.is_empty() {
            return;
        }
        let length = bytes.len() as u64;
        self.written += length;
        self.last_write = Some(now());
        let tail = &mut self.tails[stream as usize];
        for offset in (at + length).saturating_sub(3).max(at)..at + length {
            *tail = [tail[1], tail[2], offset];
        }
        self.accept(stream, bytes);
        let end = self.store.end();
        let is_due = |forgetting: &Forgetting| forgetting.is_due(end);
        if self.forgetting.as_deref().is_some_and(is_due) {
            let checkpoint = Checkpoint {
                base: end,
                ..self.checkpoint()
            };
            if let Some(forgetting) = &mut self.forgetting {
                forgetting.note(checkpoint);
            }
        }
    }

    fn checkpoint(&self) -> Checkpoint {
        let held = self.held.as_deref().is_some_and(|held| !held.is_empty());
        let replay = [Stream::Stdout, Stream::Stderr].map(|stream| {
            let kept = self.whole[stream as usize].len();
            match stream {
                Stream::Stdout if held => self.run_began,
                _ if kept > 0 => self.tails[stream as usize][3 - kept],
                _ => self.written,
            }
        });
        Checkpoint {
            stored: self.store.end(),
            newlines: self.store.newlines(),
            replay,
            base: self.store.base(),
            hole_end: self.store.hole_end(),
            released: self.held.is_none(),
        }
    }

    /// Takes pushed bytes, and holds them if they may be an object.
    fn accept(&mut self, stream: Stream, bytes: &[u8]) {
        if stream == Stream::Stdout
            && let Some(held) = &mut self.held
        {
            if held.push(bytes) {
                return;
            }
            self.release();
        }
        self.append(stream, bytes);
    }

    /// Appends readable bytes.
    fn append(&mut self, stream: Stream, bytes: &[u8]) {
        let bytes = &*self.whole[stream as usize].push(bytes);
        self.show(stream, bytes);
    }

    fn show(&mut self, stream: Stream, bytes: &[u8]) {
        let last = self.segments.back().map_or(Stream::Stdout, |it| it.1);
        if last != stream && !bytes.is_empty() {
            if self.segments.len() == SEGMENTS {
                self.segments.pop_front();
            }
            self.segments.push_back((self.store.end(), stream));
        }
        self.store.append(bytes);
        let now = self.last_write.unwrap_or_else(now);
        self.arrivals.note(self.store.end(), now);
        self.last_lines[stream as usize].push(bytes);
        if !self.watchers.is_empty() {
            let watchers = std::mem::take(&mut self.watchers);
            let rest = watchers
                .into_iter()
                .filter_map(|watcher| watcher.pushed(bytes));
            self.watchers = rest.collect();
        }
    }

    fn release(&mut self) {
        if let Some(held) = self.held.take() {
            self.append(Stream::Stdout, &held.into_bytes());
        }
        if self.run_ended {
            self.finish_streams();
        }
    }

    fn end_run(&mut self) {
        let held = self.held.as_deref();
        if held.and_then(HeldObject::object).is_none() {
            self.release();
        }
        self.run_ended = true;
        self.finish_streams();
    }

    /// Flushes incomplete characters and lines.
    fn finish_streams(&mut self) {
        for stream in [Stream::Stdout, Stream::Stderr] {
            let kept = self.whole[stream as usize].take();
            self.show(stream, &kept);
        }
        self.store.sync();
    }

    fn announce(&self) {
        if let Some(changes) = &self.changes
            && changes.receiver_count() > 0
        {
            changes.send_replace(self.written);
        }
    }
}

impl fmt::Debug for Output {
    /// Prints the size only: the content may be long or secret.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.shared.state.lock();
        formatter
            .debug_struct("Output")
            .field("written", &state.written)
            .field("is_finished", &state.is_finished)
            .finish_non_exhaustive()
    }
}

impl Drop for OutputShared {
    fn drop(&mut self) {
        let state = self.state.get_mut();
        if !state.keeps_log {
            state.store.remove_log();
        }
    }
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "checkpoint_tests.rs"]
mod checkpoint_tests;
