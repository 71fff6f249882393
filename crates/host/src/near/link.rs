//! The link to a host: connecting, and the programs on it. Its frames are read in `reading.rs`; a lost link is in
//! `reconnecting.rs`, a program that cannot be resumed for now in `resuming.rs`.

mod reading;
mod reconnecting;
mod resuming;

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;
use tokio::time::Instant;
use windlass_hold_wire::{
    FarFrame, FarHello, FramedOutput, HolderOrder, LINK_VERSION, LONGEST_FRAME, LinkSession,
    NearFrame, NearHello, ProgramOrigin, ProgramStart,
};
use windlass_process::{Launcher, UnreachableHost};

use self::reading::read_link;
use self::reconnecting::LinkLoss;
pub(super) use self::resuming::is_within;
use super::owner::OwnedKept;
use super::program::NearProgram;
use super::{HostOptions, LinkStanding, SHARED_WINDOW, WINDOW};
use crate::carrier::{self, CarrierLink, CarrierOrder};
use crate::installing::OwnBinary;
use crate::pieces::FrameSender;
use crate::{CarrierAsker, HostError, LinkSource, source};

/// How long after an order a program counts as being typed to.
const IN_USE: Duration = Duration::from_secs(1);

/// Makes the links to a host.
pub(super) enum LinkMaker {
    /// Runs the command of the host's options.
    Command(Launcher),
    /// Calls the embedder.
    Source(Arc<dyn LinkSource>),
}

/// The link to one host.
pub(super) struct Link {
    pub(super) options: HostOptions,
    maker: LinkMaker,
    pub(super) session: LinkSession,
    numbers: AtomicU64,
    /// Locked while a carrier is started.
    connecting: tokio::sync::Mutex<()>,
    /// The program to install, once it was read.
    binary: OnceLock<Arc<OwnBinary>>,
    state: Mutex<LinkState>,
    /// The program that received the last order, and when.
    last_used: Mutex<Option<(u64, Instant)>>,
}

#[derive(Default)]
struct LinkState {
    /// The queue to the far side, while connected.
    sender: Option<FrameSender>,
    /// The number of links so far. The end of an older link is ignored.
    links: u64,
    machine: Option<FarHello>,
    copied: Option<bool>,
    lost: Option<LinkLoss>,
    programs: HashMap<u64, Weak<NearProgram>>,
    /// Dropped programs that are to be ended.
    dropped: HashMap<u64, DroppedEnd>,
    ports: HashMap<u64, PortWatch>,
    /// Answer the carrier's questions; the newest is last.
    askers: Vec<Arc<dyn CarrierAsker>>,
}

/// A pending wait for a port. It lasts until the port is open or the program is dropped: the far side looks at the
/// port as long.
struct PortWatch {
    port: u16,
    program: u64,
    is_open: watch::Sender<bool>,
}

impl LinkState {
    /// The frames that watch the ports of a program, or of all.
    fn port_frames(&self, of: Option<u64>) -> impl Iterator<Item = NearFrame> {
        let ports = self.ports.iter();
        let ports = ports.filter(move |(_, it)| of.is_none_or(|number| number == it.program));
        ports.map(|(&id, &PortWatch { port, program, .. })| NearFrame::Port { id, port, program })
    }
}

impl Link {
    pub(super) fn new(options: HostOptions, maker: LinkMaker) -> io::Result<Self> {
        let mut session = LinkSession::default();
        getrandom::fill(&mut session).map_err(io::Error::other)?;
        Ok(Self {
            options,
            maker,
            session,
            numbers: AtomicU64::new(1),
            connecting: tokio::sync::Mutex::default(),
            binary: OnceLock::new(),
            state: Mutex::default(),
            last_used: Mutex::default(),
        })
    }

    pub(super) fn next_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Whether the far side can hold programs without a link.
    pub(super) fn holds_trees(&self) -> bool {
        let state = self.state.lock();
        let machine = state.machine.as_ref();
        machine.is_some_and(|machine| machine.holds_trees)
    }

    pub(super) fn was_copied(&self) -> Option<bool> {
        self.state.lock().copied
    }

    /// The program to install, if any.
    async fn binary(&self) -> Result<Option<Arc<OwnBinary>>, HostError> {
        let Some(path) = self.options.install.clone() else {
            return Ok(None);
        };
        if let Some(binary) = self.binary.get() {
            return Ok(Some(Arc::clone(binary)));
        }
        let reading = tokio::task::spawn_blocking(move || OwnBinary::read(&path));
        let read = reading.await.map_err(io::Error::other);
        let binary = read.flatten().map_err(|error| HostError::Install {
            why: format!("this program's own file cannot be read: {error}"),
        })?;
        Ok(Some(Arc::clone(
            self.binary.get_or_init(|| Arc::new(binary)),
        )))
    }

    /// Notes that a program receives an order.
    pub(super) fn note_use(&self, number: u64) {
        *self.last_used.lock() = Some((number, Instant::now()));
    }

    /// The maximum number of unconfirmed bytes of a program's output.
    pub(super) fn window(&self, number: u64) -> u64 {
        let used = *self.last_used.lock();
        let is_shared = used.is_some_and(|(it, at)| it != number && at.elapsed() < IN_USE);
        if is_shared { SHARED_WINDOW } else { WINDOW }
    }

    /// Sends a frame, if connected.
    pub(super) fn send(&self, frame: &NearFrame) {
        if let Some(sender) = &self.state.lock().sender {
            sender.send(&frame.write());
        }
    }

    /// Details of the lost link, if it is lost, for a program with this lease.
    pub(super) fn unreachable(&self, lease: Duration) -> Option<UnreachableHost> {
        let loss = self.state.lock().lost?;
        let is_counting = self.maker.lease_since(loss.at).is_some();
        Some(UnreachableHost {
            host: self.options.name.clone(),
            since: loss.since,
            lease: is_counting.then_some(lease),
        })
    }

    /// The state of the link, with the number of its programs.
    pub(super) fn standing(&self) -> LinkStanding {
        // Dropping the last reference to a program locks the state, so drop all references before.
        let programs = {
            let programs = self.all_programs();
            programs.iter().filter(|it| it.is_running()).count()
        };
        let state = self.state.lock();
        match (&state.lost, &state.sender, &state.machine) {
            (Some(loss), _, _) => LinkStanding::Lost {
                since: loss.since,
                programs,
            },
            (None, Some(_), Some(machine)) => LinkStanding::Connected {
                machine: machine.clone(),
                programs,
            },
            _ => LinkStanding::Unused,
        }
    }

    /// Sends the start of a program. The program receives the reply.
    pub(super) fn start(&self, program: &Arc<NearProgram>, start: ProgramStart) {
        let number = program.number;
        let weak = Arc::downgrade(program);
        let frame = NearFrame::Start {
            program: number,
            start: Box::new(start),
        };
        let frame = frame.write();
        if frame.len() > LONGEST_FRAME {
            program.fail_start(&format!(
                "the command and its environment have {} bytes, and at most {LONGEST_FRAME} can be sent to a host; \
                 pass long data in a file or as input",
                frame.len()
            ));
            return;
        }
        let is_sent = {
            let mut state = self.state.lock();
            state.programs.insert(number, weak);
            let sender = state.sender.as_ref();
            sender.inspect(|sender| sender.send(&frame)).is_some()
        };
        if !is_sent {
            // The link broke after the check.
            program.fail_start("the link was lost before the program was started; start it again");
        }
    }

    /// Resumes a program of an earlier runtime, now or when a lost link is restored. The program receives the reply.
    /// Returns false if there is no link, because the host was abandoned meanwhile.
    pub(super) fn resume(&self, program: &Arc<NearProgram>) -> bool {
        let frame = program.resume_frame();
        let mut state = self.state.lock();
        if state.sender.is_none() && state.lost.is_none() {
            return false;
        }
        state
            .programs
            .insert(program.number, Arc::downgrade(program));
        if let Some(sender) = &state.sender {
            sender.send(&frame.write());
        }
        true
    }

    /// Handles a program whose last reference was dropped.
    pub(super) fn drop_program(&self, number: u64, fate: DroppedFate) {
        let mut state = self.state.lock();
        state.programs.remove(&number);
        state.ports.retain(|_, watch| watch.program != number);
        let frame = match fate {
            DroppedFate::Over => NearFrame::Forget { program: number },
            DroppedFate::Left => return,
            DroppedFate::NotAdopted => NearFrame::Leave { program: number },
            DroppedFate::Ended(end) => {
                let frame = end_of(number, end.grace);
                state.dropped.insert(number, end);
                frame
            }
        };
        if let Some(sender) = &state.sender {
            sender.send(&frame.write());
        }
    }

    /// Resolves when a port there is being listened on.
    pub(super) fn watch_port(&self, program: u64, port: u16) -> watch::Receiver<bool> {
        let mut state = self.state.lock();
        let mut watches = state.ports.values();
        if let Some(pending) = watches.find(|it| it.program == program && it.port == port) {
            return pending.is_open.subscribe();
        }
        let id = self.next_number();
        let (is_open, opened) = watch::channel(false);
        let watch = PortWatch {
            port,
            program,
            is_open,
        };
        state.ports.insert(id, watch);
        if let Some(sender) = &state.sender {
            sender.send(&NearFrame::Port { id, port, program }.write());
        }
        opened
    }

    /// Adds an asker for the carrier's questions.
    pub(super) fn ask_through(&self, asker: Arc<dyn CarrierAsker>) {
        let mut state = self.state.lock();
        state.askers.retain(|asker| asker.is_wanted());
        state.askers.push(asker);
    }

    /// Connects if necessary, and describes the machine.
    pub(super) async fn connect(
        self: &Arc<Self>,
        asks: Vec<String>,
    ) -> Result<FarHello, HostError> {
        let _connecting = self.connecting.lock().await;
        {
            let state = self.state.lock();
            if state.sender.is_some()
                && let Some(machine) = &state.machine
                && asks
                    .iter()
                    .all(|ask| machine.programs.iter().any(|(name, _)| name == ask))
            {
                return Ok(machine.clone());
            }
        }
        let hello = NearHello {
            version: LINK_VERSION,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            session: self.session,
            lease: self.options.lease,
            heartbeat: self.options.heartbeat,
            asks,
        };
        let patience = self.options.patience;
        let connection = match &self.maker {
            LinkMaker::Command(launcher) => {
                let mut askers = self.state.lock().askers.clone();
                askers.retain(|asker| asker.is_wanted());
                let order = CarrierOrder {
                    host: &self.options.name,
                    via: &self.options.via,
                    limit: patience,
                    askers,
                    install: self.binary().await?,
                };
                carrier::connect(launcher, order, hello).await?
            }
            LinkMaker::Source(source) => source::connect(&**source, hello, patience).await?,
        };
        let machine = connection.machine.clone();
        self.begin(connection);
        Ok(machine)
    }

    /// Switches to a new connection.
    fn begin(self: &Arc<Self>, connection: CarrierLink) {
        let sender = connection.sender.clone();
        let number = {
            let (_programs, resumes, mut state) = self.lock_with_programs();
            state.machine = Some(connection.machine.clone());
            state.copied = connection.copied;
            for (&number, end) in &mut state.dropped {
                end.is_resuming = true;
                sender.send(&resume_of(number, end.origin).write());
                sender.send(&end_of(number, end.grace).write());
            }
            for resume in resumes {
                sender.send(&resume.write());
            }
            for port in state.port_frames(None) {
                sender.send(&port.write());
            }
            state.sender = Some(sender);
            state.lost = None;
            state.links += 1;
            state.links
        };
        self.wake_all();
        windlass_task::spawn(read_link(Arc::downgrade(self), connection, number));
    }

    /// Locks the state. Also returns its programs and the frames that resume them. The programs must be dropped after the
    /// lock: dropping the last reference to one locks the state.
    fn lock_with_programs(
        &self,
    ) -> (
        Vec<Arc<NearProgram>>,
        Vec<NearFrame>,
        MutexGuard<'_, LinkState>,
    ) {
        loop {
            // Lock order: a program before the link. So query the programs before locking the link.
            let programs = self.all_programs();
            // A program that was left may belong to another runtime by now.
            let present = programs.iter().filter(|program| !program.is_left());
            let resumes = present.map(|program| program.resume_frame()).collect();
            let numbers: HashSet<u64> = programs.iter().map(|program| program.number).collect();
            let state = self.state.lock();
            if state.programs.keys().all(|number| numbers.contains(number)) {
                return (programs, resumes, state);
            }
            // Another one was added meanwhile, or dropped and is being removed.
        }
    }

    fn wake_all(&self) {
        for program in self.all_programs() {
            program.wake();
        }
    }

    fn program(&self, number: u64) -> Option<Arc<NearProgram>> {
        let state = self.state.lock();
        state.programs.get(&number).and_then(Weak::upgrade)
    }

    fn all_programs(&self) -> Vec<Arc<NearProgram>> {
        let state = self.state.lock();
        state.programs.values().filter_map(Weak::upgrade).collect()
    }

    /// Resolves when every current program has exited, is lost or was left.
    pub(super) async fn emptied(&self) {
        // Not held meanwhile: a program whose start has failed releases its files for the next attempt.
        let programs: Vec<_> = self.state.lock().programs.values().cloned().collect();
        for program in programs {
            NearProgram::ended(program).await;
        }
    }

    /// Abandons the host, whether connected or connecting.
    pub(super) fn abandon(&self, why: &str) {
        let programs = {
            let mut state = self.state.lock();
            state.sender = None;
            state.dropped.clear();
            state.lost = None;
            std::mem::take(&mut state.programs)
        };
        for program in programs.values().filter_map(Weak::upgrade) {
            program.lose(why, 0);
        }
    }

    /// Handles output of a program.
    fn receive(&self, piece: FramedOutput<'_>) {
        let program = self.state.lock().programs.get(&piece.program).cloned();
        if let Some(program) = program.and_then(|program| program.upgrade()) {
            program.receive(piece.from, piece.is_stderr, piece.bytes);
        }
    }

    fn take(self: &Arc<Self>, frame: FarFrame) {
        let number = match &frame {
            FarFrame::Started { program, .. }
            | FarFrame::Failed { program, .. }
            | FarFrame::Resumed { program, .. }
            | FarFrame::Gone { program, .. }
            | FarFrame::Done { program, .. }
            | FarFrame::Output { program, .. }
            | FarFrame::Status { program, .. }
            | FarFrame::Settled { program, .. }
            | FarFrame::Exited { program, .. }
            | FarFrame::Ended { program, .. }
            | FarFrame::Usage { program, .. } => *program,
            FarFrame::Port { id } => {
                if let Some(watch) = self.state.lock().ports.remove(id) {
                    watch.is_open.send_replace(true);
                }
                return;
            }
            FarFrame::Hello(_) | FarFrame::Beat | FarFrame::Refused { .. } => return,
        };
        if matches!(frame, FarFrame::Failed { .. }) && self.resume_later(number) {
            return;
        }
        let program = {
            let mut state = self.state.lock();
            let is_over = matches!(
                frame,
                FarFrame::Ended { .. } | FarFrame::Gone { .. } | FarFrame::Failed { .. }
            );
            if is_over
                && state.dropped.remove(&number).is_some()
                && let Some(sender) = &state.sender
            {
                sender.send(&NearFrame::Forget { program: number }.write());
            }
            state.programs.get(&number).and_then(Weak::upgrade)
        };
        if let Some(program) = program {
            program.take(frame);
        }
    }
}

fn end_of(program: u64, grace: Duration) -> NearFrame {
    NearFrame::Order {
        program,
        id: 0,
        order: HolderOrder::End { grace },
    }
}

/// Resumes a program only to end it.
fn resume_of(program: u64, origin: Option<ProgramOrigin>) -> NearFrame {
    NearFrame::Resume {
        program,
        from: 0,
        credit: WINDOW,
        origin,
        sandbox: None,
    }
}

/// The treatment of a program whose last reference was dropped.
pub(super) enum DroppedFate {
    /// Nothing: it has ended.
    Over,
    /// Nothing: it was left for another runtime.
    Left,
    /// Release it: its adoption did not complete, and it may be adopted later.
    NotAdopted,
    /// End it, now or when a lost link is restored.
    Ended(DroppedEnd),
}

/// The end of a program whose last reference was dropped.
pub(super) struct DroppedEnd {
    pub(super) grace: Duration,
    /// How long the far side holds it without a link.
    pub(super) lease: Duration,
    /// The program of an earlier runtime, if it was adopted.
    pub(super) origin: Option<ProgramOrigin>,
    /// Its near files, if it is kept: no other runtime adopts it before it was ended.
    pub(super) _kept: Option<OwnedKept>,
    /// Whether the far side was asked to resume it, and has not replied yet.
    pub(super) is_resuming: bool,
    /// Until when failed attempts to resume it are repeated; set by the first one.
    pub(super) retried_until: Option<Instant>,
}
