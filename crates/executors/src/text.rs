//! A program that speaks plain text through pipes, or the protocol as the
//! whole of its stdout.
//!
//! Start at [`TextJob::start`]. A follower per run waits for the program's
//! exit and decides what it means: the end, a question (the program is run
//! again with the answer) or another program to run in its place. What the
//! runtime asks of a job is in `text/job.rs`.

mod job;

use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use windlass_process::{Command, Cursor, Launcher, OutputOptions, Process, Stdin, Stream};
use windlass_protocol::{Arguments, ExecAnswer, IoMode, ToolAnswer, ToolError, ToolState};
use windlass_runtime::{Ending, Reporter, ToolEvent};

use crate::ending;
use crate::kept::Kept;
use crate::terminal::{TerminalJob, TerminalPlan};
use crate::writing::Writing;

/// What to run, and how to run it again with answers.
pub(crate) struct TextPlan {
    pub(crate) launcher: Launcher,
    /// The command for these answers.
    pub(crate) command: CommandFor,
    /// Where the project is; what an `exec` answer runs in unless it says.
    pub(crate) root: PathBuf,
    pub(crate) log: Option<PathBuf>,
    pub(crate) grace: Duration,
    /// Input can come later.
    pub(crate) takes_input: bool,
    /// Stdout as a whole may be protocol. Otherwise stderr goes into the same
    /// pipe, and the order of both is exact.
    pub(crate) speaks_protocol: bool,
    /// An `exec` answer may have a terminal.
    pub(crate) kept: Kept,
}

/// Gives the command that a call with these answers runs.
pub(crate) type CommandFor = Box<dyn Fn(&Arguments) -> Result<Command, ToolError> + Send + Sync>;

/// A running text program.
pub(crate) struct TextJob {
    /// Itself, for its followers.
    me: Weak<Self>,
    plan: TextPlan,
    reporter: Reporter,
    run: Mutex<Run>,
    phase: watch::Sender<Phase>,
}

/// One run of a program; a job may have several, one after the other.
struct Run {
    process: Process,
    /// There from the moment the job is.
    follower: Option<Follower>,
    cursor: Cursor,
    /// Where the output stood at the last input.
    last_input: u64,
    started: Instant,
    merged: bool,
    /// What an earlier run said that was not read.
    carried: String,
    answers: Arguments,
    number: u32,
    aborted: bool,
    /// The program on a terminal that has taken over.
    terminal: Option<Arc<TerminalJob>>,
}

/// Where a job stands, for those who wait for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Run number so-and-so is under way.
    Running(u32),
    /// The program has exited with a question.
    Asked,
    /// The program has exited, and one on a terminal has taken over.
    HandedOver,
    /// The end has been reported.
    Ended,
}

/// Stops following when the job is dropped, so that nothing holds the process
/// any more.
struct Follower(AbortHandle);

impl Drop for Follower {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl TextJob {
    pub(crate) async fn start(plan: TextPlan, reporter: Reporter) -> Result<Arc<Self>, ToolError> {
        let command = (plan.command)(&Arguments::new())?;
        let merged = !plan.speaks_protocol;
        let process = plan.launch(command, merged, 1).await?;
        let job = Arc::new_cyclic(|job| Self {
            me: job.clone(),
            run: Mutex::new(Run {
                process: process.clone(),
                follower: None,
                cursor: Cursor::default(),
                last_input: 0,
                started: Instant::now(),
                merged,
                carried: String::new(),
                answers: Arguments::new(),
                number: 1,
                aborted: false,
                terminal: None,
            }),
            phase: watch::Sender::new(Phase::Running(1)),
            reporter: reporter.clone(),
            plan,
        });
        // Not before the job is there: a program may have exited already, and
        // its follower would find nobody to tell.
        job.run.lock().follower = Some(follow(job.me.clone(), process, reporter, 1));
        Ok(job)
    }

    /// Starts another program in the place of the one that has exited.
    async fn run_again(&self, command: Command, merged: bool) -> Result<(), ToolError> {
        let number = self.run.lock().number + 1;
        let process = self.plan.launch(command, merged, number).await?;
        let mut run = self.run.lock();
        if run.aborted {
            // Dropping the process ends it.
            return Err(ToolError::new("aborted"));
        }
        run.carry();
        // This may be the old follower's own doing; it has nothing left to do.
        run.follower = Some(follow(
            self.me.clone(),
            process.clone(),
            self.reporter.clone(),
            number,
        ));
        run.process = process;
        run.cursor = Cursor::default();
        run.last_input = 0;
        run.started = Instant::now();
        run.merged = merged;
        run.number = number;
        self.phase.send_replace(Phase::Running(number));
        Ok(())
    }

    /// Starts a program on a terminal in the place of the one that has
    /// exited. From then on everything goes to it.
    async fn hand_over(&self, command: Command) -> Result<(), ToolError> {
        let number = self.run.lock().number + 1;
        let plan = TerminalPlan {
            launcher: self.plan.launcher.clone(),
            command,
            log: self.plan.log_of(number),
            grace: self.plan.grace,
            kept: self.plan.kept,
        };
        let terminal = TerminalJob::start(plan, self.reporter.clone()).await?;
        let mut run = self.run.lock();
        if run.aborted {
            // Dropping the job ends its program.
            return Err(ToolError::new("aborted"));
        }
        run.carry();
        run.terminal = Some(terminal);
        self.phase.send_replace(Phase::HandedOver);
        Ok(())
    }

    fn process(&self) -> Process {
        self.run.lock().process.clone()
    }

    fn terminal(&self) -> Option<Arc<TerminalJob>> {
        self.run.lock().terminal.clone()
    }

    fn report_end(&self, ending: Ending) {
        self.reporter.report(ToolEvent::Ended(ending));
        self.phase.send_replace(Phase::Ended);
    }
}

impl Run {
    /// Keeps what was not read for the run that follows.
    fn carry(&mut self) {
        let rest = self.process.output().read(&mut self.cursor, usize::MAX);
        self.carried.push_str(&rest.text);
    }
}

impl TextPlan {
    /// Each run has a log of its own.
    fn log_of(&self, number: u32) -> Option<PathBuf> {
        self.log.as_ref().map(|log| match number {
            1 => log.clone(),
            _ => log.with_extension(format!("{number}.log")),
        })
    }

    async fn launch(
        &self,
        command: Command,
        merged: bool,
        number: u32,
    ) -> Result<Process, ToolError> {
        let mut command = command.grace(self.grace).output(OutputOptions {
            log: self.log_of(number),
            log_limit: self.kept.log_limit,
            hold_object: !merged,
            ..OutputOptions::default()
        });
        if self.takes_input {
            command = command.stdin(Stdin::Pipe);
        }
        if merged {
            command = command.merge_output();
        }
        let process = self
            .launcher
            .start(command)
            .await
            .map_err(|error| ending::start_error(&error))?;
        // The session removes its logs when it ends.
        process.output().keep_log();
        Ok(process)
    }
}

// ── Following ──────────────────────────────────────────────────────────────

fn follow(job: Weak<TextJob>, process: Process, reporter: Reporter, number: u32) -> Follower {
    let task = async move {
        let mut writing = Writing::of(process.output(), reporter);
        let exit = loop {
            tokio::select! {
                biased;
                exit = process.wait() => break exit,
                () = writing.more() => {}
            }
        };
        writing.rest();
        let Some(job) = job.upgrade() else {
            return;
        };
        let answer = job.plan.protocol_answer(&process);
        match answer {
            Some(Ok(ToolAnswer::State(state))) => job.take_state(state, &process).await,
            Some(Ok(ToolAnswer::Exec(exec))) => job.exec(exec).await,
            Some(Err(error)) => job.report_end(Ending::failed(format!(
                "the tool's answer is not understood: {error}"
            ))),
            None => {
                process.output().release();
                let stream = if job.run.lock().merged {
                    Stream::Stdout
                } else {
                    Stream::Stderr
                };
                let mut ending = ending::of_exit(&exit, process.output(), stream);
                ending.left_running = job.left_running(&process).await;
                debug_assert!(job.run.lock().number >= number);
                job.report_end(ending);
            }
        }
    };
    Follower(tokio::spawn(task).abort_handle())
}

impl TextPlan {
    /// What the program's stdout says, if it speaks the protocol.
    fn protocol_answer(&self, process: &Process) -> Option<Result<ToolAnswer, serde_json::Error>> {
        if !self.speaks_protocol {
            return None;
        }
        let stdout = process.output().take_object()?;
        ToolAnswer::read(&stdout)
    }
}

impl TextJob {
    /// The program has exited; this is what it said.
    async fn take_state(&self, state: ToolState, process: &Process) {
        match state {
            // It has exited, so it runs no longer whatever it says.
            ToolState::Running { content } => {
                let mut ending = Ending::with(Ok(Some(content.unwrap_or_default())));
                ending.left_running = self.left_running(process).await;
                self.report_end(ending);
            }
            ToolState::Waiting { content, question } => {
                if let Some(content) = content.filter(|content| !content.is_empty()) {
                    self.run.lock().carried.push_str(&content);
                }
                self.reporter.report(ToolEvent::Asked { question });
                self.phase.send_replace(Phase::Asked);
            }
            ToolState::Stopped { result } => {
                let mut ending = Ending::with(result.map(Some));
                ending.left_running = self.left_running(process).await;
                self.report_end(ending);
            }
        }
    }

    /// How many processes the program has left. An abort ends them all, and
    /// so leaves none, even if some are not gone yet.
    async fn left_running(&self, process: &Process) -> usize {
        if self.run.lock().aborted {
            return 0;
        }
        process.remaining().await
    }

    /// Runs the program that the tool answered with, as the tool.
    async fn exec(&self, exec: ExecAnswer) {
        let mut command = Command::new(&exec.program).args(&exec.args).cwd(
            exec.cwd
                .as_ref()
                .map_or(self.plan.root.clone(), |cwd| self.plan.root.join(cwd)),
        );
        for (name, value) in &exec.env {
            command = command.env(name, value);
        }
        let started = match exec.io {
            IoMode::Text => self.run_again(command, true).await,
            IoMode::Terminal => self.hand_over(command).await,
            IoMode::State => Err(ToolError::new(format!(
                "the tool wants `{}` run with states; `exec` runs programs with `io` \"text\" or \"terminal\"",
                exec.program
            ))),
        };
        if let Err(error) = started {
            self.report_end(Ending::with(Err(error)));
        }
    }
}
