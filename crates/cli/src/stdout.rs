//! Writing to stdout and stderr, where the reader may be gone or the disk full.
//!
//! All output of commands goes through here. A stdout error propagates to
//! `main` like any other and is recognised there ([`error_in`]): a closed pipe
//! is silent, a full disk is reported. Errors of stderr are ignored.

use std::fmt;
use std::io::{self, ErrorKind, IsTerminal as _, Write};
use std::process::ExitCode;

use serde_json::Value;

use crate::exit;
use crate::screen::TerminalDisplay;
use crate::wrap;

/// Writes a line to stdout; returns the error.
macro_rules! outln {
    ($($argument:tt)*) => {
        $crate::stdout::line(format_args!($($argument)*))
    };
}

/// Writes a line to stderr; ignores errors.
macro_rules! errln {
    ($($argument:tt)*) => {
        $crate::stdout::error_line(format_args!($($argument)*))
    };
}

pub(crate) use {errln, outln};

/// An error of stdout. It is wrapped in an [`io::Error`].
#[derive(Debug, thiserror::Error)]
pub(crate) enum StdoutError {
    /// The reader is gone.
    #[error("the output is closed")]
    Closed,
    /// It cannot be written.
    #[error("the output cannot be written: {0}")]
    Failed(io::Error),
}

/// Wraps an error of stdout, so that it is recognised as one.
pub(crate) fn error(error: io::Error) -> io::Error {
    io::Error::other(match error.kind() {
        ErrorKind::BrokenPipe => StdoutError::Closed,
        _ => StdoutError::Failed(error),
    })
}

impl StdoutError {
    /// The exit code of a command whose output could not be written.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Closed => exit::OUTPUT_CLOSED,
            Self::Failed(_) => exit::FAILED,
        }
    }
}

/// Stdout, locked. Its errors contain a [`StdoutError`].
pub(crate) struct Stdout(io::StdoutLock<'static>);

/// Locks stdout until the value is dropped.
pub(crate) fn lock() -> Stdout {
    Stdout(io::stdout().lock())
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(interrupted) if interrupted.kind() == ErrorKind::Interrupted => Err(interrupted),
            written => written.map_err(error),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(error)
    }
}

/// Writes text to stdout and flushes it.
pub(crate) fn write(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

/// Implements [`outln`].
pub(crate) fn line(text: fmt::Arguments<'_>) -> io::Result<()> {
    writeln!(lock(), "{text}")
}

/// Writes a value to stdout as multi-line JSON. Returns the exit code for
/// success.
pub(crate) fn print_json(value: &Value) -> anyhow::Result<ExitCode> {
    let mut stdout = lock();
    // Convert it, so that it is recognised as an error of stdout.
    serde_json::to_writer_pretty(&mut stdout, value).map_err(io::Error::from)?;
    writeln!(stdout)?;
    Ok(ExitCode::SUCCESS)
}

/// Implements [`errln`].
pub(crate) fn error_line(text: fmt::Arguments<'_>) {
    let mut text = text.to_string();
    if io::stderr().is_terminal() {
        text = wrap::message(&text, TerminalDisplay::stderr().size().0);
    }
    // An error here cannot be reported.
    let _ = writeln!(io::stderr(), "{text}");
}

/// The stdout error among the causes of `error`.
pub(crate) fn error_in(error: &anyhow::Error) -> Option<&StdoutError> {
    error.chain().find_map(|cause| {
        let error = cause.downcast_ref::<io::Error>()?;
        error.get_ref()?.downcast_ref()
    })
}
