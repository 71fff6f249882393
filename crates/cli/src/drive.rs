//! `windlass drive`: the runtime from any language, one JSON value per line.
//!
//! Start at [`run`]. A thread reads lines ([`lines`]), [`dispatch`] executes
//! them, and tasks answer batches ([`batches`]). [`over_http`] offers the same
//! over a connection of `windlass serve`.

mod asks;
mod batches;
mod dispatch;
mod fault;
mod follow;
mod lines;
pub(crate) mod over_http;
mod reads;
mod tools;

use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;

use windlass::Succession;
use windlass_runtime::SessionOptions;

use self::dispatch::Drive;
use self::lines::LineOutput;
use crate::args::{DriveArgs, Global};
use crate::control;
use crate::session_name::{self, SessionName};
use crate::setup;
use crate::signals::Signals;

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
    let mut driver = Drive::begin(&windlass, lines, output.clone(), args.ask, options);
    let _reachable = control::listen(&windlass, "drive");
    if let Some(name) = args.session {
        let succession = Succession::Named(name);
        windlass.succeed(&driver.session, &succession, true).await;
    }
    let code = driver.run(pin!(signals.next())).await;
    signals.finish(driver.close(code)).await;
    setup::tell_unrecorded(&driver.session);
    output.take_error()?;
    Ok(ExitCode::from(code.unwrap_or(0)))
}
