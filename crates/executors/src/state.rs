//! Programs with `io = "state"`: one JSON value per line, in both directions.
//!
//! The program prints [`ToolState`] lines and reads [`StateInput`] lines. Other
//! lines are treated as content, so that a stray `print` is harmless.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use windlass_output::{Output, OutputOptions, Stream};
use windlass_process::{Command, Exit, Launcher, Process, Signal, Stdin};
use windlass_protocol::{
    HandleUse, InputError, Keyboard, OrderId, Question, Receipt, StateInput, ToolAnswer, ToolError,
    ToolState,
};
use windlass_runtime::{
    Ending, Job, JobHost, JobOutput, JobTerminal, OrderLedger, Reporter, ToolEvent, TypedCommands,
};

use crate::confined;
use crate::ending::{self, input_error, to_receipt};

/// The maximum length of a state line.
const LONGEST_LINE: usize = 1 << 20;
/// The number of bytes of stdout that are read at once.
const CHUNK: u64 = 64 << 10;

/// The command and settings of a state program.
pub(crate) struct StatePlan {
    pub(crate) launcher: Launcher,
    pub(crate) command: Command,
    pub(crate) log: Option<PathBuf>,
    pub(crate) log_limit: u64,
    pub(crate) grace: Duration,
}

/// A running state program.
pub(crate) struct StateJob {
    process: Process,
    /// The contents of its states.
    output: JobOutput,
    orders: OrderLedger,
    ended: watch::Sender<bool>,
    /// How far its stdout was read.
    read: watch::Sender<u64>,
    aborted: Arc<AtomicBool>,
    follower: AbortHandle,
}

impl Drop for StateJob {
    fn drop(&mut self) {
        self.follower.abort();
    }
}

impl StateJob {
    pub(crate) async fn start(plan: StatePlan, reporter: Reporter) -> Result<Arc<Self>, ToolError> {
        let options = |extension: &str| OutputOptions {
            log: plan.log.as_ref().map(|log| log.with_extension(extension)),
            log_limit: plan.log_limit,
            ..OutputOptions::default()
        };
        let command = plan
            .command
            .stdin(Stdin::Pipe)
            .split_output()
            .grace(plan.grace)
            .output(options("lines.log"));
        let process = plan
            .launcher
            .start(command)
            .await
            .map_err(|error| ending::start_error(&error))?;
        let output = JobOutput::of_messages(options("log"));
        let (ended, read) = (watch::Sender::new(false), watch::Sender::new(0));
        let aborted = Arc::new(AtomicBool::new(false));
        let follow = StateReader {
            process: process.clone(),
            output: output.clone(),
            reporter,
            ended: ended.clone(),
            read: read.clone(),
            aborted: Arc::clone(&aborted),
            grace: plan.grace,
            line: Vec::new(),
            result: None,
        };
        Ok(Arc::new(Self {
            process,
            output,
            orders: OrderLedger::default(),
            ended,
            read,
            aborted,
            follower: windlass_task::spawn(follow.run()).abort_handle(),
        }))
    }

    fn send(&self, input: &StateInput) -> Result<(), InputError> {
        let mut line = serde_json::to_vec(input).expect("its keys are strings");
        line.push(b'\n');
        let before = self.output.written();
        self.process
            .write(&line)
            .map_err(|error| input_error(&error))?;
        if !matches!(input, StateInput::Abort) {
            self.output.note_input(before);
        }
        Ok(())
    }
}

/// Reads the program's lines and reports its states.
struct StateReader {
    process: Process,
    output: JobOutput,
    reporter: Reporter,
    ended: watch::Sender<bool>,
    /// How far the program's stdout was read.
    read: watch::Sender<u64>,
    /// An abort is in progress and ends the whole tree.
    aborted: Arc<AtomicBool>,
    grace: Duration,
    line: Vec<u8>,
    /// The program's final result.
    result: Option<Result<String, ToolError>>,
}

impl StateReader {
    async fn run(mut self) {
        let mut changes = self.process.output().changes();
        let mut read = 0;
        let exit = loop {
            let exited = self.process.exit();
            read = self.read_lines(read);
            self.read.send_replace(read);
            if let Some(exit) = exited {
                break exit;
            }
            if self.result.is_some() {
                // It said that it has stopped; it has the grace to leave.
                let left = tokio::time::timeout(self.grace, self.process.wait()).await;
                if left.is_err() {
                    self.process.end(Duration::ZERO).await;
                }
                continue;
            }
            tokio::select! {
                _ = self.process.wait() => {}
                _ = changes.changed() => {}
            }
        };
        let line = std::mem::take(&mut self.line);
        self.take_line(&line);
        self.output.finish();
        let mut ending = self.ending(&exit);
        // An abort ends all of them, even if some have not exited yet.
        if !self.aborted.load(Ordering::Acquire) {
            ending.left_running = self.process.remaining().await;
        }
        self.report(ToolEvent::Ended(ending));
        self.ended.send_replace(true);
    }

    /// Processes new stdout and returns the offset up to which it was read.
    fn read_lines(&mut self, mut from: u64) -> u64 {
        loop {
            let end = self.process.output().position();
            if from >= end {
                return from;
            }
            let until = end.min(from + CHUNK);
            let bytes = self.process.output().raw(from..until);
            from = until;
            for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
                self.line.extend_from_slice(piece);
                if piece.ends_with(b"\n") || self.line.len() > LONGEST_LINE {
                    let line = std::mem::take(&mut self.line);
                    self.take_line(&line);
                }
            }
        }
    }

    fn take_line(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end_matches(['\r', '\n']);
        if text.trim().is_empty() || self.result.is_some() {
            return;
        }
        match serde_json::from_str(text) {
            Ok(ToolState::Running { content }) => {
                self.say(content.as_deref());
                // A program that continues without an answer no longer asks.
                self.report(ToolEvent::Answered);
            }
            Ok(ToolState::Waiting { content, question }) => {
                self.say(content.as_deref());
                self.report(ToolEvent::Asked {
                    question,
                    content,
                    form: None,
                });
            }
            Ok(ToolState::Stopped { result }) => self.result = Some(result),
            Err(_) => self.say(Some(&plain(text))),
        }
        if let Some(Err(fault)) = ToolAnswer::read(text) {
            self.say(Some(&format!(
                "(the tool printed an invalid state: {fault})"
            )));
        }
    }

    /// Appends content to the output unchanged.
    fn say(&self, content: Option<&str>) {
        let Some(content) = content.filter(|content| !content.is_empty()) else {
            return;
        };
        let bytes = self.output.say(content);
        self.report(ToolEvent::Wrote { bytes });
    }

    fn report(&self, event: ToolEvent) {
        self.reporter.report(self.output.written(), event);
    }

    fn ending(&mut self, exit: &Exit) -> Ending {
        if let Some(result) = self.result.take() {
            return Ending::reported(result);
        }
        let last_line = || self.process.errors().last_line(Stream::Stderr);
        ending::of_exit(exit, &self.process, last_line)
    }
}

/// A stray line without control sequences.
fn plain(line: &str) -> String {
    let output = Output::new(OutputOptions::default());
    output.push(Stream::Stdout, line.as_bytes());
    output.finish();
    output.read_all(line.len()).text
}

/// A key with a meaning for a program without a keyboard.
enum StateKey {
    Interrupt,
    EndOfInput,
}

fn state_key(key: &str) -> Result<StateKey, InputError> {
    match key.to_ascii_lowercase().as_str() {
        "ctrl-c" => Ok(StateKey::Interrupt),
        "ctrl-d" | "eof" => Ok(StateKey::EndOfInput),
        _ => Err(InputError::NotAmongStates {
            key: key.to_owned(),
        }),
    }
}

#[async_trait]
impl Job for StateJob {
    fn output(&self) -> &JobOutput {
        &self.output
    }

    fn terminal(&self) -> Option<Arc<dyn JobTerminal>> {
        None
    }

    fn host(&self) -> Arc<dyn JobHost> {
        confined::host(&self.process)
    }

    fn usage(&self) -> Option<HandleUse> {
        Some(confined::usage(&self.process))
    }

    fn key(&self) -> Option<Value> {
        None
    }

    fn typed_commands(&self, _: &Keyboard) -> Option<TypedCommands> {
        None
    }

    async fn apply(&self, order: &OrderId, input: Keyboard) -> Result<(), InputError> {
        let Keyboard::Typing(typing) = input else {
            // A person cannot type into a program that reads states.
            return Err(InputError::NoKeyboard);
        };
        self.orders.once_now(order, || {
            let keys: Vec<StateKey> = typing
                .keys
                .iter()
                .map(|key| state_key(key))
                .collect::<Result<_, _>>()?;
            if let Some(input) = typing.input {
                self.send(&StateInput::Apply { input })?;
            }
            for key in keys {
                match key {
                    // A signal fails only when there is no program any more.
                    StateKey::Interrupt => self
                        .process
                        .signal(Signal::Interrupt)
                        .map_err(|_| InputError::Exited)?,
                    StateKey::EndOfInput => self.process.close_stdin(),
                }
            }
            Ok(())
        })
    }

    async fn answer(
        &self,
        order: &OrderId,
        question: &Question,
        answer: Value,
    ) -> Result<(), InputError> {
        let input = StateInput::Answer {
            question: question.id.clone(),
            answer,
        };
        self.orders.once_now(order, || self.send(&input))
    }

    async fn settle(&self, limit: Duration) {
        let settled = async {
            self.process.settle(limit).await;
            if self.process.exit().is_some() {
                let mut ended = self.ended.subscribe();
                let _ = ended.wait_for(|ended| *ended).await;
            } else {
                // Everything that it has said by now is reported first.
                let said = self.process.output().position();
                let mut read = self.read.subscribe();
                let _ = read.wait_for(|read| *read >= said).await;
            }
        };
        let _ = tokio::time::timeout(limit, settled).await;
    }

    async fn leave(&self) {
        // Its tool ends when the job is dropped.
    }

    async fn abort(&self, _order: &OrderId, grace: Duration) -> Receipt {
        self.aborted.store(true, Ordering::Release);
        let _ = self.send(&StateInput::Abort);
        // It may exit on its own in the first half of the grace; then it gets a signal.
        let _ = tokio::time::timeout(grace / 2, self.process.wait()).await;
        let receipt = self.process.end(grace / 2).await;
        let mut ended = self.ended.subscribe();
        let _ = ended.wait_for(|ended| *ended).await;
        to_receipt(receipt)
    }
}
