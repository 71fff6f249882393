//! A shim that keeps its program beyond the runtime that started it.
//!
//! Start at [`serve`]. As long as a runtime lives, it reads the program's streams itself, and the holder only answers
//! adopters that they come too early. When its lifeline breaks, the lease begins: the holder reads the streams in its
//! place, so that the program never blocks, into the same memory and log ([`Retained`]), and answers what a terminal is
//! asked. It ends when a runtime has adopted the program and then ended it, or when the lease is over and the tree has
//! been ended. Then it leaves a receipt.
//!
//! ```text
//!  owned ──lifeline breaks──▶ held ──adopted──▶ owned ──ordered to end──▶ gone
//!                              └──lease over──▶ ending ──▶ gone, with a receipt
//! ```

use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::time::{Duration, Instant, SystemTime};

use rustix::net::{SocketFlags, accept_with};
use windlass_output::{Output, OutputOptions, Screen, Stream};

use super::keep_wire::{HolderReply, HolderRequest, KeepOrder, KeptDescriptors, VERSION, Wants};
use super::retained::{Retained, TakeOutcome};
use super::shim::Shim;
use super::socket::{self, Received};
use super::sys;
use super::wire::Report;

/// How long an adopter may take to say what it wants.
const ADOPTER_LIMIT: Duration = Duration::from_secs(1);
/// How much is taken from a stream before others have their turn.
const TURN: usize = 1024 * 1024;

/// Everything that a shim needs to keep its program.
pub(super) struct Keep {
    order: KeepOrder,
    listener: OwnedFd,
    descriptors: KeptDescriptors,
    /// The program's wait status, once it has exited.
    pub(super) status: Option<i32>,
    phase: HoldingPhase,
    /// Someone who has connected and not said yet what for.
    adopter: Option<(OwnedFd, Instant)>,
}

enum HoldingPhase {
    /// A runtime has the program.
    Owned,
    Held(HeldTime),
    /// The lease is over.
    Over,
}

/// The holder's own reading of the streams.
struct HeldTime {
    since: Instant,
    /// `None` where the memory cannot be mapped; the program may then block.
    reader: Option<Box<StreamReader>>,
}

struct StreamReader {
    retained: Retained,
    output: Output,
    screen: Option<Screen>,
    /// Streams that have not ended: stdout or the terminal, and stderr.
    open: [bool; 2],
}

impl Keep {
    /// From an order and what has come along with it.
    pub(super) fn new(order: KeepOrder, fds: Vec<OwnedFd>) -> Option<Box<Self>> {
        let mut fds = fds.into_iter();
        let listener = fds.next()?;
        let descriptors = KeptDescriptors::sort(order.streams, &mut fds)?;
        Some(Box::new(Self {
            order,
            listener,
            descriptors,
            status: None,
            phase: HoldingPhase::Owned,
            adopter: None,
        }))
    }

    fn stream(&self, stream: Stream) -> Option<BorrowedFd<'_>> {
        match stream {
            Stream::Stdout => Some(self.descriptors.stdout.as_fd()),
            Stream::Stderr => self.descriptors.stderr.as_ref().map(AsFd::as_fd),
        }
    }
}

/// Serves until nothing of the tree is left and nobody may ask for it any more.
pub(super) fn serve(mut shim: Shim, mut keep: Box<Keep>, buffer: &mut [u8]) {
    loop {
        let childless = shim.reap(Some(&mut keep.status));
        keep.notice_death(&shim);
        keep.read_all();
        if childless && let Some(ending) = shim.ending.as_mut() {
            let report = ending.childless();
            keep.finish(&shim, report.as_ref());
            return;
        }
        let timeout = shim.advance().or_else(|| keep.time_left(&mut shim));
        let woken = keep.wait(&shim, timeout);
        if woken.listener {
            keep.accept();
        }
        // An adopter that comes after a death finds it known: the lifeline is looked at first.
        if woken.control || woken.adopter {
            shim.obey(buffer);
            keep.notice_death(&shim);
        }
        if woken.adopter {
            keep.hear(&mut shim, buffer);
        }
    }
}

/// Who has something for the holder.
#[derive(Default)]
struct WokenBy {
    control: bool,
    listener: bool,
    adopter: bool,
}

impl Keep {
    /// Waits for orders, adopters, output or children.
    fn wait(&self, shim: &Shim, timeout: Option<Duration>) -> WokenBy {
        let mut fds: Vec<BorrowedFd<'_>> = Vec::with_capacity(5);
        let control = shim.control.as_ref().map(AsFd::as_fd);
        fds.extend(control);
        let listener = fds.len();
        fds.push(self.listener.as_fd());
        fds.extend(self.adopter.as_ref().map(|(adopter, _)| adopter.as_fd()));
        if let HoldingPhase::Held(HeldTime {
            reader: Some(reader),
            ..
        }) = &self.phase
        {
            let streams = [Stream::Stdout, Stream::Stderr].into_iter();
            fds.extend(
                streams
                    .filter(|&stream| reader.open[stream as usize])
                    .filter_map(|stream| self.stream(stream)),
            );
        }
        let adopter_left = self
            .adopter
            .as_ref()
            .map(|(_, since)| (*since + ADOPTER_LIMIT).saturating_duration_since(Instant::now()));
        let timeout = [timeout, adopter_left].into_iter().flatten().min();
        let ready = sys::wait_any(&fds, timeout);
        WokenBy {
            control: control.is_some() && ready[0],
            listener: ready[listener],
            // One that says nothing is heard when its time is up.
            adopter: self.adopter.is_some(),
        }
    }

    /// How long the lease goes on. Begins to end the tree when it is over.
    fn time_left(&mut self, shim: &mut Shim) -> Option<Duration> {
        let HoldingPhase::Held(held) = &self.phase else {
            return None;
        };
        let left = (held.since + self.order.lease).saturating_duration_since(Instant::now());
        if left > Duration::ZERO {
            return Some(left);
        }
        self.phase = HoldingPhase::Over;
        shim.end(shim.grace);
        Some(Duration::ZERO)
    }

    /// Reads what the streams have, if that is the holder's to do.
    fn read_all(&mut self) {
        let HoldingPhase::Held(HeldTime {
            reader: Some(reader),
            ..
        }) = &mut self.phase
        else {
            return;
        };
        let descriptors = &self.descriptors;
        reader.read(Stream::Stdout, &descriptors.stdout);
        if let Some(stderr) = &descriptors.stderr {
            reader.read(Stream::Stderr, stderr);
        }
    }

    /// The lease begins when the lifeline has broken, unless the tree is being ended.
    fn notice_death(&mut self, shim: &Shim) {
        if shim.control.is_none()
            && shim.ending.is_none()
            && matches!(self.phase, HoldingPhase::Owned)
        {
            self.phase = HoldingPhase::Held(HeldTime::new(self));
        }
    }

    fn accept(&mut self) {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let Ok(adopter) = accept_with(&self.listener, flags) else {
            return;
        };
        // One at a time: whoever comes second waits no longer than the first may take.
        self.adopter = Some((adopter, Instant::now()));
    }

    /// Hears what an adopter wants, and gives it the program if nobody has it.
    fn hear(&mut self, shim: &mut Shim, buffer: &mut [u8]) {
        let Some((adopter, since)) = self.adopter.take() else {
            return;
        };
        let length = match socket::receive(&adopter, buffer, drop) {
            Received::Message(length) => length,
            Received::Nothing => {
                if since.elapsed() < ADOPTER_LIMIT {
                    self.adopter = Some((adopter, since));
                }
                return;
            }
            Received::End { .. } => return,
        };
        let refused = HolderReply::Refused { version: VERSION };
        let owner = shim.control.as_ref().and_then(peer);
        let owner = owner.map_or(0, |(pid, _)| pid);
        let request = HolderRequest::read(&buffer[..length]);
        let request = request.filter(|request| self.is_entitled(request, &adopter));
        let reply = match (request.map(|request| request.wants), &self.phase) {
            (Some(Wants::Describe), _) => self.describe(shim, owner),
            (Some(Wants::Adopt), HoldingPhase::Owned) if owner != 0 => HolderReply::Busy { owner },
            (Some(Wants::Adopt), HoldingPhase::Held(_)) if shim.ending.is_none() => {
                self.give_to(shim, adopter);
                return;
            }
            _ => refused,
        };
        let _ = socket::send(&adopter, &reply.write(), &[]);
    }

    fn describe(&self, shim: &Shim, owner: u32) -> HolderReply {
        let lease = self.order.lease;
        HolderReply::Described {
            pid: shim.group.cast_unsigned(),
            shim: shim.pid.cast_unsigned(),
            status: self.status,
            owner,
            left: match &self.phase {
                HoldingPhase::Owned => lease,
                HoldingPhase::Held(held) => lease.saturating_sub(held.since.elapsed()),
                HoldingPhase::Over => Duration::ZERO,
            },
        }
    }

    fn is_entitled(&self, request: &HolderRequest, adopter: &OwnedFd) -> bool {
        let own = rustix::process::getuid().as_raw();
        request.version == VERSION
            && request.nonce == self.order.nonce
            && peer(adopter).is_some_and(|(_, user)| user == own)
    }

    /// From now on the program is the adopter's. Should the adopter be gone already, the lifeline says so next.
    fn give_to(&mut self, shim: &mut Shim, adopter: OwnedFd) {
        let HoldingPhase::Held(held) = std::mem::replace(&mut self.phase, HoldingPhase::Owned)
        else {
            return;
        };
        let reply = HolderReply::Adopted {
            streams: self.order.streams,
            pid: shim.group.cast_unsigned(),
            shim: shim.pid.cast_unsigned(),
            status: self.status,
            held: held.since.elapsed(),
        };
        drop(held);
        let descriptors = &self.descriptors;
        let mut fds: Vec<BorrowedFd<'_>> = descriptors.memory.iter().map(AsFd::as_fd).collect();
        fds.push(descriptors.stdout.as_fd());
        fds.extend(descriptors.stderr.as_ref().map(AsFd::as_fd));
        fds.extend(descriptors.stdin.as_ref().map(AsFd::as_fd));
        // One that cannot be sent to is gone, which the end of its socket tells as well.
        let _ = socket::send(&adopter, &reply.write(), &fds);
        shim.control = Some(adopter);
    }

    /// The tree has ended: tells the runtime, or leaves the receipt for the next one.
    fn finish(&self, shim: &Shim, report: Option<&Report>) {
        if let (Some(report), Some(_)) = (report, &shim.control) {
            shim.tell(report);
        }
        if shim.control.is_none() {
            let ended = match report {
                Some(Report::Ended { ended, .. }) => *ended,
                _ => 0,
            };
            // The next runtime takes a holder that is gone without a receipt for lost.
            let _ = self.leave_receipt(ended);
        }
        let _ = std::fs::remove_file(&self.order.socket);
    }

    fn leave_receipt(&self, ended: u32) -> std::io::Result<()> {
        let reason = match self.phase {
            HoldingPhase::Over => "lease",
            HoldingPhase::Owned | HoldingPhase::Held(_) => "aborted",
        };
        let status = self
            .status
            .map_or("null".to_owned(), |status| status.to_string());
        let at = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(0, |since| since.as_millis());
        let text = format!(
            "{{\"reason\":\"{reason}\",\"ended\":{ended},\"status\":{status},\"at\":{at}}}\n"
        );
        let path = &self.order.receipt;
        let draft = path.with_extension("draft");
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&draft)?;
        file.write_all(text.as_bytes())?;
        drop(file);
        std::fs::rename(draft, path)
    }
}

impl HeldTime {
    fn new(keep: &Keep) -> Self {
        Self {
            since: Instant::now(),
            reader: StreamReader::new(keep).ok().map(Box::new),
        }
    }
}

impl StreamReader {
    /// Goes on where the dead runtime was.
    fn new(keep: &Keep) -> std::io::Result<Self> {
        let [memory, read, write] = &keep.descriptors.memory;
        let retained = Retained::go_on(memory.try_clone()?, read.try_clone()?, write.try_clone()?)?;
        let options = OutputOptions {
            log: keep.order.log.clone(),
            log_limit: keep.order.log_limit,
            hold_object: keep.order.hold_object,
            ..OutputOptions::default()
        };
        let output = Output::resume(options, &retained.checkpoint());
        output.keep_log();
        retained.replay(&output);
        let screen = keep.order.streams.terminal.then(|| {
            let size = rustix::termios::tcgetwinsize(&keep.descriptors.stdout);
            let (rows, cols) = size.map_or((24, 80), |size| (size.ws_row, size.ws_col));
            let mut screen = Screen::new(rows, cols);
            // The dead runtime has answered what was asked in these.
            let end = output.position();
            screen.feed(&output.raw(end.saturating_sub(REDRAWN)..end));
            screen
        });
        Ok(Self {
            retained,
            output,
            screen,
            open: [true, keep.descriptors.stderr.is_some()],
        })
    }

    /// Reads what a stream has now.
    fn read(&mut self, stream: Stream, fd: &OwnedFd) {
        let Self {
            retained,
            output,
            screen,
            open,
        } = self;
        let mut left = TURN;
        while open[stream as usize] && left > 0 {
            if !retained.has_room() {
                retained.publish(&output.checkpoint());
            }
            let taken = retained.take(fd, stream, |stream, bytes| {
                output.push(stream, bytes);
                let answer = screen.as_mut().map(|screen| screen.feed(bytes));
                if let Some(answer) = answer.filter(|answer| !answer.is_empty()) {
                    // A program that asks and does not read has no use for answers.
                    let _ = rustix::io::write(fd, &answer);
                }
            });
            match taken {
                TakeOutcome::Some(length) => left = left.saturating_sub(length),
                TakeOutcome::Empty => return,
                TakeOutcome::End => open[stream as usize] = false,
            }
        }
    }
}

/// How much output the screen of a held program is made of.
const REDRAWN: u64 = 64 * 1024;

/// The process and the user at the other end of a socket.
fn peer(socket: &OwnedFd) -> Option<(u32, u32)> {
    let credentials = rustix::net::sockopt::socket_peercred(socket).ok()?;
    let pid = credentials.pid.as_raw_nonzero().get().cast_unsigned();
    Some((pid, credentials.uid.as_raw()))
}
