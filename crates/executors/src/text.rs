//! Programs that speak plain text through pipes, or use their whole stdout for
//! the protocol.
//!
//! Start at [`ProgramPlan::start`], which also starts terminal programs, then
//! [`TextJob::start`]. A follower task per run waits for the exit and
//! interprets it: the end, a question (the program runs again with the answer)
//! or another program to run instead. All runs write to one output.
//! `text/job.rs` has the job's orders.

mod job;

use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use windlass_output::{OutputOptions, Stream};
use windlass_process::{AdoptOptions, Command, Exit, Launcher, Process, Stdin};
use windlass_protocol::{
    Arguments, ExecAnswer, IoMode, JobDescription, KeepRequest, Question, ToolAnswer, ToolError,
    ToolState,
};
use windlass_runtime::{AdoptError, Ending, Job, JobOutput, OrderLedger, Reporter, ToolEvent};

use crate::ending;
use crate::held;
use crate::kept::Kept;
use crate::listening::TypedLine;
use crate::terminal::{TerminalJob, TerminalPlan, TerminalProgram};
use crate::writing::Writing;

/// The maximum number of runs in one call. Each run after the first has one
/// more answer.
const MOST_RUNS: u32 = 16;

/// The program of a call, through pipes or on a terminal. An executor makes the
/// same plan whether the program is to be started, or runs already and is to be
/// adopted.
pub(crate) enum ProgramPlan {
    Text(Box<TextPlan>),
    Terminal(Box<TerminalPlan>),
}

impl ProgramPlan {
    pub(crate) async fn start(self, reporter: Reporter) -> Result<Arc<dyn Job>, ToolError> {
        Ok(match self {
            Self::Text(plan) => TextJob::start(*plan, reporter).await?,
            Self::Terminal(plan) => TerminalJob::start(*plan, reporter).await?,
        })
    }

    /// Takes over the program from its description, which this plan was made of.
    pub(crate) async fn adopt(
        self,
        running: &JobDescription,
        reporter: Reporter,
    ) -> Result<Arc<dyn Job>, AdoptError> {
        let JobDescription { key, at, .. } = running;
        Ok(match self {
            Self::Text(plan) => TextJob::adopt(*plan, key, *at, reporter).await?,
            Self::Terminal(plan) => TerminalJob::adopt(*plan, key, *at, reporter).await?,
        })
    }
}

/// The command of a text program, and its settings.
pub(crate) struct TextPlan {
    pub(crate) launcher: Launcher,
    /// The command for a set of answers.
    pub(crate) command: CommandFor,
    /// The project's folder; the default folder of an `exec` answer.
    pub(crate) root: PathBuf,
    pub(crate) log: Option<PathBuf>,
    pub(crate) grace: Duration,
    /// The program accepts input after its start.
    pub(crate) takes_input: bool,
    /// Stdout as a whole may be protocol. Otherwise stderr shares its pipe,
    /// which preserves the order of both.
    pub(crate) speaks_protocol: bool,
    /// Rules apply to typed commands.
    pub(crate) runs_typed: bool,
    /// Used if an `exec` answer has a terminal.
    pub(crate) kept: Kept,
    /// Set if the program outlives its runtime. A program that replaces it does
    /// not.
    pub(crate) keep: Option<KeepRequest>,
}

/// Returns the command for a call with these answers.
pub(crate) type CommandFor = Box<dyn Fn(&Arguments) -> Result<Command, ToolError> + Send + Sync>;

/// A running text program.
pub(crate) struct TextJob {
    /// A reference to itself, for its followers.
    me: Weak<Self>,
    plan: TextPlan,
    output: JobOutput,
    orders: OrderLedger,
    reporter: Reporter,
    run: Mutex<ProgramRun>,
    /// The current input line.
    typed: Mutex<TypedLine>,
    phase: watch::Sender<RunPhase>,
}

/// One run of a program; a job may have several in sequence.
struct ProgramRun {
    process: Process,
    /// Set as soon as the job exists.
    follower: Option<FollowGuard>,
    merged: bool,
    answers: Arguments,
    number: u32,
    aborted: bool,
    /// The number of processes that started after the abort and were ended.
    ended_late: usize,
    /// The terminal program that has replaced the text program.
    terminal: Option<Arc<TerminalProgram>>,
}

impl ProgramRun {
    /// The reason why the program is not run again for this question, if any.
    fn refusal_of(&self, question: &Question) -> Option<ToolError> {
        let id = &question.id;
        if self.answers.contains_key(id) {
            return Some(ToolError::new(format!(
                "the tool asked question `{id}` again, which was answered already; the answer is \
                 in the tool's `answers`, and another question needs another id"
            )));
        }
        (self.number >= MOST_RUNS).then(|| {
            ToolError::new(format!(
                "the tool was run {MOST_RUNS} times and asked another question (`{id}`); a tool \
                 may ask at most {} questions in one call",
                MOST_RUNS - 1
            ))
        })
    }
}

/// The phase of a job, for waiters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunPhase {
    /// The run with this number is in progress.
    Running(u32),
    /// The program has exited with a question.
    Asked,
    /// The program has exited, and a terminal program has replaced it.
    HandedOver,
    /// The end has been reported.
    Ended,
}

/// Guard: dropping it stops the follower task, which releases the process.
struct FollowGuard(AbortHandle);

impl Drop for FollowGuard {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl TextJob {
    pub(crate) async fn start(plan: TextPlan, reporter: Reporter) -> Result<Arc<Self>, ToolError> {
        let command = (plan.command)(&Arguments::new())?;
        let command = held::keeping(command, plan.keep.as_ref(), plan.output_options());
        let output = JobOutput::new(plan.output_options());
        let process = plan.launch(command, !plan.speaks_protocol, &output).await?;
        Ok(Self::follow_new(plan, process, output, 0, reporter))
    }

    /// Takes over a kept program, and reports events after this offset.
    pub(crate) async fn adopt(
        plan: TextPlan,
        key: &Value,
        at: u64,
        reporter: Reporter,
    ) -> Result<Arc<Self>, AdoptError> {
        let (key, _) = held::read_key(key)?;
        let options = AdoptOptions::new(plan.output_options());
        let process = plan.launcher.adopt(&key, options).await;
        let process = process.map_err(held::adopt_error)?;
        let output = JobOutput::resumed(process.output().clone(), process.noted_read());
        Ok(Self::follow_new(plan, process, output, at, reporter))
    }

    fn follow_new(
        plan: TextPlan,
        process: Process,
        output: JobOutput,
        at: u64,
        reporter: Reporter,
    ) -> Arc<Self> {
        let merged = !plan.speaks_protocol;
        held::note_reads(&output, &process);
        let job = Arc::new_cyclic(|job| Self {
            me: job.clone(),
            run: Mutex::new(ProgramRun {
                process: process.clone(),
                follower: None,
                merged,
                answers: Arguments::new(),
                number: 1,
                aborted: false,
                ended_late: 0,
                terminal: None,
            }),
            typed: Mutex::default(),
            phase: watch::Sender::new(RunPhase::Running(1)),
            output,
            orders: OrderLedger::default(),
            reporter,
            plan,
        });
        // Not before the job is there: a program may have exited already, and
        // its follower would have no one to report to.
        job.run.lock().follower = Some(job.follow(process, at));
        job
    }

    /// Starts another program in place of the exited one.
    async fn run_again(&self, command: Command, merged: bool) -> Result<(), ToolError> {
        self.output.bytes().begin_run(!merged);
        let from = self.output.written();
        let process = self.plan.launch(command, merged, &self.output).await?;
        let is_aborted = {
            let mut run = self.run.lock();
            if !run.aborted {
                // The old follower may have caused this; it has nothing left to do.
                run.follower = Some(self.follow(process.clone(), from));
                run.process = process.clone();
                run.merged = merged;
                run.number += 1;
                self.phase.send_replace(RunPhase::Running(run.number));
            }
            run.aborted
        };
        if is_aborted {
            let receipt = process.end(self.plan.grace).await;
            return Err(self.ended_late(receipt.ended));
        }
        Ok(())
    }

    /// Starts a terminal program in place of the exited one. It receives all
    /// further orders.
    async fn hand_over(&self, command: Command) -> Result<(), ToolError> {
        self.output.bytes().begin_run(false);
        let plan = TerminalPlan {
            launcher: self.plan.launcher.clone(),
            command,
            log: self.plan.log.clone(),
            grace: self.plan.grace,
            kept: self.plan.kept,
            runs_typed: self.plan.runs_typed,
            keep: None,
        };
        let started = TerminalProgram::start(plan, self.output.clone(), self.reporter.clone());
        let terminal = started.await?;
        let is_aborted = {
            let mut run = self.run.lock();
            if !run.aborted {
                run.terminal = Some(Arc::clone(&terminal));
                self.phase.send_replace(RunPhase::HandedOver);
            }
            run.aborted
        };
        if is_aborted {
            let receipt = terminal.end_unheard(self.plan.grace).await;
            return Err(self.ended_late(receipt.ended));
        }
        // Waiters for a terminal must check again.
        self.output.bytes().announce();
        Ok(())
    }

    /// The error if the job was aborted while a replacement started. That
    /// program was ended, and the abort's receipt counts it.
    fn ended_late(&self, ended: usize) -> ToolError {
        self.run.lock().ended_late += ended;
        ToolError::new("aborted")
    }

    fn process(&self) -> Process {
        self.run.lock().process.clone()
    }

    fn terminal_program(&self) -> Option<Arc<TerminalProgram>> {
        self.run.lock().terminal.clone()
    }

    fn report_end(&self, ending: Ending) {
        self.output.finish();
        let at = self.output.written();
        self.reporter.report(at, ToolEvent::Ended(ending));
        self.phase.send_replace(RunPhase::Ended);
    }
}

impl TextPlan {
    fn output_options(&self) -> OutputOptions {
        OutputOptions {
            log: self.log.clone(),
            log_limit: self.kept.log_limit,
            hold_object: self.speaks_protocol,
            ..OutputOptions::default()
        }
    }

    async fn launch(
        &self,
        command: Command,
        merged: bool,
        output: &JobOutput,
    ) -> Result<Process, ToolError> {
        let mut command = command.grace(self.grace).output_to(output.bytes().clone());
        if self.takes_input {
            command = command.stdin(Stdin::Pipe);
        }
        if merged {
            command = command.merge_output();
        }
        let started = self.launcher.start(command).await;
        started.map_err(|error| ending::start_error(&error))
    }
}

// ── Following ──────────────────────────────────────────────────────────────

impl TextJob {
    /// Starts a follower task for a program whose output starts at this offset.
    fn follow(&self, process: Process, from: u64) -> FollowGuard {
        let job = self.me.clone();
        let mut writing = Writing::from(&self.output, from, self.reporter.clone());
        let task = async move {
            let exit = loop {
                tokio::select! {
                    biased;
                    exit = process.wait() => break exit,
                    () = writing.more() => {}
                }
            };
            if let Some(job) = job.upgrade() {
                job.exited(exit, &process, &mut writing).await;
            }
        };
        FollowGuard(windlass_task::spawn(task).abort_handle())
    }

    /// Interprets the exit of the program.
    async fn exited(&self, exit: Exit, process: &Process, writing: &mut Writing) {
        let bytes = self.output.bytes();
        let object = bytes.take_object();
        let answer = object.filter(|_| self.plan.speaks_protocol);
        let answer = answer.and_then(|stdout| ToolAnswer::read(&stdout));
        // An answer that is not understood is shown as it came.
        if !matches!(answer, Some(Ok(_))) {
            bytes.release();
        }
        writing.report();
        let (merged, is_aborted) = {
            let run = self.run.lock();
            (run.merged, run.aborted)
        };
        let mut ending = match answer {
            // It has exited, so it runs no longer whatever it says.
            Some(Ok(ToolAnswer::State(ToolState::Running { content }))) => {
                Ending::reported(Ok(content.unwrap_or_default()))
            }
            Some(Ok(ToolAnswer::State(ToolState::Waiting { content, question }))) => {
                return self.ask(content, question);
            }
            Some(Ok(ToolAnswer::State(ToolState::Stopped { result }))) => Ending::reported(result),
            Some(Ok(ToolAnswer::Exec(exec))) => return self.exec(exec).await,
            Some(Err(error)) => {
                let message = format!("the tool's answer is invalid: {error}");
                return self.report_end(Ending::failed(message));
            }
            None => {
                let stream = if merged {
                    Stream::Stdout
                } else {
                    Stream::Stderr
                };
                ending::of_exit(&exit, process, || bytes.last_line(stream))
            }
        };
        // An abort ends all of them, even if some have not exited yet.
        if !is_aborted {
            ending.left_running = process.remaining().await;
        }
        self.report_end(ending);
    }

    /// Asks the question with which the program has exited.
    fn ask(&self, content: Option<String>, question: Question) {
        if let Some(error) = self.run.lock().refusal_of(&question) {
            return self.report_end(Ending::with(Err(error)));
        }
        let content = content.filter(|content| !content.is_empty());
        if let Some(content) = &content {
            self.add(content);
        }
        let at = self.output.written();
        let asked = ToolEvent::Asked {
            question,
            content,
            form: None,
        };
        self.reporter.report(at, asked);
        self.phase.send_replace(RunPhase::Asked);
    }

    /// Appends text of the protocol to the output.
    fn add(&self, text: &str) {
        let bytes = self.output.bytes();
        bytes.begin_run(false);
        bytes.push(Stream::Stdout, text.as_bytes());
        bytes.end_run();
        let wrote = ToolEvent::Wrote {
            bytes: text.len() as u64,
        };
        self.reporter.report(self.output.written(), wrote);
    }

    /// Runs the program of an `exec` answer in place of the tool.
    async fn exec(&self, exec: ExecAnswer) {
        let mut command = Command::new(&exec.program).args(&exec.args).cwd(
            exec.cwd
                .as_ref()
                .map_or(self.plan.root.clone(), |cwd| self.plan.root.join(cwd)),
        );
        for (name, value) in &exec.env {
            command = command.env(name, value);
        }
        let before = self.process();
        if before.held_key().is_some() {
            // The adopting runtime would run the other program a second time.
            before.end(self.plan.grace).await;
        }
        let started = match exec.io {
            IoMode::Text => self.run_again(command, true).await,
            IoMode::Terminal => self.hand_over(command).await,
            IoMode::State => Err(ToolError::new(format!(
                "the tool's `exec` runs `{}` with `io` \"state\"; `exec` supports \"text\" and \
                 \"terminal\"",
                exec.program
            ))),
        };
        if let Err(error) = started {
            self.report_end(Ending::with(Err(error)));
        }
    }
}
