//! A shim that keeps its program beyond the runtime that started it.
//!
//! Start at [`serve`]. While a runtime lives, it reads the program's streams itself, and the holder refuses adopters.
//! When its lifeline breaks, the lease starts: the holder reads the streams instead, so that the program never blocks,
//! into the same memory and log ([`Retained`]), and answers terminal queries. It ends when an adopting runtime ends the
//! program, when a client requests its end, when the lease expires, or when the registration file is removed, because
//! nobody could find it any more. It leaves a receipt.
//!
//! ```text
//!  owned ──lifeline breaks──▶ held ──adopted──▶ owned ──ordered to end──▶ gone, with a receipt
//!                              ├──lease over, or asked to end──▶ ending ──▶ gone, with a receipt
//!                              └──not registered──▶ ending ──▶ gone
//! ```

use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::time::{Duration, Instant, SystemTime};

use rustix::net::{SocketFlags, accept_with};
use windlass_hold_wire::{
    HeldEnd, HeldInput, HoldReceipt, HolderReply, HolderReport, HolderRequest, OLDEST, VERSION,
    Wants,
};
use windlass_output::Stream;

use super::held_streams::StreamReader;
use super::keep_wire::{KeepOrder, KeptDescriptors};
use super::peer::holder_peer_is_tool;
use super::proxy::WayOut;
use super::registration::RegistrationWatch;
use super::shim::Shim;
use super::socket::{self, Received};
use super::sys;
use crate::lease::{lease_left, lease_step};

/// The time limit for a visitor's request.
const VISITOR_LIMIT: Duration = Duration::from_secs(1);
/// The maximum number of visitors. Others wait in the listener's queue.
const MOST_VISITORS: usize = 16;
/// The maximum number of bytes of output in a reply.
const MOST_OUTPUT: u32 = 64 * 1024;
/// The order of a test at the end of any request, so that it need not wait for a lease: the lease is over, now or as soon
/// as it begins. Only programs with debug assertions obey it.
#[cfg(debug_assertions)]
const EXPIRE_LEASE: &[u8] = b"windlass test order: expire the lease";
/// The size of a receipt's draft, which reserves space on the disk.
const DRAFT: usize = 256;

/// The state of a shim that keeps its program.
pub(super) struct Keep {
    order: KeepOrder,
    listener: OwnedFd,
    descriptors: KeptDescriptors,
    /// The proxy of its sandbox, which the holder serves after the first death of a runtime.
    way_out: Option<WayOut>,
    /// The program's wait status, once it has exited.
    pub(super) status: Option<i32>,
    phase: HoldingPhase,
    /// Connections without a request so far, oldest first.
    visitors: Vec<HolderVisitor>,
    /// Clients that wait for the receipt.
    enders: Vec<OwnedFd>,
}

/// A connection without a request so far.
struct HolderVisitor {
    socket: OwnedFd,
    since: Instant,
}

enum HoldingPhase {
    /// A runtime owns the program.
    Owned,
    Held(HeldTime),
    /// The tree is being ended, but not by order of an owner.
    Ending(HeldEnd),
}

/// The state while the holder reads the streams.
struct HeldTime {
    since: Instant,
    /// Watches the registration file.
    registration: Option<RegistrationWatch>,
    /// `None` if the memory cannot be mapped; the program may then block.
    reader: Option<Box<StreamReader>>,
}

impl Keep {
    /// Creates it from an order and the attached descriptors.
    pub(super) fn new(mut order: KeepOrder, fds: Vec<OwnedFd>) -> Option<Box<Self>> {
        let mut fds = fds.into_iter();
        let listener = fds.next()?;
        let descriptors = KeptDescriptors::sort(order.streams, &mut fds)?;
        let way_out = match order.proxy.take() {
            Some(hosts) => Some(WayOut {
                socket: fds.next()?,
                hosts,
            }),
            None => None,
        };
        Some(Box::new(Self {
            order,
            listener,
            descriptors,
            way_out,
            status: None,
            phase: HoldingPhase::Owned,
            visitors: Vec::new(),
            enders: Vec::new(),
        }))
    }

    fn stream(&self, stream: Stream) -> Option<BorrowedFd<'_>> {
        match stream {
            Stream::Stdout => Some(self.descriptors.stdout.as_fd()),
            Stream::Stderr => self.descriptors.stderr.as_ref().map(AsFd::as_fd),
        }
    }
}

/// Serves until the tree is empty and nobody may request it any more.
pub(super) fn serve(mut shim: Shim, mut keep: Box<Keep>, buffer: &mut [u8]) {
    sys::set_name(NAME);
    loop {
        let childless = shim.reap(Some(&mut keep.status));
        keep.notice_death(&mut shim);
        keep.read_all();
        if childless && let Some(ending) = shim.ending.as_mut() {
            let report = ending.childless();
            keep.finish(&shim, report.as_ref());
            return;
        }
        // The limits of the tree and the lease also need a timeout.
        let timeout = [shim.advance(), keep.time_left(&mut shim)];
        let woken = keep.wait(&shim, timeout.into_iter().flatten().min());
        if woken.listener {
            keep.accept();
        }
        if woken.control {
            keep.obey(&mut shim, buffer);
        }
        for visitor in std::mem::take(&mut keep.visitors) {
            // The lifeline is checked first, so that an adopter after a death finds it known.
            keep.obey(&mut shim, buffer);
            keep.hear(visitor, &mut shim, buffer);
        }
    }
}

/// Sources with pending work for the holder, apart from visitors, which are
/// always served.
#[derive(Default)]
struct WokenBy {
    control: bool,
    listener: bool,
}

impl Keep {
    /// Waits for orders, adopters, output or children.
    fn wait(&self, shim: &Shim, timeout: Option<Duration>) -> WokenBy {
        let mut fds: Vec<BorrowedFd<'_>> = Vec::with_capacity(5);
        let control = shim.control.as_ref().map(AsFd::as_fd);
        fds.extend(control);
        let listener = (self.visitors.len() < MOST_VISITORS).then_some(fds.len());
        fds.extend(listener.map(|_| self.listener.as_fd()));
        fds.extend(self.visitors.iter().map(|visitor| visitor.socket.as_fd()));
        if let HoldingPhase::Held(held) = &self.phase {
            let registration = held.registration.as_ref();
            fds.extend(registration.and_then(RegistrationWatch::descriptor));
        }
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
        let oldest = self.visitors.first();
        let visitor_left = oldest.map(|visitor| {
            (visitor.since + VISITOR_LIMIT).saturating_duration_since(Instant::now())
        });
        let timeout = [timeout, visitor_left].into_iter().flatten().min();
        let ready = sys::wait_any(&fds, timeout);
        WokenBy {
            control: control.is_some() && ready[0],
            listener: listener.is_some_and(|listener| ready[listener]),
        }
    }

    /// The rest of the lease. Starts to end the tree when it has expired.
    fn time_left(&mut self, shim: &mut Shim) -> Option<Duration> {
        let HoldingPhase::Held(held) = &self.phase else {
            return None;
        };
        let left = lease_left(self.order.lease, held.since.elapsed());
        let is_registered = held
            .registration
            .as_ref()
            .is_none_or(RegistrationWatch::is_there);
        if left > Duration::ZERO && is_registered {
            return Some(lease_step(left));
        }
        self.end(shim, HeldEnd::Lease, shim.grace);
        Some(Duration::ZERO)
    }

    /// Starts to end the tree without an order of an owner.
    fn end(&mut self, shim: &mut Shim, reason: HeldEnd, grace: Duration) {
        if let HoldingPhase::Owned | HoldingPhase::Held(_) = self.phase {
            self.phase = HoldingPhase::Ending(reason);
            // A sweep spares holders, but not those that are ending.
            sys::set_name(super::shim::NAME);
        }
        shim.end(grace);
    }

    /// Reads the available output, if the holder reads the streams.
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

    /// Begins the lease when the lifeline has broken, unless the tree is being
    /// ended.
    fn notice_death(&mut self, shim: &mut Shim) {
        if shim.control.is_none()
            && shim.ending.is_none()
            && matches!(self.phase, HoldingPhase::Owned)
        {
            let held = HeldTime::new(self);
            let is_registered = |watch: &RegistrationWatch| watch.is_there();
            if held.registration.as_ref().is_none_or(is_registered) {
                self.phase = HoldingPhase::Held(held);
                if let Some(way_out) = self.way_out.take() {
                    // If this fails, the program has no network, as if the hosts were down.
                    let _ = way_out.serve();
                }
                // Written now, so that the receipt can be written even if the disk fills up.
                let _ = self.draft_receipt(&[b' '; DRAFT]);
            } else {
                // It was never registered, or nobody can find it any more.
                self.end(shim, HeldEnd::Lease, shim.grace);
            }
        }
    }

    fn accept(&mut self) {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        if let Ok(socket) = accept_with(&self.listener, flags) {
            let since = Instant::now();
            self.visitors.push(HolderVisitor { socket, since });
        }
    }

    /// Executes all pending orders. Begins the lease if the lifeline has
    /// broken.
    fn obey(&mut self, shim: &mut Shim, buffer: &mut [u8]) {
        while shim.obey(buffer) {}
        if shim.input_closed && self.descriptors.stdin.take().is_some() {
            self.order.streams.stdin = HeldInput::Closed;
        }
        self.notice_death(shim);
    }

    /// Handles a visitor's request, and transfers the program if it has no
    /// owner.
    fn hear(&mut self, visitor: HolderVisitor, shim: &mut Shim, buffer: &mut [u8]) {
        let length = match socket::receive(&visitor.socket, buffer, drop) {
            Received::Message(length) => length,
            Received::Nothing => {
                if visitor.since.elapsed() < VISITOR_LIMIT {
                    self.visitors.push(visitor);
                }
                return;
            }
            Received::End { .. } => return,
        };
        let adopter = visitor.socket;
        let refused = HolderReply::Refused { version: VERSION };
        let owner = shim.control.as_ref().and_then(peer);
        let owner = owner.map_or(0, |(pid, _)| pid);
        let request = HolderRequest::read(&buffer[..length]);
        let request = request.filter(|request| self.is_entitled(request, &adopter));
        let Some(HolderRequest { wants, .. }) = request else {
            let _ = socket::send(&adopter, &refused.write(), &[]);
            return;
        };
        #[cfg(debug_assertions)]
        if buffer[..length].ends_with(EXPIRE_LEASE) {
            self.order.lease = Duration::ZERO;
        }
        let reply = match (wants, &self.phase) {
            (Wants::Describe, _) => self.describe(shim, owner),
            (_, HoldingPhase::Owned) if owner != 0 => HolderReply::Busy { owner },
            (Wants::Adopt, HoldingPhase::Held(_)) if shim.ending.is_none() => {
                self.give_to(shim, adopter);
                return;
            }
            (Wants::Output { from, limit }, HoldingPhase::Held(held)) => held.output(from, limit),
            (Wants::End { grace }, _) => {
                self.enders.push(adopter);
                self.end(shim, HeldEnd::Asked, grace);
                return;
            }
            (Wants::Adopt | Wants::Output { .. }, _) => refused,
        };
        let _ = socket::send(&adopter, &reply.write(), &[]);
    }

    fn describe(&self, shim: &Shim, owner: u32) -> HolderReply {
        let lease = self.order.lease;
        HolderReply::Status {
            pid: shim.group.cast_unsigned(),
            holder: shim.pid.cast_unsigned(),
            status: self.status,
            owner,
            left: match &self.phase {
                HoldingPhase::Owned => lease,
                HoldingPhase::Held(held) => lease_left(lease, held.since.elapsed()),
                HoldingPhase::Ending(_) => Duration::ZERO,
            },
            written: match &self.phase {
                HoldingPhase::Held(held) => held.written(),
                HoldingPhase::Owned | HoldingPhase::Ending(_) => 0,
            },
            ending: shim.ending.is_some(),
        }
    }

    fn is_entitled(&self, request: &HolderRequest, adopter: &OwnedFd) -> bool {
        let own = rustix::process::getuid().as_raw();
        (OLDEST..=VERSION).contains(&request.version)
            && request.nonce == self.order.nonce
            && peer(adopter).is_some_and(|(_, user)| user == own)
            // A tool runs as the same user and can read the nonce.
            && !holder_peer_is_tool(adopter.as_fd())
    }

    /// Transfers the program to the adopter. If the adopter is gone already,
    /// the lifeline will report it.
    fn give_to(&mut self, shim: &mut Shim, adopter: OwnedFd) {
        let HoldingPhase::Held(held) = std::mem::replace(&mut self.phase, HoldingPhase::Owned)
        else {
            return;
        };
        let reply = HolderReply::Adopted {
            streams: self.order.streams,
            pid: shim.group.cast_unsigned(),
            holder: shim.pid.cast_unsigned(),
            status: self.status,
            held: held.since.elapsed(),
        };
        drop(held);
        let descriptors = &self.descriptors;
        let mut fds: Vec<BorrowedFd<'_>> = descriptors.memory.iter().map(AsFd::as_fd).collect();
        fds.push(descriptors.stdout.as_fd());
        fds.extend(descriptors.stderr.as_ref().map(AsFd::as_fd));
        fds.extend(descriptors.stdin.as_ref().map(AsFd::as_fd));
        // If sending fails, the adopter is gone, and the end of its socket reports that too.
        let _ = socket::send(&adopter, &reply.write(), &fds);
        shim.control = Some(adopter);
    }

    /// Reports the end of the tree to the runtime and to all who asked for it,
    /// and writes the receipt.
    fn finish(&mut self, shim: &Shim, report: Option<&HolderReport>) {
        let receipt = self.receipt(shim, report);
        // Before the runtime is notified: if it dies then, the next one knows.
        let is_wanted = match &self.order.registration {
            Some(registration) => registration.exists(),
            None => shim.control.is_none(),
        };
        if is_wanted {
            // Without a receipt, the next runtime considers the program lost.
            let _ = self.leave_receipt(&receipt);
        } else {
            let _ = std::fs::remove_file(self.order.receipt.with_extension("draft"));
        }
        if let Some(report) = report {
            shim.report(report);
        }
        for ender in self.enders.drain(..) {
            let _ = socket::send(&ender, &HolderReply::Receipt(receipt.clone()).write(), &[]);
        }
        let _ = std::fs::remove_file(&self.order.socket);
    }

    fn receipt(&self, shim: &Shim, report: Option<&HolderReport>) -> HoldReceipt {
        let (ended, survivors) = match report {
            Some(HolderReport::Ended { ended, survivors }) => (*ended, survivors.as_slice()),
            _ => (0, &[][..]),
        };
        let name = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        HoldReceipt {
            reason: match self.phase {
                HoldingPhase::Ending(reason) => reason,
                _ if shim.exceeded.is_some() => HeldEnd::Limit,
                HoldingPhase::Owned | HoldingPhase::Held(_) => HeldEnd::Aborted,
            },
            ended,
            survivors: survivors
                .iter()
                .map(|(pid, text)| (*pid, name(text)))
                .collect(),
            status: self.status,
            at: now.map_or(0, |since| since.as_millis().try_into().unwrap_or(u64::MAX)),
            limit: shim.exceeded.map(|kind| kind.to_string()),
        }
    }

    fn leave_receipt(&self, receipt: &HoldReceipt) -> std::io::Result<()> {
        let mut text = receipt.to_json().into_bytes();
        // At least as long as the draft, so that it is overwritten completely.
        text.resize(text.len().max(DRAFT), b' ');
        self.draft_receipt(&text)?;
        let path = &self.order.receipt;
        std::fs::rename(path.with_extension("draft"), path)
    }

    /// Overwrites the draft of the receipt in place, which needs no more space on the disk.
    fn draft_receipt(&self, text: &[u8]) -> std::io::Result<()> {
        let draft = self.order.receipt.with_extension("draft");
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&draft)?;
        file.write_all(text)
    }
}

impl HeldTime {
    fn new(keep: &Keep) -> Self {
        let registration = keep.order.registration.as_ref();
        Self {
            since: Instant::now(),
            registration: registration.map(|file| RegistrationWatch::new(file)),
            reader: StreamReader::new(&keep.order, &keep.descriptors)
                .ok()
                .map(Box::new),
        }
    }

    fn written(&self) -> u64 {
        self.reader
            .as_ref()
            .map_or(0, |reader| reader.output.position())
    }

    /// Output from this offset on, if it is still stored.
    fn output(&self, from: u64, limit: u32) -> HolderReply {
        let end = self.written();
        let from = from.min(end);
        let until = from.saturating_add(limit.min(MOST_OUTPUT).into()).min(end);
        let bytes = self
            .reader
            .as_ref()
            .map_or_else(Vec::new, |reader| reader.output.raw(from..until));
        // Older bytes were discarded.
        let from = until.saturating_sub(bytes.len() as u64);
        HolderReply::Output { from, bytes }
    }
}

/// The process name of a holder. A sweep spares processes with this name.
pub(super) const NAME: &std::ffi::CStr = c"windlass-holder";

/// The pid and the user of a socket's peer.
fn peer(socket: &OwnedFd) -> Option<(u32, u32)> {
    let credentials = rustix::net::sockopt::socket_peercred(socket).ok()?;
    let pid = credentials.pid.as_raw_nonzero().get().cast_unsigned();
    Some((pid, credentials.uid.as_raw()))
}
