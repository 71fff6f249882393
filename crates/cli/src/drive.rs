//! `windlass drive`: the runtime from any language, one JSON value per line.
//!
//! Start at [`run`]. A thread reads lines, tasks answer batches, and
//! [`dispatch`] handles immediate requests. [`over_http`] offers the same over
//! a connection of `windlass serve`.

mod asks;
mod dispatch;
mod fault;
mod follow;
mod lines;
mod output;
pub(crate) mod over_http;
mod progress;
mod reads;
mod tools;

use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use windlass::{Succession, Windlass};
use windlass_runtime::{Attendance, Session, SessionOptions};

use self::asks::{AnsweredAsks, Inquiries};
use self::dispatch::{Drive, PATIENCE};
use self::lines::DriveLine;
use self::output::LineOutput;
use crate::args::{DriveArgs, Global};
use crate::control;
use crate::exit;
use crate::session_name::{self, SessionName};
use crate::setup;
use crate::signals::Signals;

/// The grace of tools after that time.
const SHORT_GRACE: Duration = Duration::from_millis(500);
/// The number of events by which a driver may lag behind without missing any.
/// The journal bounds their size too.
const FOLLOWED: usize = 32 << 10;

pub(crate) async fn run(global: &Global, args: DriveArgs) -> anyhow::Result<ExitCode> {
    if let Some(name) = &args.session {
        session_name::check(name)?;
    }
    let lines = lines::read_stdin();
    let mut signals = Signals::new()?.ignoring_interrupts(args.ignore_interrupts);
    // Querying a program for its tools may take long.
    let windlass = tokio::select! {
        windlass = setup::windlass(global) => Arc::new(windlass?),
        code = signals.next() => return Ok(ExitCode::from(code)),
    };
    let output = LineOutput::stdout();
    setup::warn_of_record(&windlass);
    let _name = match &args.session {
        Some(name) => Some(SessionName::take(name, &windlass.config().root).await?),
        None => None,
    };
    let options = SessionOptions {
        name: args.session.clone(),
        ..SessionOptions::default()
    };
    let mut driver = DrivenSession::begin(&windlass, lines, output.clone(), args.ask, options);
    let _reachable = control::listen(&windlass, "drive");
    if let Some(name) = args.session {
        let succession = Succession::Named(name);
        windlass.succeed(&driver.session, &succession, true).await;
    }
    let code = driver.drive(pin!(signals.next())).await;
    signals.finish(driver.close(code)).await;
    setup::tell_unrecorded(&driver.session);
    output.take_error()?;
    Ok(ExitCode::from(code.unwrap_or(0)))
}

/// A driver, and the session that it drives.
struct DrivenSession {
    session: Session,
    lines: mpsc::Receiver<DriveLine>,
    output: LineOutput,
    drive: Drive,
}

impl DrivenSession {
    /// Starts a session. With `ask` the driver acts as the user.
    fn begin(
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
        tokio::spawn(telling);
        let drive = Drive::start(windlass, &session, &output, inquiries, answered);
        Self {
            session,
            lines,
            output,
            drive,
        }
    }

    /// Handles lines until their end, or until `stop` resolves to an exit code.
    /// Returns an exit code if work was cut short.
    async fn drive(&mut self, mut stop: impl Future<Output = u8> + Unpin) -> Option<u8> {
        loop {
            tokio::select! {
                line = self.lines.recv() => match line {
                    Some(line) => self.drive.take(line),
                    None => return self.drive.drain(stop).await,
                },
                code = &mut stop => return Some(code),
                () = self.output.closed() => return Some(exit::OUTPUT_CLOSED),
            }
        }
    }

    /// Ends the session.
    async fn close(&self, code: Option<u8>) {
        match code {
            None => self.session.close().await,
            Some(_) => self.session.close_within(SHORT_GRACE).await,
        }
        // Closing has refused open calls; write their replies.
        let _ = tokio::time::timeout(PATIENCE, self.drive.progress.all_answered()).await;
    }
}
