//! Takes care of shims whose zygote has died: they and their programs become
//! children of the runtime, which is a subreaper too.
//!
//! Start at [`watch`]. A thread per zygote waits for its end and then
//! supervises its shims. These continue to run, since their sockets lead
//! directly to the runtime. The thread reaps them, and if one is killed, kills
//! its orphans.
//!
//! The runtime's own children are not touched. A child counts as an orphan only
//! if it is in a session created by a zygote, carries our brand or marker, or
//! was seen below a shim; and never if it is in the runtime's own session, or
//! one that the runtime created without a zygote. Shims are identified by their
//! reports, not by their names, which a program may imitate.
//!
//! A stopped zygote, or a stopped shim of a dead one, is continued; after
//! repeated stops it is killed.

use std::collections::{HashMap, HashSet};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, kill_process, pidfd_open, waitpid};

use super::STOPS;
use super::marker::RuntimeId;
use super::tree::{Member, children, descendants, read_small};
use super::zygote;

/// The zygotes of this process, and their shims with programs.
static KEEPERS: Mutex<Vec<i32>> = Mutex::new(Vec::new());

/// The sessions of programs that this process started without a zygote. Locked during such a start.
pub(crate) static OWN_SESSIONS: Mutex<Vec<i32>> = Mutex::new(Vec::new());

const KILL_LIMIT: Duration = Duration::from_secs(5);
const KILL_STEP: Duration = Duration::from_millis(20);
const STACK: usize = 128 * 1024;
/// The polling interval for stopped shims of a dead zygote: no event reports
/// them.
const STOP_LOOK: Duration = Duration::from_millis(250);

/// Guard: registers a zygote or a shim of this process until it is dropped.
pub(super) struct KnownKeeper(i32);

impl KnownKeeper {
    pub(super) fn new(pid: i32) -> Self {
        KEEPERS.lock().push(pid);
        Self(pid)
    }

    /// Starts a process. No watcher can mistake it for an orphan meanwhile.
    pub(super) fn start(spawn: impl FnOnce() -> io::Result<i32>) -> io::Result<Self> {
        let mut keepers = KEEPERS.lock();
        let pid = spawn()?;
        keepers.push(pid);
        Ok(Self(pid))
    }
}

impl Drop for KnownKeeper {
    fn drop(&mut self) {
        let mut keepers = KEEPERS.lock();
        if let Some(at) = keepers.iter().position(|&it| it == self.0) {
            keepers.swap_remove(at);
        }
    }
}

fn is_keeper(pid: i32) -> bool {
    KEEPERS.lock().contains(&pid)
}

/// Waits for a zygote in a separate thread, sets `dead` when it is gone, and
/// supervises its shims.
pub(super) fn watch(zygote: KnownKeeper, dead: Arc<AtomicBool>) -> io::Result<()> {
    let name = String::from("windlass-zygote");
    let thread = thread::Builder::new().name(name).stack_size(STACK);
    thread.spawn(move || {
        if let Some(pid) = Pid::from_raw(zygote.0) {
            // The kernel reparents all children of a process before it can be waited for.
            outlast(pid);
            drop(zygote);
            dead.store(true, Ordering::Release);
            if let Some(mut adopted) = Adopted::from_zygote(pid.as_raw_nonzero().get()) {
                adopted.serve();
            }
        }
    })?;
    Ok(())
}

/// The processes that a dead zygote left.
struct Adopted {
    own: Member,
    id: RuntimeId,
    /// The session of the zygote: all its descendants that did not leave it.
    session: i32,
    shims: Vec<(Member, OwnedFd)>,
    /// The number of stops of each shim.
    stops: HashMap<i32, u32>,
    /// Processes seen below the shims.
    seen: HashSet<(i32, u64)>,
}

impl Adopted {
    fn from_zygote(session: i32) -> Option<Self> {
        let id = RuntimeId::own().ok()?;
        let mut adopted = Self {
            own: Member::read(id.pid)?,
            id,
            session,
            shims: Vec::new(),
            stops: HashMap::new(),
            seen: HashSet::new(),
        };
        for member in adopted.children() {
            if member.session == session
                && is_keeper(member.pid)
                && let Some(pid) = Pid::from_raw(member.pid)
                && let Ok(pidfd) = pidfd_open(pid, PidfdFlags::empty())
            {
                let below = descendants(member.pid);
                adopted
                    .seen
                    .extend(below.iter().map(|it| (it.pid, it.start)));
                adopted.shims.push((member, pidfd));
            }
        }
        Some(adopted)
    }

    fn serve(&mut self) {
        self.kill_orphans();
        while !self.shims.is_empty() {
            let ready = ready(self.shims.iter().map(|(_, pidfd)| pidfd), Some(STOP_LOOK));
            let mut killed = false;
            if ready.is_empty() {
                self.go_on();
            }
            for index in ready.into_iter().rev() {
                let (shim, _) = self.shims.swap_remove(index);
                let status =
                    Pid::from_raw(shim.pid).and_then(|pid| fetch(pid, WaitOptions::empty()));
                killed |= status != Some(0);
            }
            if killed {
                self.kill_orphans();
            }
        }
    }

    /// Continues stopped shims.
    fn go_on(&mut self) {
        for (shim, _) in &self.shims {
            if Member::read(shim.pid).is_some_and(|now| now.stopped()) {
                let stops = self.stops.entry(shim.pid).or_default();
                *stops += 1;
                shim.signal(go_on_or_end(*stops));
            }
        }
    }

    /// Kills the trees of orphans until there are none, or the time limit is reached.
    fn kill_orphans(&self) {
        let since = Instant::now();
        while since.elapsed() < KILL_LIMIT {
            let orphans: Vec<Member> = self.children().filter(|it| self.is_orphan(it)).collect();
            if orphans.is_empty() {
                return;
            }
            let mut pidfds = Vec::new();
            for orphan in &orphans {
                let pid = Pid::from_raw(orphan.pid);
                pidfds.extend(pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()));
                orphan.signal(Signal::KILL);
                for member in descendants(orphan.pid) {
                    member.signal(Signal::KILL);
                }
            }
            ready(pidfds.iter(), Some(KILL_STEP));
            for pid in orphans
                .iter()
                .filter_map(|orphan| Pid::from_raw(orphan.pid))
            {
                fetch(pid, WaitOptions::NOHANG);
            }
        }
    }

    fn children(&self) -> impl Iterator<Item = Member> + use<> {
        let own = self.own.pid;
        let children = children(own).unwrap_or_else(|_| {
            let everyone = super::tree::everyone().into_iter();
            everyone
                .filter(|it| it.parent == own)
                .map(|it| it.pid)
                .collect()
        });
        children
            .into_iter()
            .filter_map(Member::read)
            .filter(move |it| it.parent == own)
    }

    fn is_orphan(&self, child: &Member) -> bool {
        let ours = child.session == self.session
            || self.seen.contains(&(child.pid, child.start))
            || RuntimeId::of(child.pid) == Some(self.id);
        let shim = self.shims.iter().any(|(shim, _)| shim.pid == child.pid);
        // Other zygotes, and the shims of dead ones, have their own watchers.
        ours && child.session != self.own.session
            && !shim
            && !is_keeper(child.pid)
            && !OWN_SESSIONS.lock().contains(&child.session)
    }
}

/// Waits until a child has ended, and continues it meanwhile if it is stopped.
fn outlast(pid: Pid) {
    let mut stops = 0;
    loop {
        match waitpid(Some(pid), WaitOptions::UNTRACED) {
            Ok(Some((_, status))) if status.stopped() => {
                stops += 1;
                // It was not waited for, so its pid was not reused.
                let _ = kill_process(pid, go_on_or_end(stops));
            }
            Err(rustix::io::Errno::INTR) => {}
            Ok(_) | Err(_) => return,
        }
    }
}

fn go_on_or_end(stops: u32) -> Signal {
    if stops > STOPS {
        Signal::KILL
    } else {
        Signal::CONT
    }
}

/// Whether a process has the name of a zygote or of its forks.
pub(super) fn is_shim(pid: i32) -> bool {
    let mut buffer = [0; 64];
    let length = read_small(&format!("/proc/{pid}/cmdline"), &mut buffer).unwrap_or(0);
    buffer[..length].split(|&byte| byte == 0).next() == Some(zygote::NAME.as_bytes())
}

/// Fetches the status of a child: 0 if it succeeded.
fn fetch(pid: Pid, options: WaitOptions) -> Option<i32> {
    loop {
        match waitpid(Some(pid), options) {
            Ok(status) => return status.map(|(_, status)| status.as_raw()),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

/// Waits until one of the processes has ended; returns the indices of those that have.
fn ready<'a>(pidfds: impl Iterator<Item = &'a OwnedFd>, timeout: Option<Duration>) -> Vec<usize> {
    let mut polls: Vec<PollFd<'_>> = pidfds
        .map(|pidfd| PollFd::new(pidfd, PollFlags::IN))
        .collect();
    let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
    if poll(&mut polls, timeout.as_ref()).is_err() {
        return Vec::new();
    }
    let ready = polls
        .iter()
        .enumerate()
        .filter(|(_, poll)| !poll.revents().is_empty());
    ready.map(|(index, _)| index).collect()
}
