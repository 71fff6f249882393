//! The output of a job, for all executors and readers.
//!
//! Executors push bytes ([`JobOutput::bytes`]) or messages
//! ([`JobOutput::say`]); for a terminal they attach a screen. Bytes are
//! addressed by their offset from the start of the job, across all programs
//! that the job runs. The assistant has one read position. Observers use
//! [`JobOutput::log`] and [`JobOutput::preview`], which do not move it.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use regex::Regex;
use windlass_output::{
    Cursor, LoggedOutput, Output, OutputOptions, Screen, ScreenReader, ScreenView, Stream,
};
use windlass_protocol::{LineRange, ShownInPart, View};

use crate::digesting::{DigestReader, InPart};

/// The amount of unread text that is carried over when a terminal program
/// replaces one without.
const CARRIED: usize = 64 << 10;
/// The length of an excerpt that certainly omits something, which ensures that
/// there is a log.
const EXCERPT: usize = 1024;

/// The complete output of a tool, and its assistant's read position. Clones
/// share it.
#[derive(Clone)]
pub struct JobOutput {
    inner: Arc<JobOutputInner>,
}

struct JobOutputInner {
    bytes: Output,
    /// The output consists of messages, one line each, without a newline after
    /// the last one.
    messages: bool,
    started: Instant,
    screen: OnceLock<Arc<Mutex<Screen>>>,
    reader: Mutex<AssistantReader>,
    /// Called with the assistant's read position.
    noting: OnceLock<NoteRead>,
}

/// Records the assistant's read position.
type NoteRead = Box<dyn Fn(u64) + Send + Sync>;

/// The assistant's read position.
#[derive(Default)]
struct AssistantReader {
    cursor: Cursor,
    digest: DigestReader,
    screen: ScreenReader,
    /// Unread text from before the screen was attached.
    carried: String,
    last_input: u64,
}

/// A piece of a job's output, as its assistant reads it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reading {
    /// The text.
    pub text: String,
    /// The number of bytes left out.
    pub omitted_bytes: u64,
    /// The file with all of the output, if something was left out.
    pub log: Option<PathBuf>,
    /// The terminal's cursor, as row and column from 1 on, while a program has the whole screen to itself.
    pub cursor: Option<(u16, u16)>,
    /// The digest figures, if lines were left out with markers.
    pub digest: Option<ShownInPart>,
}

/// The start of a search by [`JobOutput::find`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// The start of the job, or its last input.
    LastInput,
    /// Now.
    Now,
}

impl JobOutput {
    /// An output of bytes. Its log is kept until the session removes it.
    pub fn new(options: OutputOptions) -> Self {
        Self::over(Output::new(options), false)
    }

    /// The output of an adopted program. The assistant has read up to this
    /// offset.
    pub fn resumed(bytes: Output, read: u64) -> Self {
        let output = Self::over(bytes, false);
        let cursor = output.inner.bytes.cursor_at(read);
        output.inner.reader.lock().cursor = cursor;
        output
    }

    /// The output of an adopted terminal program, and the assistant's view of
    /// its screen.
    pub fn resumed_on_screen(
        bytes: Output,
        screen: Arc<Mutex<Screen>>,
        seen: ScreenReader,
    ) -> Self {
        let output = Self::over(bytes, false);
        output.inner.reader.lock().screen = seen;
        let _ = output.inner.screen.set(screen);
        output
    }

    /// An output of messages, which [`JobOutput::say`] adds.
    pub fn of_messages(options: OutputOptions) -> Self {
        Self::over(Output::new(options), true)
    }

    fn over(bytes: Output, messages: bool) -> Self {
        bytes.keep_log();
        Self {
            inner: Arc::new(JobOutputInner {
                bytes,
                messages,
                started: tokio::time::Instant::now().into_std(),
                screen: OnceLock::new(),
                reader: Mutex::default(),
                noting: OnceLock::new(),
            }),
        }
    }
}

/// For executors.
impl JobOutput {
    /// The bytes, for pushing or for a process.
    pub fn bytes(&self) -> &Output {
        &self.inner.bytes
    }

    /// Adds a message with a newline. Returns the number of bytes added.
    pub fn say(&self, message: &str) -> u64 {
        let before = self.written();
        let mut line = message.to_owned();
        line.push('\n');
        self.inner.bytes.push(Stream::Stdout, line.as_bytes());
        self.written() - before
    }

    /// Makes the assistant read this screen from now on, after its unread text.
    /// Only the first screen of a job counts.
    pub fn attach_screen(&self, screen: Arc<Mutex<Screen>>) {
        let mut reader = self.inner.reader.lock();
        let rest = self.inner.bytes.read(&mut reader.cursor, CARRIED);
        reader.carried.push_str(&rest.text);
        // A second one is a mistake of the executor, without consequences.
        let _ = self.inner.screen.set(screen);
    }

    /// Calls `note` with the assistant's read position after every read. Only
    /// the first callback counts.
    pub fn note_reads(&self, note: impl Fn(u64) + Send + Sync + 'static) {
        let _ = self.inner.noting.set(Box::new(note));
    }

    /// Records that the tool got input when it had written `at` bytes: the new
    /// [`Since::LastInput`].
    pub fn note_input(&self, at: u64) {
        self.inner.reader.lock().last_input = at;
    }

    /// Finishes the output, which ends pending searches.
    pub fn finish(&self) {
        self.inner.bytes.finish();
    }
}

/// For readers.
impl JobOutput {
    /// Reads for the assistant, at most `limit` bytes. Every view moves the
    /// position to the end.
    pub fn read(&self, view: View, limit: usize) -> Reading {
        self.read_in_part(view, None, limit)
    }

    /// [`JobOutput::read`] that leaves out lines of long plain text, if
    /// requested. Short text is read unchanged.
    pub(crate) fn read_in_part(
        &self,
        view: View,
        in_part: Option<InPart>,
        limit: usize,
    ) -> Reading {
        let bytes = &self.inner.bytes;
        let mut reader = self.inner.reader.lock();
        if let Some(note) = self.inner.noting.get() {
            note(bytes.position());
        }
        if let Some(screen) = self.inner.screen.get() {
            return self.read_screen(&mut reader, &mut screen.lock(), view, limit);
        }
        if self.inner.messages {
            if let Some(text) = self.read_messages(&mut reader, view, limit) {
                return Reading {
                    text,
                    ..Reading::default()
                };
            }
        } else if let Some(in_part) = in_part {
            let AssistantReader { cursor, digest, .. } = &mut *reader;
            let reading = match view {
                View::New => digest.read(bytes, cursor, in_part, limit),
                View::Screen | View::All => {
                    let mut from_start = Cursor::default();
                    let mut digest = DigestReader::default();
                    let reading = digest.read(bytes, &mut from_start, in_part, limit);
                    if reading.is_some() {
                        *cursor = from_start;
                    }
                    reading
                }
            };
            if let Some(reading) = reading {
                return reading;
            }
        }
        let excerpt = match view {
            View::New => bytes.read(&mut reader.cursor, limit),
            View::Screen | View::All => {
                reader.cursor = bytes.end_cursor();
                bytes.read_all(limit)
            }
        };
        let mut text = excerpt.text;
        if self.inner.messages && text.ends_with('\n') {
            text.pop();
        }
        Reading {
            text,
            omitted_bytes: excerpt.omitted_bytes,
            log: excerpt.log,
            ..Reading::default()
        }
    }

    /// Lines by number, and the number of complete lines. Does not move the
    /// position.
    pub fn lines(&self, lines: LineRange, limit: usize) -> (String, u64) {
        let bytes = &self.inner.bytes;
        let complete = bytes.end_cursor().lines();
        let last = bytes.line_range(complete + 1..=complete + 1, limit);
        let count = complete + u64::from(!last.is_empty());
        (bytes.line_range(lines.numbers(), limit), count)
    }

    /// The number of the line that the byte at an offset is part of, from 1 on.
    pub fn line_at(&self, offset: u64) -> u64 {
        self.inner.bytes.cursor_at(offset).lines() + 1
    }

    /// The output in its log, if it has one or can have one.
    pub(crate) fn logged(&self) -> Option<LoggedOutput> {
        self.inner.bytes.logged()
    }

    /// An output of which only the log remains.
    pub(crate) fn of_log(logged: &LoggedOutput) -> Self {
        Self::over(logged.open(), false)
    }

    /// Reads messages unchanged, unless they are too long.
    fn read_messages(
        &self,
        reader: &mut AssistantReader,
        view: View,
        limit: usize,
    ) -> Option<String> {
        let bytes = &self.inner.bytes;
        let end = bytes.position();
        let from = match view {
            View::New => reader.cursor.position(),
            View::Screen | View::All => 0,
        };
        let length = usize::try_from(end - from).ok();
        let length = length.filter(|length| *length <= limit)?;
        let raw = bytes.raw(from..end);
        let mut text = String::from_utf8(raw)
            .ok()
            .filter(|text| text.len() == length)?;
        reader.cursor = Cursor::at(end);
        if text.ends_with('\n') {
            text.pop();
        }
        Some(text)
    }

    fn read_screen(
        &self,
        reader: &mut AssistantReader,
        screen: &mut Screen,
        view: View,
        limit: usize,
    ) -> Reading {
        let view = match view {
            View::New => ScreenView::New,
            View::Screen => ScreenView::Screen,
            View::All => ScreenView::All,
        };
        let shown = screen.read(&mut reader.screen, view, limit);
        let cut = (shown.omitted_bytes > 0).then(|| self.inner.bytes.read_all(EXCERPT));
        let mut text = std::mem::take(&mut reader.carried);
        text.push_str(&shown.text);
        Reading {
            text,
            omitted_bytes: shown.omitted_bytes,
            log: cut.and_then(|excerpt| excerpt.log),
            cursor: shown.full_screen.then(|| screen.cursor()),
            digest: None,
        }
    }

    /// The end of the output, at most about `limit` bytes, in whole lines if
    /// possible. For a full-screen program, the end of the screen.
    pub fn preview(&self, limit: usize) -> String {
        if let Some(screen) = self.inner.screen.get() {
            let mut screen = screen.lock();
            if screen.is_full_screen() {
                return end_of(&screen.rows(), limit);
            }
        }
        let bytes = &self.inner.bytes;
        let from = bytes.position().saturating_sub(limit as u64);
        let text = bytes.read(&mut Cursor::at(from), limit.max(256)).text;
        match text.split_once('\n') {
            Some((_, rest)) if from > 0 && !rest.is_empty() => rest.to_owned(),
            _ => text,
        }
    }

    /// The last line that is not blank, of stdout or else of stderr. For a
    /// terminal program, a line of its screen.
    pub fn last_line(&self) -> Option<String> {
        if let Some(screen) = self.inner.screen.get() {
            return screen.lock().last_line();
        }
        let bytes = &self.inner.bytes;
        let line = bytes.last_line(Stream::Stdout);
        line.or_else(|| bytes.last_line(Stream::Stderr))
    }

    /// The number of bytes written.
    pub fn written(&self) -> u64 {
        self.inner.bytes.position()
    }

    /// The raw bytes of a range of offsets. Bytes that are no longer stored are
    /// left out.
    pub fn log(&self, range: Range<u64>) -> Vec<u8> {
        self.inner.bytes.raw(range)
    }

    /// The number of bytes that had arrived `age` ago.
    pub fn written_before(&self, age: Duration) -> u64 {
        let now = tokio::time::Instant::now().into_std();
        now.checked_sub(age)
            .map_or(0, |time| self.inner.bytes.written_at(time))
    }

    /// The time of the last write, or of the start.
    pub fn last_write(&self) -> Instant {
        let last = self.inner.bytes.last_write();
        last.unwrap_or(self.inner.started)
    }

    /// Resolves to the first line that matches, or to `None` when the job ends
    /// without one.
    pub fn find(&self, pattern: Regex, since: Since) -> BoxFuture<'static, Option<String>> {
        let from = match since {
            Since::LastInput => self.inner.reader.lock().last_input,
            Since::Now => self.written(),
        };
        Box::pin(self.inner.bytes.find(pattern, from))
    }
}

/// The last rows of a screen that fit into `limit` bytes, at least one.
fn end_of(rows: &[String], limit: usize) -> String {
    let length = rows
        .iter()
        .rposition(|row| !row.is_empty())
        .map_or(0, |last| last + 1);
    let rows = &rows[..length];
    let mut size = 0;
    let fitting = rows.iter().rev().take_while(|row| {
        size += row.len() + 1;
        size <= limit
    });
    let count = fitting.count().clamp(usize::from(length > 0), length);
    rows[length - count..].join("\n")
}

#[cfg(test)]
#[path = "job_output_tests.rs"]
mod tests;
