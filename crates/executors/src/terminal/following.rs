//! Watches a program on a terminal for its exit and for prompts that want a
//! secret.
//!
//! Start at [`ProgramWatch::follow`]. A prompt for a secret becomes a question
//! for the person.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use tokio::sync::watch;
use windlass_output::Screen;
use windlass_process::{Process, ProgramTerminal, Prompt};
use windlass_protocol::{AnswerType, InputError, Question, ToolEvent};
use windlass_runtime::{JobOutput, Reporter};

use crate::ending::{self, input_error};
use crate::listening::{ReaderKind, Situation};
use crate::secret;
use crate::writing::Writing;

/// The phase of a job, for waiters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProgramPhase {
    Running,
    Ended,
}

/// State shared by the follower task and the waiters for a settled job.
pub(super) struct ProgramWatch {
    pub(super) process: Process,
    pub(super) output: JobOutput,
    pub(super) screen: Arc<Mutex<Screen>>,
    pub(super) reporter: Reporter,
    pub(super) phase: watch::Sender<ProgramPhase>,
    /// The last prompt for a secret, so that each prompt is reported once.
    pub(super) asked: Mutex<Option<AskedAt>>,
    /// The number of secrets given.
    pub(super) answers: watch::Sender<u64>,
    /// The whole tree is being ended: nothing counts as left running, even if
    /// some processes have not exited yet.
    pub(super) aborted: AtomicBool,
}

/// A prompt for a secret.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AskedAt {
    /// The size of the output at that time.
    written: u64,
    /// The request, if the program edits its line itself. Its output per key is
    /// not a new prompt.
    request: Option<String>,
}

/// The kind of prompt for a secret.
enum SecretPrompt {
    /// The program reads a line without echo.
    Line,
    /// The program reads keys, and its line is this request. `is_begun` if text
    /// follows the request.
    Keys { request: String, is_begun: bool },
}

impl ProgramWatch {
    pub(super) async fn follow(self: Arc<Self>, from: u64) {
        let mut writing = Writing::from(&self.output, from, self.reporter.clone());
        let mut looking = pin!(self.look_for_secrets());
        let exit = loop {
            tokio::select! {
                biased;
                exit = self.process.wait() => break exit,
                () = writing.more() => {}
                () = &mut looking => {}
            }
        };
        writing.report();
        let is_aborted = self.aborted.load(Ordering::Acquire);
        let last_line = || self.output.last_line();
        let mut ending = ending::of_exit(&exit, &self.process, last_line);
        // An abort ends all of them, even if some have not exited yet.
        if !is_aborted {
            ending.left_running = self.process.remaining().await;
        }
        self.output.finish();
        let at = self.output.written();
        self.reporter.report(at, ToolEvent::Ended(ending));
        self.phase.send_replace(ProgramPhase::Ended);
    }

    /// Reports every prompt for a secret while the program runs. A prompt is
    /// new only if the previous one was answered or the program has written
    /// since.
    async fn look_for_secrets(&self) {
        let mut changes = self.output.bytes().changes();
        let mut answers = self.answers.subscribe();
        loop {
            changes.borrow_and_update();
            answers.borrow_and_update();
            let prompted = self.process.prompted(|prompt| self.is_secret(prompt));
            if prompted.await.is_none() {
                return std::future::pending().await;
            }
            self.look();
            tokio::select! {
                _ = changes.changed() => {}
                _ = answers.changed() => {}
            }
        }
    }

    /// Asks for a secret if the program is blocked at a new prompt for one.
    pub(super) fn look(&self) {
        // Locked until it is told: whoever else looks meanwhile goes on when
        // it is known, not before, and an answer comes before all of this or
        // after it.
        let mut asked = self.asked.lock();
        let Some(prompt) = self.secret_prompt() else {
            return;
        };
        let at = self.output.written();
        let request = match prompt {
            SecretPrompt::Line => None,
            SecretPrompt::Keys { request, is_begun } => {
                let is_same = |asked: &AskedAt| asked.request.as_ref() == Some(&request);
                if is_begun && asked.as_ref().is_some_and(is_same) {
                    return;
                }
                Some(request)
            }
        };
        let now = AskedAt {
            written: at,
            request,
        };
        if asked.as_ref() != Some(&now) {
            let question = self.question(now.request.as_deref());
            *asked = Some(now);
            self.reporter.report(at, ToolEvent::asked(question));
        }
    }

    /// Whether the program is blocked at a prompt for a secret.
    pub(super) fn asks_for_secret(&self) -> bool {
        self.secret_prompt().is_some()
    }

    /// Whether a program at this prompt may ask for a secret.
    fn is_secret(&self, prompt: Prompt) -> bool {
        match prompt {
            Prompt::Secret => true,
            Prompt::Input => {
                let terminal = self.process.terminal();
                terminal.is_some_and(|terminal| self.key_prompt(terminal).is_some())
            }
        }
    }

    fn secret_prompt(&self) -> Option<SecretPrompt> {
        let terminal = self.process.terminal()?;
        if self.process.exit().is_some() {
            return None;
        }
        match terminal.prompt()? {
            Prompt::Secret => {
                let line = self.screen.lock().cursor_line();
                secret::is_wanted(&line).then_some(SecretPrompt::Line)
            }
            Prompt::Input => self.key_prompt(terminal),
        }
    }

    /// The prompt of a program that reads keys without showing them, if its
    /// line explicitly asks for a secret. Shells, editors and similar programs
    /// show typed text, so their lines do not count.
    fn key_prompt(&self, terminal: ProgramTerminal<'_>) -> Option<SecretPrompt> {
        let modes = terminal.modes();
        if modes.canonical || modes.echo {
            return None;
        }
        let prompt = {
            let mut screen = self.screen.lock();
            if screen.is_full_screen() {
                return None;
            }
            let line = screen.cursor_line().text;
            let (_, column) = screen.cursor();
            let request = secret::request(&line)?.to_owned();
            // The cursor, if any, is behind it.
            let is_behind = usize::from(column) > request.chars().count();
            if screen.cursor_visible() && !is_behind {
                return None;
            }
            SecretPrompt::Keys {
                is_begun: line.trim() != request,
                request,
            }
        };
        let listeners = self.process.listeners();
        let listening = ReaderKind::to(listeners.as_deref(), Situation::at_prompt());
        listening.may_hide_typing().then_some(())?;
        Some(prompt)
    }

    /// Gives the program the secret that it asked for.
    pub(super) fn give(&self, secret: &[u8]) -> Result<(), InputError> {
        let mut asked = self.asked.lock();
        self.process
            .write(secret)
            .map_err(|error| input_error(&error))?;
        // The next prompt is another, even if nothing is written between.
        *asked = None;
        self.answers.send_modify(|answers| *answers += 1);
        Ok(())
    }

    fn question(&self, request: Option<&str>) -> Question {
        let rows = self.screen.lock().rows();
        let last = rows.iter().rev().find(|row| !row.trim().is_empty());
        let text = request.or(last.map(|row| row.trim()));
        Question {
            id: "secret".to_owned(),
            text: text.unwrap_or("Secret:").to_owned(),
            pre_amble: None,
            answer_type: AnswerType::Text,
            default: None,
            secret: true,
        }
    }
}
