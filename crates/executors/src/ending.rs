//! Converts a program's exit into a job's end.

use windlass_process::{Exit, Process, StartError, WriteError};
use windlass_protocol::{InputError, ToolError};
use windlass_runtime::{Ending, Exit as BadExit, Receipt};

use crate::confined;

/// The ending by an exit. A failure is explained by the last line, which is
/// computed only then, and by an exceeded limit or the denials of the sandbox.
pub(crate) fn of_exit(
    exit: &Exit,
    process: &Process,
    last_line: impl FnOnce() -> Option<String>,
) -> Ending {
    let mut ending = match exit {
        Exit::Code(0) => Ending::output(),
        Exit::Code(code) => Ending {
            exit: Some(BadExit::Code(*code)),
            ..Ending::failed(with_line(format!("exited with code {code}"), last_line()))
        },
        Exit::Signal(signal) => {
            let name = signal_name(*signal);
            Ending {
                exit: Some(BadExit::Signal(name.clone())),
                ..Ending::failed(with_line(format!("ended by {name}"), last_line()))
            }
        }
        Exit::Lost(reason) => Ending::failed(reason.clone()),
    };
    confined::explain(&mut ending, process);
    ending
}

fn with_line(message: String, line: Option<String>) -> String {
    match line {
        Some(line) => format!("{message}: {line}"),
        None => message,
    }
}

/// An error at the start, with its causes.
pub(crate) fn start_error(error: &StartError) -> ToolError {
    let mut message = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        message.push_str(": ");
        message.push_str(&error.to_string());
        cause = error.source();
    }
    ToolError::new(message)
}

fn signal_name(signal: i32) -> String {
    const NAMES: [(i32, &str); 17] = [
        (1, "SIGHUP"),
        (2, "SIGINT"),
        (3, "SIGQUIT"),
        (4, "SIGILL"),
        (5, "SIGTRAP"),
        (6, "SIGABRT"),
        (7, "SIGBUS"),
        (8, "SIGFPE"),
        (9, "SIGKILL"),
        (10, "SIGUSR1"),
        (11, "SIGSEGV"),
        (12, "SIGUSR2"),
        (13, "SIGPIPE"),
        (14, "SIGALRM"),
        (15, "SIGTERM"),
        (24, "SIGXCPU"),
        (25, "SIGXFSZ"),
    ];
    NAMES
        .iter()
        .find(|(number, _)| *number == signal)
        .map_or_else(
            || format!("signal {signal}"),
            |(_, name)| (*name).to_owned(),
        )
}

/// Converts the receipt of an abort.
pub(crate) fn to_receipt(receipt: windlass_process::Receipt) -> Receipt {
    Receipt {
        ended: receipt.ended,
        survivors: receipt
            .survivors
            .into_iter()
            .map(|survivor| format!("process {} ({})", survivor.pid, survivor.name))
            .collect(),
    }
}

/// Converts an input error of a program into that of a job.
pub(crate) fn input_error(error: &WriteError) -> InputError {
    match error {
        WriteError::NoInput => InputError::NoStdin,
        WriteError::Closed => InputError::StdinClosed,
        WriteError::Full { queued } => InputError::StdinFull { queued: *queued },
        // Text that is added later is as final as this.
        WriteError::Exited | _ => InputError::Exited,
    }
}
