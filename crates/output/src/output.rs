//! The output of one tool, as one side fills it and others read it.
//!
//! Start at [`Output::push`]. All state is behind one lock. What is read of it is
//! in `read`, what is waited for in `find`.

use std::collections::VecDeque;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use tokio::sync::watch;

use super::arrivals::Arrivals;
use super::last_line::LastLine;
use super::matcher::Watcher;
use super::object::HeldObject;
use super::store::Store;
use super::whole::WholeCharacters;

/// Which of a child's streams bytes came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Standard output, and everything from a terminal.
    Stdout,
    /// Standard error.
    Stderr,
}

/// How much of an output is kept, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputOptions {
    /// How many of the newest bytes are kept in memory; 256 KiB by default.
    pub memory: usize,
    /// How much disk the log may take, give or take a few MiB; 1 GiB by default.
    /// Beyond it the log keeps its first half and the newest bytes.
    pub log_limit: u64,
    /// Where the log is made if output outgrows memory, or if a read leaves
    /// something out. Nothing may lie there yet. `None`: there is no log, and
    /// what outgrows memory is lost.
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

/// How far an output has come, for another process to go on from there with [`Output::resume`].
///
/// Everything before it is in the log. What was pushed after it has to be pushed again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// The number of bytes that are in the log.
    pub stored: u64,
    /// The number of newlines among them.
    pub newlines: u64,
    /// For stdout and stderr: the offset among all pushed bytes from which that stream's have to be pushed again.
    pub replay: [u64; 2],
    /// The end of the hole in the log, 0 if it has none.
    pub hole_end: u64,
    /// Whether stdout is plain text by now: it is no longer held as an object that may become complete.
    pub released: bool,
}

impl Checkpoint {
    /// The offset of the first byte that has to be pushed again.
    pub fn replay_from(&self) -> u64 {
        self.replay[0].min(self.replay[1])
    }
}

/// One child's output. Clones are the same output; the log is removed with the
/// last of them unless [`Output::keep_log`] was called.
#[derive(Clone)]
pub struct Output {
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub(super) state: Mutex<State>,
}

pub(super) struct State {
    pub(super) store: Store,
    pub(super) arrivals: Arrivals,
    written: u64,
    last_write: Option<Instant>,
    pub(super) is_finished: bool,
    /// The program that writes has exited. Another may follow unless `is_finished`.
    pub(super) run_ended: bool,
    keeps_log: bool,
    /// Made when somebody asks for it: most outputs are never watched.
    changes: Option<watch::Sender<u64>>,
    pub(super) watchers: Vec<Watcher>,
    pub(super) next_watcher: u64,
    last_lines: [LastLine; 2],
    whole: [WholeCharacters; 2],
    /// The offsets of the last three bytes of each stream.
    tails: [[u64; 3]; 2],
    held: Option<Box<HeldObject>>,
    /// Where the program that writes began.
    run_began: u64,
    /// The offsets at which the stream changed, of what can be read.
    segments: VecDeque<(u64, Stream)>,
}

impl Output {
    /// An output with nothing in it.
    pub fn new(options: OutputOptions) -> Self {
        Self::go_on(options, &Checkpoint::default(), |options| {
            Store::new(options.memory, options.log, options.log_limit)
        })
    }

    /// The output of another process again, as it was at this checkpoint. The options are those of that output; its log
    /// is used where it lies. Everything that [`Checkpoint::replay`] names is to be pushed next.
    pub fn resume(options: OutputOptions, checkpoint: &Checkpoint) -> Self {
        let stored = checkpoint.stored;
        let output = Self::go_on(options, checkpoint, |options| {
            let OutputOptions {
                memory,
                log,
                log_limit,
                ..
            } = options;
            Store::resume(memory, log, log_limit, checkpoint)
        });
        let tail = output.raw(stored.saturating_sub(LAST_LINE_TAIL)..stored);
        output.shared.state.lock().last_lines[Stream::Stdout as usize].push(&tail);
        output
    }

    fn go_on(
        options: OutputOptions,
        from: &Checkpoint,
        store: impl FnOnce(OutputOptions) -> Store,
    ) -> Self {
        let hold_object = options.hold_object && !from.released;
        let state = State {
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
        };
        Self {
            shared: Arc::new(Shared {
                state: Mutex::new(state),
            }),
        }
    }

    /// Adds what the child wrote. Nothing is added after [`Output::finish`], nor between [`Output::end_run`] and
    /// [`Output::begin_run`].
    pub fn push(&self, stream: Stream, bytes: &[u8]) {
        self.add(stream, bytes);
        self.announce();
    }

    /// Adds a piece of what the child wrote; it can be read at once, but nobody is woken for it before
    /// [`Output::announce`].
    pub fn add(&self, stream: Stream, bytes: &[u8]) {
        let mut state = self.shared.state.lock();
        let at = state.written;
        state.add(stream, at, bytes);
    }

    /// Adds what had been pushed at offset `at` of an output before it was resumed. Nobody is woken for it before
    /// [`Output::announce`].
    pub fn add_again(&self, stream: Stream, at: u64, bytes: &[u8]) {
        self.shared.state.lock().add(stream, at, bytes);
    }

    /// Brings the log up to date, making it if need be, and says from where another process could go on. Where there is
    /// no log, everything before the checkpoint would be missing there.
    pub fn checkpoint(&self) -> Checkpoint {
        let mut state = self.shared.state.lock();
        state.store.spill();
        state.checkpoint()
    }

    /// Wakes those who wait for output.
    pub fn announce(&self) {
        self.shared.state.lock().announce();
    }

    /// Begins the run of another program that writes to this output, after [`Output::end_run`]. Offsets go on from
    /// where they are; last lines begin anew. With `hold_object` its standard output is held while it may be one JSON
    /// object. It counts as a write for [`Output::last_write`]. Nothing happens after [`Output::finish`].
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

    /// Ends the run of the program that writes: nothing is added until [`Output::begin_run`]. Readers that wait for a
    /// line go on waiting.
    pub fn end_run(&self) {
        let mut state = self.shared.state.lock();
        if !state.run_ended {
            state.end_run();
            state.announce();
        }
    }

    /// Ends the output: nothing more will come.
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

    /// How many bytes were pushed, held ones included.
    pub fn written(&self) -> u64 {
        self.shared.state.lock().written
    }

    /// When bytes were last pushed.
    pub fn last_write(&self) -> Option<Instant> {
        self.shared.state.lock().last_write
    }

    /// The number of bytes that had arrived at `time`, known to a fraction of a second.
    pub fn written_at(&self, time: Instant) -> u64 {
        self.shared.state.lock().arrivals.written_at(time)
    }

    /// Whether nothing more will come.
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
        // Pushes that nobody listened to were not announced.
        changes.send_if_modified(|value| std::mem::replace(value, written) != written);
        changes.subscribe()
    }

    /// A mark: where the output that can be read stands now.
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

    /// The text of standard output, if it was held during the run that has ended and was one JSON object as far as
    /// braces tell. It stays held, so that [`Output::release`] can still show it.
    pub fn take_object(&self) -> Option<String> {
        let state = self.shared.state.lock();
        let held = state.held.as_ref().filter(|_| state.run_ended)?;
        held.object().map(str::to_owned)
    }

    /// Makes what is held readable as plain text, and holds nothing from now on.
    pub fn release(&self) {
        let mut state = self.shared.state.lock();
        if state.held.is_some() {
            state.release();
            state.announce();
        }
    }

    /// Leaves the log where it is when the last clone of this output is dropped.
    pub fn keep_log(&self) {
        self.shared.state.lock().keeps_log = true;
    }
}

/// How many changes between stdout and stderr are remembered.
const SEGMENTS: usize = 1024;

/// How much of the log is looked at for the last line, when an output is resumed.
const LAST_LINE_TAIL: u64 = 4096;

/// The time by tokio's clock, which a test may pause.
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

impl State {
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
            hole_end: self.store.hole_end(),
            released: self.held.is_none(),
        }
    }

    /// Takes in what was pushed, which may have to be held.
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

    /// Adds what can be read from now on.
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

    /// Nothing will complete what is incomplete.
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
    /// Says how much there is, not what: it may be long, or nobody's business.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.shared.state.lock();
        formatter
            .debug_struct("Output")
            .field("written", &state.written)
            .field("is_finished", &state.is_finished)
            .finish_non_exhaustive()
    }
}

impl Drop for Shared {
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
