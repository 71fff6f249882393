//! Errors of this crate.
//!
//! A program that fails is a result ([`Exit`](crate::Exit)), not an error.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

/// The reason why a program could not be started. Nothing was started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// No such program at that path or in `PATH`.
    #[error("program {program:?} was not found; give an absolute path or a name that is in `PATH`")]
    NotFound {
        /// The requested program.
        program: OsString,
    },
    /// The file exists, but this user may not execute it.
    #[error("program {program:?} may not be executed; check its permissions (`chmod +x`)")]
    Permission {
        /// The requested program.
        program: OsString,
    },
    /// The file exists but is not executable by the system.
    #[error(
        "program {program:?} is not executable; it is a directory or lacks a `#!` line or a known format"
    )]
    NotExecutable {
        /// The requested program.
        program: OsString,
    },
    /// The file exists, but its interpreter does not.
    #[error(
        "the interpreter of program {program:?} was not found; check its `#!` line or its loader"
    )]
    Interpreter {
        /// The requested program.
        program: OsString,
    },
    /// The working directory cannot be entered.
    #[error("working directory {path:?} cannot be entered; give an existing directory")]
    Cwd {
        /// The requested directory.
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// A string contains a NUL byte, or a variable's name contains `=`.
    #[error(
        "{text:?} cannot be passed to a program; it contains a NUL byte, or is a variable name \
         with `=`"
    )]
    Unpassable {
        /// The invalid string.
        text: OsString,
    },
    /// Arguments and environment exceed the system's limit.
    #[error("the arguments and environment of {program:?} are too long; pass them through a file")]
    TooLong {
        /// The requested program.
        program: OsString,
    },
    /// The zygote or shim was killed during the start.
    #[error("the process that was to start {program:?} was killed; start it again")]
    Interrupted {
        /// The requested program.
        program: OsString,
    },
    /// This system cannot enforce parts of the sandbox, and the confinement
    /// forbids a start in that case.
    #[error(
        "program {program:?} was not started: this system cannot keep it from {}",
        .missing.join("; from ")
    )]
    Unprotected {
        /// The requested program.
        program: OsString,
        /// The unprotected parts, one phrase each.
        missing: Vec<String>,
    },
    /// Its sandbox could not be applied.
    #[error("the sandbox of program {program:?} could not be applied")]
    Confine {
        /// The requested program.
        program: OsString,
        #[source]
        source: io::Error,
    },
    /// The host did not start it.
    #[error("host `{host}`: {problem}")]
    Host {
        host: String,
        /// The reason, and a remedy.
        problem: String,
    },
    /// Another system error, such as a lack of descriptors or processes.
    #[error("program {program:?} could not be started")]
    System {
        /// The requested program.
        program: OsString,
        #[source]
        source: io::Error,
    },
}

/// The reason why input did not reach a program.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteError {
    /// The program was started without an input.
    #[error("the program was started without stdin; start it with an input")]
    NoInput,
    /// The input was closed, by the caller or by the program.
    #[error("the program's input is closed; start it again to write to it")]
    Closed,
    /// The program has exited.
    #[error("the program has exited; start it again to write to it")]
    Exited,
    /// The program does not read, and the queue is full. Nothing of this write
    /// was taken.
    #[error(
        "the program does not read its input ({queued} bytes are queued); wait until it reads, or \
         end it"
    )]
    Full {
        /// The number of queued bytes.
        queued: usize,
    },
}

/// The reason why a signal was not sent.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignalError {
    /// The program has exited.
    #[error("the program has exited; there is nothing to signal")]
    Exited,
}
