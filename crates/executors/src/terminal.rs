//! A program on a terminal: what it draws becomes a screen, and the assistant
//! reads what is new on it.
//!
//! Start at [`TerminalJob::start`]. A follower watches for the exit and for a
//! prompt that wants a secret, which becomes a question for the person.

use std::ops::Range;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use regex::Regex;
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use windlass_process::{
    Command, Launcher, OutputOptions, Process, Prompt, Screen, ScreenReader, ScreenView, Stream,
    Terminal, TerminalSize,
};
use windlass_protocol::{AnswerType, Question, ScreenUpdate, ToolError, Typing, View};
use windlass_runtime::{Job, Keyboard, Reading, Receipt, Reporter, Since, ToolEvent};

use crate::ending::{self, tail, to_receipt};
use crate::kept::Kept;
use crate::keys::{self, KeyModes};
use crate::recording::Recording;
use crate::viewing;
use crate::writing::Writing;

/// Less than any output of which something was left out.
const EXCERPT: usize = 1024;

/// What to run.
pub(crate) struct TerminalPlan {
    pub(crate) launcher: Launcher,
    pub(crate) command: Command,
    pub(crate) log: Option<PathBuf>,
    pub(crate) grace: Duration,
    pub(crate) kept: Kept,
}

/// A program on its terminal.
pub(crate) struct TerminalJob {
    process: Process,
    screen: Arc<Mutex<Screen>>,
    /// The screen's generation, for those who draw it.
    drawn: watch::Sender<u64>,
    reader: Mutex<Reader>,
    watch: Arc<Watch>,
    started: Instant,
    follower: AbortHandle,
}

#[derive(Default)]
struct Reader {
    screen: ScreenReader,
    /// Where the output stood at the last input.
    last_input: u64,
}

/// Where a job stands, for those who wait for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    Ended,
}

impl Drop for TerminalJob {
    fn drop(&mut self) {
        self.follower.abort();
    }
}

impl TerminalJob {
    pub(crate) async fn start(
        plan: TerminalPlan,
        reporter: Reporter,
    ) -> Result<Arc<Self>, ToolError> {
        let TerminalSize { rows, cols } = plan.kept.size;
        let screen = Arc::new(Mutex::new(Screen::new(rows, cols)));
        let cast = plan.log.as_ref().filter(|_| plan.kept.record);
        let mut recording =
            cast.map(|log| Recording::new(&log.with_extension("cast"), plan.kept.size));
        let fed = Arc::clone(&screen);
        let drawn = watch::Sender::new(0);
        let drawing = drawn.clone();
        let tap = move |bytes: &[u8]| {
            if let Some(recording) = &mut recording {
                recording.write(bytes);
            }
            let mut screen = fed.lock();
            let replies = screen.feed(bytes);
            drawing.send_replace(screen.generation());
            replies
        };
        let command = plan
            .command
            .terminal_with(plan.kept.size, tap)
            .grace(plan.grace)
            .output(OutputOptions {
                log: plan.log,
                log_limit: plan.kept.log_limit,
                ..OutputOptions::default()
            });
        let process = plan
            .launcher
            .start(command)
            .await
            .map_err(|error| ending::start_error(&error))?;
        process.output().keep_log();
        let watch = Arc::new(Watch {
            process: process.clone(),
            screen: Arc::clone(&screen),
            reporter,
            phase: watch::Sender::new(Phase::Running),
            asked: Mutex::new(None),
            answers: watch::Sender::default(),
            aborted: AtomicBool::new(false),
        });
        let follower = tokio::spawn(Arc::clone(&watch).follow());
        Ok(Arc::new(Self {
            process,
            screen,
            drawn,
            reader: Mutex::default(),
            watch,
            started: Instant::now(),
            follower: follower.abort_handle(),
        }))
    }

    fn modes(&self) -> KeyModes {
        let modes = self.screen.lock().modes();
        KeyModes {
            application_cursor: modes.application_cursor,
            bracketed_paste: modes.bracketed_paste,
        }
    }

    /// What a typing sends, and its text.
    fn bytes_of(&self, typing: &Typing) -> Result<(Vec<u8>, String), String> {
        let modes = self.modes();
        let mut bytes = Vec::new();
        let mut typed = String::new();
        if let Some(input) = &typing.input {
            typed = match input {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            bytes = keys::text(&typed, typing.enter, modes);
        }
        for name in &typing.keys {
            bytes.extend(keys::key(name, modes)?);
        }
        Ok((bytes, typed))
    }

    fn prompt(&self) -> Option<Prompt> {
        if self.process.exit().is_some() {
            return None;
        }
        self.process.terminal()?.prompt()
    }
}

// ── Following ──────────────────────────────────────────────────────────────

/// What the follower and whoever waits for the job to settle share.
struct Watch {
    process: Process,
    screen: Arc<Mutex<Screen>>,
    reporter: Reporter,
    phase: watch::Sender<Phase>,
    /// How much had been written when a secret was last asked for, so that one
    /// prompt is told once.
    asked: Mutex<Option<u64>>,
    /// How many secrets were given.
    answers: watch::Sender<u64>,
    /// Everything is being ended, so that nothing is left running even if some
    /// of it is not gone yet.
    aborted: AtomicBool,
}

impl Watch {
    async fn follow(self: Arc<Self>) {
        let mut writing = Writing::of(self.process.output(), self.reporter.clone());
        let mut looking = pin!(self.look_for_secrets());
        let exit = loop {
            tokio::select! {
                biased;
                exit = self.process.wait() => break exit,
                () = writing.more() => {}
                () = &mut looking => {}
            }
        };
        writing.rest();
        let mut ending = ending::of_exit(&exit, self.process.output(), Stream::Stdout);
        if !self.aborted.load(Ordering::Acquire) {
            ending.left_running = self.process.remaining().await;
        }
        self.reporter.report(ToolEvent::Ended(ending));
        self.phase.send_replace(Phase::Ended);
    }

    /// Tells every prompt for a secret, for as long as the program runs. The
    /// next prompt is another only if this one was answered, or the program
    /// has written since.
    async fn look_for_secrets(&self) {
        let secret = |prompt| prompt == Prompt::Secret;
        let mut changes = self.process.output().changes();
        let mut answers = self.answers.subscribe();
        loop {
            changes.borrow_and_update();
            answers.borrow_and_update();
            if self.process.prompted(secret).await.is_none() {
                return std::future::pending().await;
            }
            self.look();
            tokio::select! {
                _ = changes.changed() => {}
                _ = answers.changed() => {}
            }
        }
    }

    /// Asks for the secret that the program wants, if it is blocked at a
    /// prompt for one that was not told yet.
    fn look(&self) {
        // Locked until it is told: whoever else looks meanwhile goes on when
        // it is known, not before, and an answer comes before all of this or
        // after it.
        let mut asked = self.asked.lock();
        let prompt = self.process.terminal().and_then(Terminal::prompt);
        if prompt != Some(Prompt::Secret) {
            return;
        }
        let written = self.process.output().written();
        if *asked != Some(written) {
            *asked = Some(written);
            let question = self.question();
            self.reporter.report(ToolEvent::Asked { question });
        }
    }

    /// Gives the program the secret that it asked for.
    fn give(&self, secret: &[u8]) -> Result<(), String> {
        let mut asked = self.asked.lock();
        self.process
            .write(secret)
            .map_err(|error| error.to_string())?;
        // The next prompt is another, even if nothing is written between.
        *asked = None;
        self.answers.send_modify(|answers| *answers += 1);
        Ok(())
    }

    fn question(&self) -> Question {
        let rows = self.screen.lock().rows();
        let last = rows.iter().rev().find(|row| !row.trim().is_empty());
        Question {
            id: "secret".to_owned(),
            text: last.map_or_else(|| "Secret:".to_owned(), |row| row.trim().to_owned()),
            pre_amble: None,
            answer_type: AnswerType::Text,
            default: None,
            secret: true,
        }
    }
}

// ── The job ────────────────────────────────────────────────────────────────

#[async_trait]
impl Job for TerminalJob {
    fn read(&self, view: View, limit: usize) -> Reading {
        let prompt = self.prompt();
        let mut reader = self.reader.lock();
        let mut screen = self.screen.lock();
        let view = match view {
            View::New => ScreenView::New,
            View::Screen => ScreenView::Screen,
            View::All => ScreenView::All,
        };
        let text = screen.read(&mut reader.screen, view, limit);
        // A read that leaves something out sees to it that there is a log.
        let cut = (text.omitted_bytes > 0).then(|| self.process.output().read_all(EXCERPT));
        Reading {
            text: text.text,
            omitted_bytes: text.omitted_bytes,
            log: cut.and_then(|excerpt| excerpt.log),
            awaiting_input: prompt.is_some(),
            cursor: text.full_screen.then(|| screen.cursor()),
        }
    }

    fn scrollback(&self) -> Option<String> {
        Some(self.screen.lock().scrollback())
    }

    fn preview(&self, limit: usize) -> String {
        tail(self.process.output(), limit)
    }

    fn last_line(&self) -> Option<String> {
        self.process.output().last_line(Stream::Stdout)
    }

    fn written(&self) -> u64 {
        self.process.output().position()
    }

    fn log(&self, range: Range<u64>) -> Vec<u8> {
        self.process.output().raw(range)
    }

    fn has_screen(&self) -> bool {
        true
    }

    fn screen(&self, since: Option<u64>) -> Option<ScreenUpdate> {
        Some(viewing::update(&mut self.screen.lock(), since))
    }

    fn screen_changed(&self, generation: u64) -> BoxFuture<'static, ()> {
        let mut drawn = self.drawn.subscribe();
        Box::pin(async move {
            if drawn.wait_for(|now| *now != generation).await.is_err() {
                // The job is gone, and so is its screen.
                std::future::pending::<()>().await;
            }
        })
    }

    fn resize(&self, rows: u16, cols: u16) -> Result<(), String> {
        let terminal = self.process.terminal();
        let terminal = terminal.ok_or("its terminal is gone")?;
        let mut screen = self.screen.lock();
        screen.resize(rows, cols);
        let (rows, cols) = screen.size();
        self.drawn.send_replace(screen.generation());
        drop(screen);
        let size = TerminalSize { rows, cols };
        terminal.resize(size).map_err(|error| error.to_string())
    }

    fn hides_typing(&self) -> bool {
        let modes = self.process.terminal().map(Terminal::modes);
        modes.is_some_and(|modes| modes.canonical && !modes.echo)
    }

    fn type_in(&self, keyboard: Keyboard) -> Result<(), String> {
        let submits = keyboard.submits();
        let bytes = match keyboard {
            Keyboard::Bytes(bytes) => bytes,
            Keyboard::Typing(typing) => self.bytes_of(&typing)?.0,
        };
        if submits && self.prompt() == Some(Prompt::Secret) {
            return self.watch.give(&bytes);
        }
        self.process
            .write(&bytes)
            .map_err(|error| error.to_string())
    }

    fn last_output(&self) -> Instant {
        self.process.output().last_write().unwrap_or(self.started)
    }

    fn find(&self, pattern: Regex, since: Since) -> BoxFuture<'static, Option<String>> {
        let output = self.process.output();
        let from = match since {
            Since::LastInput => self.reader.lock().last_input,
            Since::Now => output.position(),
        };
        Box::pin(output.find(pattern, from))
    }

    fn at_prompt(&self) -> BoxFuture<'static, ()> {
        let process = self.process.clone();
        Box::pin(async move {
            if process.prompted(|_| true).await.is_none() {
                std::future::pending::<()>().await;
            }
        })
    }

    async fn apply(&self, typing: Typing) -> Result<(), String> {
        if self.prompt() == Some(Prompt::Secret) {
            // It has come to ask since its state was looked at. What was meant
            // for something else must not become the secret.
            self.watch.look();
            return Err("the program has just asked for a secret; fetch its question".to_owned());
        }
        let (bytes, typed) = self.bytes_of(&typing)?;
        let position = self.process.output().position();
        self.screen.lock().typed(typed.trim_end_matches('\n'));
        self.process
            .write(&bytes)
            .map_err(|error| error.to_string())?;
        self.reader.lock().last_input = position;
        Ok(())
    }

    async fn answer(&self, _question: &Question, answer: Value) -> Result<(), String> {
        let text = match answer {
            Value::String(text) => text,
            other => other.to_string(),
        };
        self.watch
            .give(&keys::text(&text, true, KeyModes::default()))
    }

    async fn settle(&self, limit: Duration) {
        let settled = async {
            self.process.settle(limit).await;
            // A prompt for a secret is told before the settling is.
            self.watch.look();
            if self.process.exit().is_some() {
                let mut phase = self.watch.phase.subscribe();
                let _ = phase.wait_for(|phase| *phase == Phase::Ended).await;
            }
        };
        let _ = tokio::time::timeout(limit, settled).await;
    }

    async fn abort(&self, grace: Duration) -> Receipt {
        self.watch.aborted.store(true, Ordering::Release);
        let receipt = self.process.end(grace).await;
        let mut phase = self.watch.phase.subscribe();
        let _ = phase.wait_for(|phase| *phase == Phase::Ended).await;
        to_receipt(receipt)
    }
}
