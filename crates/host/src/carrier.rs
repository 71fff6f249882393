//! The carrier: the command that provides the pipe to a host, and the handshake on the pipe.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncRead;
use tokio::net::unix::pipe;
use tokio::sync::watch;
use windlass_hold_wire::{FarFrame, FarHello, LINK_MAGIC, LINK_VERSION, NearFrame, NearHello};
use windlass_output::Stream;
use windlass_process::{Command, Exit, Launcher, Process, TerminalSize};

use crate::HostError;
use crate::asking::{CarrierAsker, CarrierTerminal};
use crate::installing::{self, InstallEnd, OwnBinary};
use crate::pieces::{FrameReader, FrameSender, ReadEnd};

/// How long a carrier that has closed its pipe may take to exit.
const EXITING: Duration = Duration::from_secs(2);
/// How many bytes of unexpected text are shown.
const SHOWN: usize = 200;
/// The bytes before the version in a hello: its length, its kind and the magic.
const HEAD: usize = 4 + 1 + LINK_MAGIC.len();

/// Reads the frames of the far end.
pub(crate) type PipeReader = FrameReader<Box<dyn AsyncRead + Send + Unpin>>;

/// A new link, after the handshake.
pub(crate) struct CarrierLink {
    /// The carrier's process, if there is one.
    pub(crate) carrier: Option<Process>,
    pub(crate) reader: PipeReader,
    pub(crate) sender: FrameSender,
    pub(crate) machine: FarHello,
    /// Whether this program was copied there; `None` if it is not to be installed.
    pub(crate) copied: Option<bool>,
}

/// A host to connect to.
pub(crate) struct CarrierOrder<'a> {
    pub(crate) host: &'a str,
    /// The carrier's command.
    pub(crate) via: &'a [OsString],
    /// The time limit for the handshake, excluding the time in which a user is being asked.
    pub(crate) limit: Duration,
    /// Answer the carrier's questions; the newest is last.
    pub(crate) askers: Vec<Arc<dyn CarrierAsker>>,
    /// The binary to install. The carrier then provides a shell.
    pub(crate) install: Option<Arc<OwnBinary>>,
}

/// Starts the carrier and performs the handshake.
pub(crate) async fn connect(
    launcher: &Launcher,
    order: CarrierOrder<'_>,
    hello: NearHello,
) -> Result<CarrierLink, HostError> {
    let CarrierOrder {
        host,
        via,
        limit,
        askers,
        install,
    } = order;
    let program = via.first().cloned().unwrap_or_default();
    let failed = |cause: String| HostError::Carrier {
        program: program.to_string_lossy().into_owned(),
        cause,
    };
    let terminal = CarrierTerminal::default();
    let command = Command::new(&program)
        .args(via.get(1..).unwrap_or_default())
        .terminal_beside_pipes(TerminalSize::default(), terminal.tap());
    let carrier = launcher.start(command).await;
    let carrier = carrier.map_err(|error| failed(error.to_string()))?;
    let (stdout, stdin) = carrier
        .take_pipes()
        .ok_or_else(|| failed(String::from("it has no pipes")))?;
    let mut head = Vec::new();
    let (is_asking, progress) = (watch::Sender::new(false), watch::Sender::new(0));
    let name = program.to_string_lossy();
    let talk = tokio::select! {
        biased;
        talked = talk((stdout, stdin), hello, (install.as_deref(), &progress), &mut head) => match talked {
            Ok(talk) => talk,
            Err(Greeting::Error(error)) => return Err(error),
            Err(Greeting::Closed) => {
                let missing = match &install {
                    Some(_) => "`via` must be able to run `sh` there, its last word",
                    None => "install `windlass` there, or write its full path in `via`",
                };
                return Err(exited(&carrier, &terminal, via, missing).await);
            }
        },
        unanswered = terminal.serve(&carrier, (host, &name), &askers, &is_asking) => {
            return Err(unanswered);
        }
        () = impatience(limit, is_asking.subscribe(), progress.subscribe()) => {
            if !head.is_empty() && head.len() < HEAD {
                return Err(banner(&head));
            }
            let said = said(&carrier, &terminal);
            return Err(HostError::Silent { limit, said });
        }
    };
    Ok(CarrierLink {
        carrier: Some(carrier),
        reader: talk.reader,
        sender: talk.sender,
        machine: talk.machine,
        copied: talk.copied,
    })
}

/// The handshake of a link.
struct FirstTalk {
    reader: PipeReader,
    sender: FrameSender,
    machine: FarHello,
    copied: Option<bool>,
}

/// Installs this program if requested, and sends the hello. Bytes received before the reply are left in `head`.
async fn talk(
    (mut stdout, mut stdin): (pipe::Receiver, pipe::Sender),
    hello: NearHello,
    (install, progress): (Option<&OwnBinary>, &watch::Sender<u64>),
    head: &mut Vec<u8>,
) -> Result<FirstTalk, Greeting> {
    let mut copied = None;
    if let Some(binary) = install {
        let installed = installing::install(&mut stdout, &mut stdin, binary, progress).await;
        copied = Some(installed.map_err(|end| match end {
            InstallEnd::Closed => Greeting::Closed,
            InstallEnd::Error(error) => Greeting::Error(error),
        })?);
    }
    let (sender, writing) = FrameSender::new(stdin);
    windlass_task::spawn(writing);
    sender.send(&NearFrame::Hello(hello).write());
    let mut reader: PipeReader = FrameReader::new(Box::new(stdout));
    let machine = greet(&mut reader, head).await?;
    Ok(FirstTalk {
        reader,
        sender,
        machine,
        copied,
    })
}

/// Resolves when no question has been open, and there was no progress, for this time.
async fn impatience(
    limit: Duration,
    mut is_asking: watch::Receiver<bool>,
    mut progress: watch::Receiver<u64>,
) {
    loop {
        // The senders live as long as the connection attempt.
        let _ = is_asking.wait_for(|is_asking| !is_asking).await;
        tokio::select! {
            _ = is_asking.wait_for(|is_asking| *is_asking) => {}
            _ = progress.changed() => {}
            () = tokio::time::sleep(limit) => return,
        }
    }
}

/// The reason why the handshake failed.
pub(crate) enum Greeting {
    Closed,
    Error(HostError),
}

/// Waits for the hello of the far side. Bytes received before it is complete are left in `head`.
pub(crate) async fn greet(
    reader: &mut PipeReader,
    head: &mut Vec<u8>,
) -> Result<FarHello, Greeting> {
    while head.len() < HEAD {
        let more = reader.peek().await.map_err(|_| Greeting::Closed)?;
        if more.is_empty() {
            // If a carrier printed something and exited, its output is the reason.
            return Err(if head.is_empty() {
                Greeting::Closed
            } else {
                Greeting::Error(banner(head))
            });
        }
        head.extend_from_slice(more);
        if head.len() >= HEAD && &head[5..HEAD] != LINK_MAGIC && !is_refusal(head) {
            return Err(Greeting::Error(banner(head)));
        }
    }
    match reader.next(FarFrame::read).await {
        Ok(FarFrame::Hello(machine)) if machine.version == LINK_VERSION => Ok(machine),
        Ok(FarFrame::Hello(machine)) => Err(Greeting::Error(HostError::Version {
            program: machine.program,
            version: machine.version,
            own: LINK_VERSION,
        })),
        Ok(FarFrame::Refused { why }) => Err(Greeting::Error(HostError::Refused { why })),
        Ok(_) | Err(ReadEnd::Garbage) => Err(Greeting::Error(HostError::Garbage)),
        Err(ReadEnd::Closed) => Err(Greeting::Closed),
    }
}

/// Whether the far side refused instead of sending a hello.
fn is_refusal(head: &[u8]) -> bool {
    let length = head.first_chunk().copied().map_or(0, u32::from_le_bytes);
    let is_short = (length as usize) < 4096;
    is_short && head.get(4) == FarFrame::Refused { why: String::new() }.write().first()
}

fn banner(bytes: &[u8]) -> HostError {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN)]).into_owned();
    HostError::Banner { text }
}

/// The error for a carrier that has closed its pipe. `missing` is the hint if it could not run its program.
async fn exited(
    carrier: &Process,
    terminal: &CarrierTerminal,
    via: &[OsString],
    missing: &'static str,
) -> HostError {
    let exit = tokio::time::timeout(EXITING, carrier.wait()).await;
    let ended = match exit {
        Ok(Exit::Code(code)) => format!("exited with code {code}"),
        Ok(Exit::Signal(signal)) => format!("was ended by signal {signal}"),
        Ok(Exit::Lost(_)) | Err(_) => String::from("closed its pipe"),
    };
    let hint = match exit {
        // The exit codes of a shell for a program that it cannot run.
        Ok(Exit::Code(126 | 127)) => missing,
        _ => "run the command by hand to see what it needs",
    };
    let words: Vec<_> = via.iter().map(|word| word.to_string_lossy()).collect();
    HostError::Exited {
        command: words.join(" "),
        ended,
        said: said(carrier, terminal),
        hint,
    }
}

/// The last lines that the carrier wrote to stderr and to its terminal, formatted as the end of a sentence.
fn said(carrier: &Process, terminal: &CarrierTerminal) -> String {
    let lines = [
        carrier.output().last_line(Stream::Stderr),
        terminal.last_line(),
    ];
    let lines: Vec<String> = lines.into_iter().flatten().collect();
    if lines.is_empty() {
        return String::new();
    }
    format!("; it said: {}", lines.join(" / "))
}

#[cfg(test)]
#[path = "carrier_tests.rs"]
mod tests;
