//! Errors of a link.

use std::io;
use std::time::Duration;

/// A host cannot be used.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum HostError {
    /// The carrier could not be started.
    #[error("`{program}` could not be started: {cause}; check `via` of the host")]
    Carrier {
        /// The program.
        program: String,
        /// The reason.
        cause: String,
    },
    /// The carrier exited before the far side sent its hello.
    #[error("`{command}` {ended} before the host answered{said}; {hint}")]
    Exited {
        /// The command.
        command: String,
        /// How it ended.
        ended: String,
        /// Its last output, if any.
        said: String,
        /// A suggestion for the user.
        hint: &'static str,
    },
    /// The first bytes were not those of `windlass host`.
    #[error(
        "it printed text before `windlass host` started: {text:?}; change its login scripts so \
         that they print nothing without a terminal, and check that `via` ends with `windlass host`"
    )]
    Banner {
        /// The beginning of the text.
        text: String,
    },
    /// The far side sent bytes that are not valid frames.
    #[error(
        "it sent bytes that are not part of the link's protocol; check that only `windlass host` \
         writes to the pipe"
    )]
    Garbage,
    /// The far side speaks another version.
    #[error(
        "its `windlass` ({program}) speaks version {version} of the link, and this one speaks version {own}; install the \
         same version on both sides"
    )]
    Version {
        /// The version of its executable.
        program: String,
        /// The version of its link protocol.
        version: u8,
        /// Our version of the link protocol.
        own: u8,
    },
    /// The far side refused the link.
    #[error("it refused the link: {why}")]
    Refused {
        /// The reason.
        why: String,
    },
    /// The carrier asked a question, and no user was available to answer.
    #[error(
        "`{program}` asks {text:?}, and no user can be asked here; connect once with `windlass \
         hosts check` on a terminal, or set it up so that it asks nothing (for `ssh`: a host key \
         that is known, and an agent that has the key)"
    )]
    Unanswered {
        /// The carrier's program.
        program: String,
        /// Its question.
        text: String,
    },
    /// The user declined to answer the carrier.
    #[error("`{program}` asked {text:?}, which was not answered: {why}")]
    Declined {
        /// The carrier's program.
        program: String,
        /// Its question.
        text: String,
        /// The user's reason.
        why: String,
    },
    /// There is no link to the host.
    #[error("{why}")]
    Unreached {
        /// The reason.
        why: String,
    },
    /// The host has a different operating system or CPU than this binary is built for.
    #[error(
        "its machine is {machine:?}, and this program is for {own:?}; install `windlass` there and let `via` end with \
         `windlass host`, without `install`"
    )]
    Platform {
        /// Its operating system and CPU.
        machine: String,
        /// Those of this program.
        own: String,
    },
    /// The program could not be installed.
    #[error("`windlass` could not be installed there: {why}")]
    Install {
        /// The reason.
        why: String,
    },
    /// The far side did not reply in time.
    #[error(
        "it did not answer within {} s{said}; check that `via` reaches the machine and ends with `windlass host`",
        .limit.as_secs()
    )]
    Silent {
        /// The time limit.
        limit: Duration,
        /// The last output of the carrier.
        said: String,
    },
}

/// The far end of a link could not be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The pipe does not carry a link.
    #[error(
        "stdin is not a link; `windlass host` is started by a runtime, through the `via` of a host"
    )]
    NoLink,
    /// The near side speaks another version.
    #[error(
        "the near side speaks version {version} of the link, and this one speaks version {own}"
    )]
    Version {
        /// Its version.
        version: u8,
        /// Ours.
        own: u8,
    },
    /// The upper limits of programs are not known.
    #[error(transparent)]
    Limits(#[from] UnknownLimits),
    /// The directory for held programs cannot be used.
    #[error("the folder {folder:?} cannot be used")]
    Folder {
        /// The directory.
        folder: std::path::PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// Programs cannot be started.
    #[error("programs cannot be started")]
    Launcher(#[source] io::Error),
    /// The pipe failed.
    #[error("the link failed")]
    Pipe(#[source] io::Error),
}

/// The upper limits of programs are not known, so none is run.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the limits of its user are not known, so it runs nothing: {why}")]
pub struct UnknownLimits {
    /// The reason.
    pub why: String,
}
