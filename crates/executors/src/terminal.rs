//! Programs on a terminal, whose output is drawn on a screen.
//!
//! Start at [`TerminalProgram::start`]. A follower task watches for the exit
//! and for prompts that want a secret, which become questions for the person.
//! [`TerminalJob`] is the job of a tool that is such a program from the start.

mod following;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use windlass_output::{Output, OutputOptions, Screen, ScreenReader, ScreenView};
use windlass_process::{
    AdoptOptions, Command, Launcher, Process, ProgramTerminal, Prompt, TerminalSize,
};
use windlass_protocol::{
    HandleUse, InputError, KeepRequest, Keyboard, OrderId, Question, Receipt, ScreenPast,
    ScreenUpdate, ToolError, Typing,
};
use windlass_runtime::{
    AdoptError, Job, JobHost, JobOutput, JobTerminal, OrderLedger, Reporter, TypedCommands,
    screen_past, screen_update,
};

use self::following::{ProgramPhase, ProgramWatch};
use crate::confined;
use crate::ending::{self, input_error, to_receipt};
use crate::held;
use crate::kept::Kept;
use crate::keys::{self, KeyModes};
use crate::listening::{ReaderKind, Situation, TypedLine, is_one_line, shows_inserting};
use crate::recording::RecordingFile;
use crate::secret::TypedText;

/// The command and settings of a terminal program.
pub(crate) struct TerminalPlan {
    pub(crate) launcher: Launcher,
    pub(crate) command: Command,
    pub(crate) log: Option<PathBuf>,
    pub(crate) grace: Duration,
    pub(crate) kept: Kept,
    /// Rules apply to typed commands.
    pub(crate) runs_typed: bool,
    /// Set if the program outlives its runtime.
    pub(crate) keep: Option<KeepRequest>,
}

/// A program on its terminal. Dropping it ends the program.
pub(crate) struct TerminalProgram {
    process: Process,
    output: JobOutput,
    screen: Arc<Mutex<Screen>>,
    /// The generation of the screen, for observers.
    drawn: watch::Sender<u64>,
    watch: Arc<ProgramWatch>,
    /// The last text typed into a program that reads keys.
    last_typed: Mutex<Option<TypedText>>,
    /// The current input line, if rules apply to it.
    typed: Option<Mutex<TypedLine>>,
    /// Input of people; the job counts the assistant's.
    orders: OrderLedger,
    follower: AbortHandle,
}

impl Drop for TerminalProgram {
    fn drop(&mut self) {
        self.follower.abort();
    }
}

impl TerminalProgram {
    /// The resource usage of the program and its descendants.
    pub(crate) fn usage(&self) -> HandleUse {
        confined::usage(&self.process)
    }

    /// Starts the program with this output.
    pub(crate) async fn start(
        plan: TerminalPlan,
        output: JobOutput,
        reporter: Reporter,
    ) -> Result<Arc<Self>, ToolError> {
        let TerminalSize { rows, cols } = plan.kept.size;
        let screen = Arc::new(Mutex::new(Screen::new(rows, cols)));
        let cast = plan.log.as_ref().filter(|_| plan.kept.record);
        let mut recording =
            cast.map(|log| RecordingFile::new(&log.with_extension("cast"), plan.kept.size));
        let drawn = watch::Sender::new(0);
        let mut draw = drawing_on(&screen, &drawn);
        let tap = move |bytes: &[u8]| {
            if let Some(recording) = &mut recording {
                recording.write(bytes);
            }
            draw(bytes)
        };
        let options = plan.output_options();
        let runs_typed = plan.runs_typed;
        let command = held::keeping(plan.command, plan.keep.as_ref(), options)
            .terminal_with(plan.kept.size, tap)
            .grace(plan.grace)
            .output_to(output.bytes().clone());
        output.attach_screen(Arc::clone(&screen));
        let from = output.written();
        let process = plan
            .launcher
            .start(command)
            .await
            .map_err(|error| ending::start_error(&error))?;
        Ok(Self::follow(
            process, output, screen, drawn, from, reporter, runs_typed,
        ))
    }

    /// Takes over a kept program, and reports events after offset `at`. A
    /// full-screen program is made to redraw.
    async fn adopt(
        plan: TerminalPlan,
        key: &Value,
        at: u64,
        reporter: Reporter,
    ) -> Result<Arc<Self>, AdoptError> {
        let (key, described) = held::read_key(key)?;
        let (rows, cols) = described.terminal.unwrap_or_else(|| {
            let TerminalSize { rows, cols } = plan.kept.size;
            (rows, cols)
        });
        let screen = Arc::new(Mutex::new(Screen::new(rows, cols)));
        let drawn = watch::Sender::new(0);
        let seen: Arc<Mutex<ScreenReader>> = Arc::default();
        let (redrawn, looked) = (Arc::clone(&screen), Arc::clone(&seen));
        let options = AdoptOptions::new(plan.output_options())
            .tap(drawing_on(&screen, &drawn))
            .rebuild(move |output, read| {
                *looked.lock() = redraw(&mut redrawn.lock(), output, read);
            });
        let process = plan.launcher.adopt(&key, options).await;
        let process = process.map_err(held::adopt_error)?;
        let seen = std::mem::take(&mut *seen.lock());
        let output =
            JobOutput::resumed_on_screen(process.output().clone(), Arc::clone(&screen), seen);
        let program = Self::follow(
            process,
            output,
            screen,
            drawn,
            at,
            reporter,
            plan.runs_typed,
        );
        if program.screen.lock().is_full_screen() {
            // A size that it has not is what it notices.
            let _ = program.resize(rows, cols + 1);
            let _ = program.resize(rows, cols);
        }
        Ok(program)
    }

    fn follow(
        process: Process,
        output: JobOutput,
        screen: Arc<Mutex<Screen>>,
        drawn: watch::Sender<u64>,
        from: u64,
        reporter: Reporter,
        runs_typed: bool,
    ) -> Arc<Self> {
        held::note_reads(&output, &process);
        let watch = Arc::new(ProgramWatch {
            process: process.clone(),
            output: output.clone(),
            screen: Arc::clone(&screen),
            reporter,
            phase: watch::Sender::new(ProgramPhase::Running),
            asked: Mutex::new(None),
            answers: watch::Sender::default(),
            aborted: AtomicBool::new(false),
        });
        let follower = windlass_task::spawn(Arc::clone(&watch).follow(from));
        Arc::new(Self {
            process,
            output,
            screen,
            drawn,
            watch,
            last_typed: Mutex::default(),
            typed: runs_typed.then(Mutex::default),
            orders: OrderLedger::default(),
            follower: follower.abort_handle(),
        })
    }

    fn modes(&self) -> KeyModes {
        let modes = self.screen.lock().modes();
        KeyModes {
            application_cursor: modes.application_cursor,
            bracketed_paste: modes.bracketed_paste,
        }
    }

    /// The bytes that a typing sends, and its text.
    fn bytes_of(&self, typing: &Typing) -> Result<(Vec<u8>, String), InputError> {
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

impl TerminalPlan {
    fn output_options(&self) -> OutputOptions {
        OutputOptions {
            log: self.log.clone(),
            log_limit: self.kept.log_limit,
            ..OutputOptions::default()
        }
    }
}

/// A tap that feeds a screen and writes its replies back.
fn drawing_on(
    screen: &Arc<Mutex<Screen>>,
    drawn: &watch::Sender<u64>,
) -> impl FnMut(&[u8]) -> Vec<u8> + Send + use<> {
    let (screen, drawn) = (Arc::clone(screen), drawn.clone());
    move |bytes| {
        let mut screen = screen.lock();
        let replies = screen.feed(bytes);
        drawn.send_replace(screen.generation());
        replies
    }
}

/// Redraws a screen from output that another runtime has shown, without sending
/// replies. `read` is the assistant's position in the output. Returns the
/// reader's state at that position.
fn redraw(screen: &mut Screen, output: &Output, read: u64) -> ScreenReader {
    let end = output.position();
    let read = read.min(end);
    let mut seen = ScreenReader::default();
    screen.feed(&output.raw(read.saturating_sub(REDRAWN)..read));
    if read > 0 {
        screen.read(&mut seen, ScreenView::New, usize::MAX);
    }
    screen.feed(&output.raw(read..end));
    seen
}

/// The number of bytes of output from which a screen is redrawn.
const REDRAWN: u64 = 256 << 10;

// ── Orders ─────────────────────────────────────────────────────────────────

impl TerminalProgram {
    /// Types the assistant's input.
    pub(crate) fn apply(&self, input: &Keyboard) -> Result<(), InputError> {
        if self.watch.asks_for_secret() {
            // It has come to ask since its state was looked at. What was meant
            // for something else must not become the secret.
            self.watch.look();
            return Err(InputError::SecretAsked);
        }
        let (bytes, typed) = match input {
            Keyboard::Typing(typing) => self.bytes_of(typing)?,
            Keyboard::Bytes(bytes) => (bytes.clone(), String::new()),
        };
        let before = self.output.written();
        let modes = self.process.terminal().map(ProgramTerminal::modes);
        let takes_keys = modes.is_some_and(|modes| !modes.canonical && !modes.echo);
        *self.last_typed.lock() = takes_keys.then(|| TypedText {
            text: String::from_utf8_lossy(&bytes).into_owned(),
            line: self.screen.lock().cursor_line().text,
            before,
        });
        self.screen.lock().typed(typed.trim_end_matches('\n'));
        self.process
            .write(&bytes)
            .map_err(|error| input_error(&error))?;
        if let Some(line) = &self.typed {
            line.lock().note(&bytes);
        }
        self.output.note_input(before);
        Ok(())
    }

    /// The commands that this input would run, if rules apply to them.
    pub(crate) fn typed_commands(&self, input: &Keyboard) -> Option<TypedCommands> {
        let line = self.typed.as_ref()?;
        let bytes = match input {
            // A key that is not known is refused when it is typed.
            Keyboard::Typing(typing) => self.bytes_of(typing).ok()?.0,
            Keyboard::Bytes(bytes) => bytes.clone(),
        };
        let listeners = self.process.listeners();
        let situation = Situation {
            takes_one_line: is_one_line(&bytes) && self.prompt().is_some(),
            shows_inserting: shows_inserting(&self.screen.lock().rows()),
        };
        let listening = ReaderKind::to(listeners.as_deref(), situation);
        line.lock().commands(&bytes, &listening)
    }

    /// Types the answer to a prompt for a secret.
    pub(crate) fn answer(&self, answer: &Value) -> Result<(), InputError> {
        let text = match answer {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        self.watch
            .give(&keys::text(&text, true, KeyModes::default()))
    }

    pub(crate) async fn settle(&self, limit: Duration) {
        let settled = async {
            self.process.settle(limit).await;
            // A prompt for a secret is reported before the tool counts as settled.
            self.watch.look();
            if self.process.exit().is_some() {
                let mut phase = self.watch.phase.subscribe();
                let _ = phase.wait_for(|phase| *phase == ProgramPhase::Ended).await;
            }
        };
        let _ = tokio::time::timeout(limit, settled).await;
    }

    /// Ends the program without a report.
    pub(crate) async fn end_unheard(&self, grace: Duration) -> Receipt {
        self.follower.abort();
        to_receipt(self.process.end(grace).await)
    }

    pub(crate) async fn abort(&self, grace: Duration) -> Receipt {
        self.watch.aborted.store(true, Ordering::Release);
        let receipt = self.process.end(grace).await;
        let mut phase = self.watch.phase.subscribe();
        let _ = phase.wait_for(|phase| *phase == ProgramPhase::Ended).await;
        to_receipt(receipt)
    }
}

impl JobTerminal for TerminalProgram {
    fn screen(&self, since: Option<u64>) -> ScreenUpdate {
        screen_update(&mut self.screen.lock(), since)
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

    fn scrollback(&self) -> String {
        self.screen.lock().scrollback()
    }

    fn past(&self) -> ScreenPast {
        screen_past(&mut self.screen.lock())
    }

    fn resize(&self, rows: u16, cols: u16) -> Result<(), InputError> {
        let terminal = self.process.terminal();
        let terminal = terminal.ok_or(InputError::TerminalGone)?;
        let mut screen = self.screen.lock();
        screen.resize(rows, cols);
        let (rows, cols) = screen.size();
        self.drawn.send_replace(screen.generation());
        drop(screen);
        let resized = terminal.resize(TerminalSize { rows, cols });
        resized.map_err(|error| InputError::Resize {
            cause: error.to_string(),
        })
    }

    fn type_in(&self, order: &OrderId, input: Keyboard) -> Result<(), InputError> {
        self.orders.once_now(order, || {
            let submits = input.submits();
            let bytes = match input {
                Keyboard::Bytes(bytes) => bytes,
                Keyboard::Typing(typing) => self.bytes_of(&typing)?.0,
            };
            if submits && self.watch.asks_for_secret() {
                return self.watch.give(&bytes);
            }
            self.process
                .write(&bytes)
                .map_err(|error| input_error(&error))?;
            if let Some(line) = &self.typed {
                line.lock().note_other(&bytes);
            }
            Ok(())
        })
    }

    fn is_at_prompt(&self) -> bool {
        self.prompt().is_some()
    }

    fn at_prompt(&self) -> BoxFuture<'static, ()> {
        let process = self.process.clone();
        Box::pin(async move {
            if process.prompted(|_| true).await.is_none() {
                std::future::pending::<()>().await;
            }
        })
    }

    fn hides_typing(&self) -> bool {
        let modes = self.process.terminal().map(ProgramTerminal::modes);
        modes.is_some_and(|modes| modes.canonical && !modes.echo) || self.watch.asks_for_secret()
    }

    fn has_masked_typing(&self) -> bool {
        let terminal = self.process.terminal();
        if terminal.is_some_and(ProgramTerminal::hid_last_write) {
            return true;
        }
        let last = self.last_typed.lock();
        last.as_ref().is_some_and(|typed| {
            let written = self.output.log(typed.before..self.output.written());
            typed.is_masked(&written)
        })
    }
}

// ── The job ────────────────────────────────────────────────────────────────

/// A tool that is one program on a terminal.
pub(crate) struct TerminalJob {
    program: Arc<TerminalProgram>,
    orders: OrderLedger,
}

impl TerminalJob {
    pub(crate) async fn start(
        plan: TerminalPlan,
        reporter: Reporter,
    ) -> Result<Arc<Self>, ToolError> {
        let output = JobOutput::new(plan.output_options());
        Ok(Arc::new(Self {
            program: TerminalProgram::start(plan, output, reporter).await?,
            orders: OrderLedger::default(),
        }))
    }

    /// Takes over a kept program, and reports events after this offset.
    pub(crate) async fn adopt(
        plan: TerminalPlan,
        key: &Value,
        at: u64,
        reporter: Reporter,
    ) -> Result<Arc<Self>, AdoptError> {
        Ok(Arc::new(Self {
            program: TerminalProgram::adopt(plan, key, at, reporter).await?,
            orders: OrderLedger::default(),
        }))
    }
}

#[async_trait]
impl Job for TerminalJob {
    fn output(&self) -> &JobOutput {
        &self.program.output
    }

    fn terminal(&self) -> Option<Arc<dyn JobTerminal>> {
        Some(Arc::clone(&self.program) as _)
    }

    fn host(&self) -> Arc<dyn JobHost> {
        confined::host(&self.program.process)
    }

    fn usage(&self) -> Option<HandleUse> {
        Some(confined::usage(&self.program.process))
    }

    fn key(&self) -> Option<Value> {
        held::key_of(&self.program.process)
    }

    fn typed_commands(&self, input: &Keyboard) -> Option<TypedCommands> {
        self.program.typed_commands(input)
    }

    async fn apply(&self, order: &OrderId, input: Keyboard) -> Result<(), InputError> {
        self.orders.once_now(order, || self.program.apply(&input))
    }

    async fn answer(
        &self,
        order: &OrderId,
        _question: &Question,
        answer: Value,
    ) -> Result<(), InputError> {
        self.orders.once_now(order, || self.program.answer(&answer))
    }

    async fn settle(&self, limit: Duration) {
        self.program.settle(limit).await;
    }

    async fn leave(&self) {
        // What follows is its next owner's to hear.
        self.program.follower.abort();
        self.program.process.leave().await;
    }

    async fn abort(&self, _order: &OrderId, grace: Duration) -> Receipt {
        self.program.abort(grace).await
    }
}
