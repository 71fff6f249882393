//! Runs a program to collect its output.
//!
//! [`ask`] runs a program to its end, within limits of time and size.
//! Everything that the program started ends with it.

use std::time::Duration;

use windlass_output::{Output, OutputOptions, Stream};
use windlass_process::{Command, Launcher, StartError};

use crate::ending;

/// The time between TERM and KILL for a program that does not answer.
const GRACE: Duration = Duration::from_millis(200);

/// Limits for an [`ask`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct AskLimits {
    pub(crate) time: Duration,
    pub(crate) bytes: usize,
}

/// The reason why a program gave no answer.
#[derive(Debug)]
pub(crate) enum AskError {
    Start(StartError),
    /// It failed; the text explains how.
    Failed(String),
    /// It exceeded the time limit and was ended.
    TimedOut,
    /// It exceeded the output limit and was ended.
    TooMuch,
}

/// Runs a program and returns its stdout.
pub(crate) async fn ask(
    launcher: &Launcher,
    command: Command,
    limits: AskLimits,
) -> Result<Output, AskError> {
    let command = command.split_output().grace(GRACE).output(OutputOptions {
        memory: limits.bytes,
        ..OutputOptions::default()
    });
    let process = launcher.start(command).await.map_err(AskError::Start)?;
    let output = process.output().clone();
    let most = limits.bytes as u64;
    let mut changes = output.changes();
    let answered = async {
        tokio::select! {
            biased;
            exit = process.wait() => Some(exit),
            _ = changes.wait_for(|written| *written > most) => None,
        }
    };
    match tokio::time::timeout(limits.time, answered).await {
        Ok(Some(exit)) if output.written() <= most => {
            if exit.success() {
                return Ok(output);
            }
            let last_line = || process.errors().last_line(Stream::Stderr);
            let ending = ending::of_exit(&exit, &process, last_line);
            let how = ending.result.err().map(|error| error.message);
            Err(AskError::Failed(how.unwrap_or_default()))
        }
        Ok(_) => {
            process.end(GRACE).await;
            Err(AskError::TooMuch)
        }
        Err(_) => {
            process.end(GRACE).await;
            Err(AskError::TimedOut)
        }
    }
}

pub(crate) fn bytes_of(output: &Output) -> Vec<u8> {
    output.raw(0..output.position())
}
