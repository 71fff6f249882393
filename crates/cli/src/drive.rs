//! `windlass drive`: the runtime from any language, a JSON value per line.
//!
//! Start at [`run`]. A thread reads lines, a task answers batches one after
//! the other, and this loop hands out everything that is taken at once.

mod asks;
mod fault;
mod lines;
mod output;
mod progress;

use std::collections::HashMap;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use windlass_protocol::{Batch, DriveInput, DriveOutput};
use windlass_runtime::{Attendance, RunOptions, Session, SessionOptions};

use self::asks::{AnsweredAsks, Inquiries};
use self::fault::DriveFault;
use self::lines::Line;
use self::output::Output;
use self::progress::Progress;
use crate::args::{DriveArgs, Global};
use crate::control;
use crate::exit;
use crate::setup;
use crate::signals::Signals;

/// After the end of input, batches that came before are still answered as
/// long as one is done within this time.
const PATIENCE: Duration = Duration::from_secs(4);
/// A turn's end waits this long for `await`s that came before it, which its
/// end would end.
const TURN_PATIENCE: Duration = Duration::from_secs(2);
/// How long tools have to leave when that patience has run out.
const SHORT_GRACE: Duration = Duration::from_millis(500);

pub(crate) async fn run(global: &Global, args: DriveArgs) -> anyhow::Result<ExitCode> {
    let mut lines = lines::read_stdin();
    let mut signals = Signals::new()?;
    // A program that is asked for its tools may take its time.
    let windlass = tokio::select! {
        windlass = setup::windlass(global) => Arc::new(windlass?),
        code = signals.next() => return Ok(ExitCode::from(code)),
    };
    let output = Output::stdout();
    let inquiries = args.ask.then(|| Arc::new(Inquiries::new(output.clone())));
    setup::warn_of_record(&windlass);
    let session = windlass.session(SessionOptions {
        front_end: Some("drive".to_owned()),
        trusted: inquiries.is_none(),
        attendance: Attendance::when(args.ask),
        inquirer: inquiries.clone().map(|inquiries| inquiries as _),
        ..SessionOptions::default()
    });
    let _reachable = control::listen(&windlass, "drive");
    let watch = session.requests().watch();
    let answered = AnsweredAsks::default();
    let telling = asks::tell_requests(output.clone(), session.clone(), watch, answered.clone());
    tokio::spawn(telling);
    let mut drive = Drive::start(session.clone(), output.clone(), inquiries, answered);
    let code = loop {
        tokio::select! {
            line = lines.recv() => match line {
                Some(line) => drive.take(line),
                None => break drive.drain(&mut signals).await,
            },
            code = signals.next() => break Some(code),
            () = output.closed() => break Some(exit::OUTPUT_CLOSED),
        }
    };
    let closing = async {
        match code {
            None => session.close().await,
            Some(_) => session.close_within(SHORT_GRACE).await,
        }
        // Closing has refused what was not answered; that is still to be said.
        let _ = tokio::time::timeout(PATIENCE, drive.progress.all_answered()).await;
    };
    signals.finish(closing).await;
    setup::tell_unrecorded(&session);
    output.take_error()?;
    Ok(ExitCode::from(code.unwrap_or(0)))
}

struct Drive {
    session: Session,
    output: Output,
    /// The driver is asked.
    inquiries: Option<Arc<Inquiries>>,
    answered: AnsweredAsks,
    batches: mpsc::UnboundedSender<(Batch, CancellationToken)>,
    cancels: Arc<Mutex<HashMap<String, CancellationToken>>>,
    progress: Progress,
    turn: Arc<tokio::sync::Mutex<()>>,
    line: u64,
}

impl Drive {
    fn start(
        session: Session,
        output: Output,
        inquiries: Option<Arc<Inquiries>>,
        answered: AnsweredAsks,
    ) -> Self {
        let (batches, mut queue) = mpsc::unbounded_channel::<(Batch, CancellationToken)>();
        let cancels = Arc::new(Mutex::new(HashMap::new()));
        let progress = Progress::follow(&session);
        let drive = Self {
            session: session.clone(),
            output: output.clone(),
            inquiries,
            answered,
            batches,
            cancels: Arc::clone(&cancels),
            progress: progress.clone(),
            turn: Arc::default(),
            line: 0,
        };
        tokio::spawn(async move {
            while let Some((batch, cancel)) = queue.recv().await {
                let id = batch.id.clone();
                progress.begin(&batch);
                let reply = session.run(batch, RunOptions::until(&cancel)).await;
                cancels.lock().remove(&id);
                output.write(&DriveOutput::Replies(reply));
                progress.end();
            }
        });
        drive
    }

    /// Takes a line; whatever is wrong with it is answered with an error, and
    /// nothing else changes.
    fn take(&mut self, line: Line) {
        self.line += 1;
        let taken = match line {
            Line::Text(text) if text.trim().is_empty() => Ok(()),
            Line::Text(text) => DriveInput::read(&text, self.line)
                .map_err(DriveFault::from)
                .and_then(|input| self.carry_out(input)),
            Line::Bad(fault) => Err(fault),
        };
        if let Err(fault) = taken {
            let error = fault.to_string();
            self.output.write(&DriveOutput::Error { error });
        }
    }

    fn carry_out(&mut self, input: DriveInput) -> Result<(), DriveFault> {
        match input {
            DriveInput::Batch(batch) => self.queue(batch),
            DriveInput::Cancel(batch) => self.cancel(&batch),
            DriveInput::TurnEnd => {
                self.end_turn();
                Ok(())
            }
            DriveInput::Permission { permission, answer } => {
                self.inquiries()?;
                Ok(self.session.requests().reply(&permission, answer)?)
            }
            DriveInput::Answer { ask, value } => {
                let inquiries = self.inquiries()?;
                if inquiries.holds(&ask) {
                    return inquiries.answer(&ask, value);
                }
                self.answered.add(&ask);
                let taken = self.session.requests().answer(&ask, value);
                if taken.is_err() {
                    self.answered.remove(&ask);
                }
                Ok(taken?)
            }
            DriveInput::Inquire { ask, decisions } => self.inquiries()?.decide(&ask, decisions),
        }
    }

    fn inquiries(&self) -> Result<&Inquiries, DriveFault> {
        self.inquiries.as_deref().ok_or(DriveFault::NotAsking)
    }

    fn queue(&mut self, batch: Batch) -> Result<(), DriveFault> {
        let cancel = CancellationToken::new();
        {
            let mut cancels = self.cancels.lock();
            if cancels.contains_key(&batch.id) {
                return Err(DriveFault::BatchTaken(batch.id));
            }
            cancels.insert(batch.id.clone(), cancel.clone());
        }
        self.progress.queue();
        // The receiver lives as long as this.
        let _ = self.batches.send((batch, cancel));
        Ok(())
    }

    fn cancel(&self, batch: &str) -> Result<(), DriveFault> {
        match self.cancels.lock().get(batch) {
            Some(cancel) => {
                cancel.cancel();
                Ok(())
            }
            None => Err(DriveFault::NoBatch(batch.to_owned())),
        }
    }

    /// Ends the turn after the calls that came before it. Those that only wait
    /// do not hold it up for long: the turn's end is what ends their waiting.
    fn end_turn(&self) {
        let session = self.session.clone();
        let output = self.output.clone();
        let progress = self.progress.clone();
        let turn = Arc::clone(&self.turn);
        tokio::spawn(async move {
            let _one_at_a_time = turn.lock().await;
            progress.answered_or_waiting(TURN_PATIENCE).await;
            let turn_end = session.end_turn().await;
            output.write(&DriveOutput::TurnEnd { turn_end });
        });
    }

    /// The input has ended: answers what is still being answered, within
    /// reason. Gives an exit code when it had to be cut short.
    async fn drain(&mut self, signals: &mut Signals) -> Option<u8> {
        let turn = self.turn.clone();
        let answered = async {
            self.progress.all_answered().await;
            drop(turn.lock().await);
        };
        tokio::pin!(answered);
        loop {
            let before = self.progress.answered();
            tokio::select! {
                () = &mut answered => return None,
                code = signals.next() => return Some(code),
                () = self.output.closed() => return Some(exit::OUTPUT_CLOSED),
                () = tokio::time::sleep(PATIENCE) => {
                    if self.progress.answered() == before {
                        return Some(0);
                    }
                }
            }
        }
    }
}
