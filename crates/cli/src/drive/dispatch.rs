//! Executes the lines of one driver.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use windlass::Windlass;
use windlass_protocol::{
    Batch, DriveInput, DriveOutput, DriverReply, DriverRequest, DriverValue, LineError,
};
use windlass_runtime::{RunOptions, Session};

use super::asks::{AnsweredAsks, Inquiries};
use super::fault::DriveFault;
use super::follow::Following;
use super::lines::DriveLine;
use super::output::LineOutput;
use super::progress::BatchProgress;
use super::reads;
use super::tools::DriverTools;
use crate::exit;

/// After the end of input, earlier batches are still answered as long as one
/// completes within this time.
pub(super) const PATIENCE: Duration = Duration::from_secs(4);
/// The end of a turn waits this long for earlier `await` calls, which it would
/// otherwise cut short.
const TURN_PATIENCE: Duration = Duration::from_secs(2);

/// One driver: its session, and the lines in progress.
pub(super) struct Drive {
    windlass: Arc<Windlass>,
    session: Session,
    output: LineOutput,
    /// Set if questions go to the driver.
    inquiries: Option<Arc<Inquiries>>,
    answered: AnsweredAsks,
    batches: mpsc::UnboundedSender<(Batch, CancellationToken)>,
    cancels: Arc<Mutex<HashMap<String, CancellationToken>>>,
    pub(super) progress: BatchProgress,
    turn: Arc<tokio::sync::Mutex<()>>,
    tools: DriverTools,
    following: Following,
    line: u64,
}

impl Drive {
    pub(super) fn start(
        windlass: &Arc<Windlass>,
        session: &Session,
        output: &LineOutput,
        inquiries: Option<Arc<Inquiries>>,
        answered: AnsweredAsks,
    ) -> Self {
        let (batches, mut queue) = mpsc::unbounded_channel::<(Batch, CancellationToken)>();
        let drive = Self {
            windlass: Arc::clone(windlass),
            session: session.clone(),
            output: output.clone(),
            inquiries,
            answered,
            batches,
            cancels: Arc::default(),
            progress: BatchProgress::follow(session),
            turn: Arc::default(),
            tools: DriverTools::new(output.clone()),
            following: Following::default(),
            line: 0,
        };
        let runner = drive.runner();
        tokio::spawn(async move {
            while let Some((batch, cancel)) = queue.recv().await {
                runner.run(batch, cancel).await;
            }
        });
        drive
    }

    fn runner(&self) -> BatchRunner {
        BatchRunner {
            session: self.session.clone(),
            output: self.output.clone(),
            cancels: Arc::clone(&self.cancels),
            progress: self.progress.clone(),
        }
    }

    /// Handles a line. An invalid line is answered with an error and has no
    /// other effect.
    pub(super) fn take(&mut self, line: DriveLine) {
        self.line += 1;
        let taken = match line {
            DriveLine::Text(text) if text.trim().is_empty() => Ok(()),
            DriveLine::Text(text) => DriveInput::read(&text, self.line)
                .map_err(DriveFault::from)
                .and_then(|input| self.carry_out(input)),
            DriveLine::Bad(fault) => Err(fault),
        };
        if let Err(fault) = taken {
            // The driver waits for a reply with that id.
            if let DriveFault::Line(LineError::Request { request, .. }) = &fault {
                return self.reply(request.clone(), Err(fault));
            }
            let error = fault.to_string();
            self.output.write(&DriveOutput::Error { error });
        }
    }

    fn carry_out(&mut self, input: DriveInput) -> Result<(), DriveFault> {
        match input {
            DriveInput::Batch { batch, concurrent } => self.queue(batch, concurrent),
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
            DriveInput::Decline { ask, why } => {
                let inquiries = self.inquiries()?;
                if inquiries.holds(&ask) {
                    return inquiries.decline(&ask);
                }
                self.answered.add(&ask);
                let taken = self.session.requests().decline(&ask, why);
                if taken.is_err() {
                    self.answered.remove(&ask);
                }
                Ok(taken?)
            }
            DriveInput::Request { id, request } => {
                self.request(id, request);
                Ok(())
            }
            DriveInput::Report { run, report } => self.tools.take(&run, report),
            DriveInput::Inquire { ask, decisions } => self.inquiries()?.decide(&ask, decisions),
        }
    }

    fn inquiries(&self) -> Result<&Inquiries, DriveFault> {
        self.inquiries.as_deref().ok_or(DriveFault::NotAsking)
    }

    /// Answers a request, at once or when there is news.
    fn request(&mut self, id: String, request: DriverRequest) {
        let outcome = match request {
            DriverRequest::AddTool(tool) => self
                .tools
                .add(&self.windlass, &self.session, tool)
                .map(|()| DriverValue::Done {}),
            DriverRequest::Follow { after } => {
                // The reply precedes the first event.
                self.reply(id, Ok(DriverValue::Done {}));
                self.following.begin(&self.session, &self.output, after);
                return;
            }
            DriverRequest::Unfollow {} => {
                self.following.end();
                Ok(DriverValue::Done {})
            }
            DriverRequest::Screen { .. } | DriverRequest::Output { .. } => {
                let (session, output) = (self.session.clone(), self.output.clone());
                tokio::spawn(async move {
                    let outcome = reads::wait_for(&session, request).await;
                    output.write(&DriveOutput::Reply(DriverReply::new(id, outcome)));
                });
                return;
            }
            DriverRequest::Session {} => Ok(reads::session(&self.session)),
            DriverRequest::Handles {} => Ok(DriverValue::Handles(self.session.handle_infos())),
            DriverRequest::Tools { dialect } => reads::tools(&self.session, dialect.as_deref()),
        };
        self.reply(id, outcome);
    }

    fn reply(&self, request: String, outcome: Result<DriverValue, DriveFault>) {
        let reply = DriverReply::new(request, outcome);
        self.output.write(&DriveOutput::Reply(reply));
    }

    fn queue(&mut self, batch: Batch, concurrent: bool) -> Result<(), DriveFault> {
        let cancel = CancellationToken::new();
        {
            let mut cancels = self.cancels.lock();
            if cancels.contains_key(&batch.id) {
                return Err(DriveFault::BatchTaken(batch.id));
            }
            cancels.insert(batch.id.clone(), cancel.clone());
        }
        self.progress.queue();
        if concurrent {
            let runner = self.runner();
            tokio::spawn(async move { runner.run(batch, cancel).await });
        } else {
            // The receiver lives as long as `self`.
            let _ = self.batches.send((batch, cancel));
        }
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

    /// Ends the turn after the earlier calls. Calls that only wait delay it
    /// only briefly, because the end of the turn ends them.
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

    /// Handles the end of input: completes calls in progress, within a time
    /// limit. Returns an exit code if they were cut short.
    pub(super) async fn drain(&mut self, mut stop: impl Future<Output = u8> + Unpin) -> Option<u8> {
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
                code = &mut stop => return Some(code),
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

/// The state that is needed to answer a batch.
struct BatchRunner {
    session: Session,
    output: LineOutput,
    cancels: Arc<Mutex<HashMap<String, CancellationToken>>>,
    progress: BatchProgress,
}

impl BatchRunner {
    async fn run(&self, batch: Batch, cancel: CancellationToken) {
        let id = batch.id.clone();
        self.progress.begin(&batch);
        let reply = self.session.run(batch, RunOptions::until(&cancel)).await;
        self.cancels.lock().remove(&id);
        self.output.write(&DriveOutput::Replies(reply));
        self.progress.end(&id);
    }
}
