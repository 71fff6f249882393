//! The session of one driver: executes its lines.
//!
//! Start at [`Drive::run`]. `batches.rs` runs the calls.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use windlass::Windlass;
use windlass_protocol::{
    DriveInput, DriveOutput, DriverReply, DriverRequest, DriverValue, LineError,
};
use windlass_runtime::{Attendance, Session, SessionOptions};

use super::asks::{self, AnsweredAsks, Inquiries};
use super::batches::Batches;
use super::fault::DriveFault;
use super::follow::Following;
use super::lines::{DriveLine, LineOutput};
use super::reads;
use super::tools::DriverTools;
use crate::exit;

/// After the end of input, earlier batches are still answered as long as one
/// completes within this time.
const PATIENCE: Duration = Duration::from_secs(4);
/// The end of a turn waits this long for earlier `await` calls, which it would
/// otherwise cut short.
const TURN_PATIENCE: Duration = Duration::from_secs(2);
/// The number of events by which a driver may lag behind without missing any.
/// The journal bounds their size too.
const FOLLOWED: usize = 32 << 10;
/// The grace of tools of a driver that was cut short.
const SHORT_GRACE: Duration = Duration::from_millis(500);

/// One driver: its session, and the lines in progress.
pub(super) struct Drive {
    windlass: Arc<Windlass>,
    pub(super) session: Session,
    lines: mpsc::Receiver<DriveLine>,
    output: LineOutput,
    /// Set if questions go to the driver.
    inquiries: Option<Arc<Inquiries>>,
    answered: AnsweredAsks,
    batches: Batches,
    turn: Arc<tokio::sync::Mutex<()>>,
    tools: DriverTools,
    following: Following,
    /// The number of lines received.
    line: u64,
}

impl Drive {
    /// Starts a session. With `ask` the driver acts as the user.
    pub(super) fn begin(
        windlass: &Arc<Windlass>,
        lines: mpsc::Receiver<DriveLine>,
        output: LineOutput,
        ask: bool,
        options: SessionOptions,
    ) -> Self {
        let inquiries = ask.then(|| Arc::new(Inquiries::new(output.clone())));
        let session = windlass.session_with_tools(SessionOptions {
            front_end: Some("drive".to_owned()),
            trusted: inquiries.is_none(),
            attendance: Attendance::when(ask),
            inquirer: inquiries.clone().map(|inquiries| inquiries as _),
            journal_capacity: Some(FOLLOWED),
            ..options
        });
        let watch = session.requests().watch();
        let answered = AnsweredAsks::default();
        let telling = asks::tell_requests(output.clone(), session.clone(), watch, answered.clone());
        windlass_task::spawn(telling);
        Self {
            windlass: Arc::clone(windlass),
            batches: Batches::new(&session, &output),
            tools: DriverTools::new(output.clone()),
            session,
            lines,
            output,
            inquiries,
            answered,
            turn: Arc::default(),
            following: Following::default(),
            line: 0,
        }
    }

    /// Handles lines until their end, or until `stop` resolves to an exit code.
    /// Returns an exit code if work was cut short.
    pub(super) async fn run(&mut self, mut stop: impl Future<Output = u8> + Unpin) -> Option<u8> {
        loop {
            tokio::select! {
                line = self.lines.recv() => match line {
                    Some(line) => {
                        if let Err(fault) = self.carry_out(line) {
                            self.refuse(fault);
                        }
                    }
                    None => return self.drain(stop).await,
                },
                code = &mut stop => return Some(code),
                () = self.output.closed.cancelled() => return Some(exit::OUTPUT_CLOSED),
            }
        }
    }

    /// Ends the session.
    pub(super) async fn close(&self, code: Option<u8>) {
        match code {
            None => self.session.close().await,
            Some(_) => self.session.close_within(SHORT_GRACE).await,
        }
        // Closing has refused open calls; write their replies.
        let answered = self.batches.progress().all_answered();
        let _ = tokio::time::timeout(PATIENCE, answered).await;
    }

    /// Carries out a line. A line with a fault has no effect.
    fn carry_out(&mut self, line: DriveLine) -> Result<(), DriveFault> {
        self.line += 1;
        let line = line?;
        let line = std::str::from_utf8(&line).map_err(|_| DriveFault::NotUtf8)?;
        if line.trim().is_empty() {
            return Ok(());
        }
        // Errors name the position in the line, without its newline.
        let line = line.strip_suffix('\n').unwrap_or(line);
        match DriveInput::read(line, self.line)? {
            DriveInput::Batch { batch, concurrent } => self.batches.queue(batch, concurrent),
            DriveInput::Cancel(batch) => self.batches.cancel(&batch),
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

    /// Answers a line that has a fault.
    fn refuse(&self, fault: DriveFault) {
        // The driver waits for a reply with that id.
        if let DriveFault::Line(LineError::Request { request, .. }) = &fault {
            return self.reply(request.clone(), Err(fault));
        }
        let error = fault.to_string();
        self.output.write(&DriveOutput::Error { error });
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
                windlass_task::spawn(async move {
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

    /// Ends the turn after the earlier calls. Calls that only wait delay it
    /// only briefly, because the end of the turn ends them.
    fn end_turn(&self) {
        let session = self.session.clone();
        let output = self.output.clone();
        let progress = self.batches.progress().clone();
        let turn = Arc::clone(&self.turn);
        windlass_task::spawn(async move {
            let _one_at_a_time = turn.lock().await;
            progress.answered_or_waiting(TURN_PATIENCE).await;
            let turn_end = session.end_turn().await;
            output.write(&DriveOutput::TurnEnd { turn_end });
        });
    }

    /// Handles the end of input: completes calls in progress, within a time
    /// limit. Returns an exit code if they were cut short.
    async fn drain(&mut self, mut stop: impl Future<Output = u8> + Unpin) -> Option<u8> {
        let turn = self.turn.clone();
        let progress = self.batches.progress();
        let answered = async {
            progress.all_answered().await;
            drop(turn.lock().await);
        };
        tokio::pin!(answered);
        loop {
            let before = progress.answered();
            tokio::select! {
                () = &mut answered => return None,
                code = &mut stop => return Some(code),
                () = self.output.closed.cancelled() => return Some(exit::OUTPUT_CLOSED),
                () = tokio::time::sleep(PATIENCE) => {
                    if progress.answered() == before {
                        return Some(0);
                    }
                }
            }
        }
    }
}
