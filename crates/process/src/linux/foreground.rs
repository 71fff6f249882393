//! Detects whether a process in the foreground of a terminal waits for input.
//!
//! Start at [`foreground`]. `/proc/PID/task/TID/syscall` shows the system call
//! in which a thread is blocked. For a read, the descriptor shows the source;
//! for a wait on several descriptors, their list is in the program's memory.
//! The program's output is not used. `docs/design/settling.md` explains the
//! limits of this.

use std::path::Path;
use std::time::Duration;

use rustix::process::Pid;

use super::tree::{Member, descendants, everyone, read_small, tasks};
use crate::terminal::Keeper;

/// A foreground in which no process runs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Foreground {
    /// The wait of the process that reads the terminal, if there is one.
    pub(crate) reader: Option<Waits>,
    /// Processes that sleep for a limited time.
    pub(crate) naps: Runs,
    /// Processes that read the terminal with a short time limit, if no other
    /// reads it for longer.
    pub(crate) brief: Vec<BriefWait>,
}

/// A read of the terminal with a short time limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BriefWait {
    pub(crate) thread: i32,
    /// The thread's run count, as reported by the kernel.
    pub(crate) runs: Vec<u8>,
    /// The time limit of the wait.
    pub(crate) limit: Duration,
}

/// A terminal, as identified by system calls of its programs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Device {
    pub(crate) number: u64,
    /// The time limit of a read, if the program has set one on the terminal.
    pub(crate) read_limit: Option<Duration>,
}

/// A wait with a shorter limit may be for a terminal's reply, or for the rest
/// of a key.
pub(crate) const BRIEF: Duration = Duration::from_millis(500);

/// The kind of wait of a terminal's reader; the most certain first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Waits {
    /// For the terminal only.
    Terminal,
    /// For the terminal and other sources, any of which may wake it.
    AmongOthers,
    /// Asleep for a reason that is not visible.
    Unseen,
}

/// Inspects the processes of `group` that `keeper` holds; `None` if one of them runs. `device` is their terminal.
pub(crate) fn foreground(group: Pid, keeper: Keeper, device: Device) -> Option<Foreground> {
    let group = group.as_raw_nonzero().get();
    let (first, runs) = look(group, keeper, device)?;
    // A single thread cannot change while it sleeps. With several, one may have woken another that we had already seen
    // asleep, and then fallen asleep itself. If no run count changed between two checks, that did not happen.
    if runs.len() > 1 && look(group, keeper, device)?.1 != runs {
        return None;
    }
    Some(first)
}

/// Whether a process held by `keeper` is in `group`.
pub(crate) fn is_theirs(group: Pid, keeper: Keeper) -> bool {
    !members(group.as_raw_nonzero().get(), keeper).is_empty()
}

fn members(group: i32, keeper: Keeper) -> Vec<Member> {
    let (mut members, session) = match keeper {
        Keeper::Shim(shim) => (descendants(shim), None),
        Keeper::Session(session) => (everyone(), Some(session)),
    };
    members.retain(|it| it.group == group && session.is_none_or(|session| it.session == session));
    members
}

/// Threads and their run counts, as reported by the kernel.
pub(crate) type Runs = Vec<(i32, Vec<u8>)>;

fn look(group: i32, keeper: Keeper, device: Device) -> Option<(Foreground, Runs)> {
    let mut runs = Runs::new();
    let mut seen = Foreground {
        reader: None,
        naps: Runs::new(),
        brief: Vec::new(),
    };
    let mut lasts = false;
    for member in members(group, keeper) {
        let threads = if member.threads == 1 {
            vec![member.pid]
        } else {
            tasks(member.pid).ok()?
        };
        for id in threads {
            let thread = Thread::new(member.pid, id, device);
            match thread.life() {
                ThreadState::Runs => return None,
                ThreadState::Ended => continue,
                // It may have been stopped in a read, which is still shown as its system call. But it takes no input:
                // another process will get the terminal, or will continue it.
                ThreadState::Stopped { runs: so_far } => {
                    runs.push((id, so_far));
                    continue;
                }
                ThreadState::Sleeps { runs: so_far } => runs.push((id, so_far)),
            }
            match thread.blocked()? {
                Blocked::Reading { waits, limit } => {
                    seen.reader = Some(seen.reader.map_or(waits, |other| other.min(waits)));
                    match (limit.filter(|&limit| limit <= BRIEF), runs.last()) {
                        (Some(limit), Some((thread, runs))) => seen.brief.push(BriefWait {
                            thread: *thread,
                            runs: runs.clone(),
                            limit,
                        }),
                        _ => lasts = true,
                    }
                }
                Blocked::Napping => seen.naps.extend(runs.last().cloned()),
                Blocked::Otherwise => {}
            }
        }
    }
    if lasts {
        seen.brief.clear();
    }
    Some((seen, runs))
}

enum ThreadState {
    Runs,
    /// It sleeps; with its run count.
    Sleeps {
        runs: Vec<u8>,
    },
    /// Stopped by a signal or a debugger.
    Stopped {
        runs: Vec<u8>,
    },
    Ended,
}

/// The reason why a thread does not run.
#[derive(Debug, PartialEq, Eq)]
enum Blocked {
    Reading {
        waits: Waits,
        limit: Option<Duration>,
    },
    Napping,
    Otherwise,
}

impl Blocked {
    fn lasting(waits: Waits) -> Self {
        let limit = None;
        Self::Reading { waits, limit }
    }
}

struct Thread {
    folder: String,
    device: Device,
}

impl Thread {
    fn new(process: i32, id: i32, device: Device) -> Self {
        Self {
            folder: format!("/proc/{process}/task/{id}"),
            device,
        }
    }

    fn life(&self) -> ThreadState {
        let mut buffer = [0; 1024];
        let stat = read_small(&format!("{}/stat", self.folder), &mut buffer).ok();
        let stat = stat.map(|length| &buffer[..length]);
        // The state is the first word after the name in parentheses.
        let state = stat.and_then(|stat| stat.get(memchr::memrchr(b')', stat)? + 2));
        match state {
            None | Some(b'Z' | b'X') => ThreadState::Ended,
            Some(b'S' | b'I') => ThreadState::Sleeps { runs: self.runs() },
            Some(b'T' | b't') => ThreadState::Stopped { runs: self.runs() },
            Some(_) => ThreadState::Runs,
        }
    }

    /// Its run count, as reported by the kernel.
    fn runs(&self) -> Vec<u8> {
        let mut buffer = [0; 128];
        let length = read_small(&format!("{}/schedstat", self.folder), &mut buffer).unwrap_or(0);
        buffer[..length].to_vec()
    }

    /// The reason why it does not run; `None` if it runs now.
    fn blocked(&self) -> Option<Blocked> {
        let mut buffer = [0; 256];
        let length = match read_small(&format!("{}/syscall", self.folder), &mut buffer) {
            Ok(length) => length,
            // It has just exited.
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => return None,
            Err(_) if !Path::new(&self.folder).exists() => return None,
            // It has changed its user, or the system does not show this.
            Err(_) => return Some(Blocked::lasting(Waits::Unseen)),
        };
        let line = std::str::from_utf8(&buffer[..length]).ok()?;
        let call = BlockedCall::parse(line)?;
        Some(self.judge(&call))
    }

    fn judge(&self, call: &BlockedCall) -> Blocked {
        let [first, second, third, ..] = call.args;
        let blocked = match call.kind {
            SyscallKind::Read if self.of(first) == Of::Terminal => {
                Blocked::lasting(Waits::Terminal)
            }
            SyscallKind::Poll(_) => self.judge_set(self.polled(first, second), second == 0),
            SyscallKind::Select(_) => {
                self.judge_set(self.selected(first, second), second == 0 && third == 0)
            }
            SyscallKind::Epoll(_) => self.judge_set(self.epolled(first), false),
            SyscallKind::Nap => Blocked::Napping,
            // A wait that was stopped and continued has the same arguments.
            SyscallKind::Restarted => match self.judge_set(self.polled(first, second), false) {
                Blocked::Otherwise => Blocked::Napping,
                blocked => blocked,
            },
            SyscallKind::Read | SyscallKind::Other => Blocked::Otherwise,
        };
        match blocked {
            Blocked::Reading { waits, .. } => Blocked::Reading {
                waits,
                limit: self.limit(call),
            },
            blocked => blocked,
        }
    }

    /// The time limit of a wait for the terminal.
    fn limit(&self, call: &BlockedCall) -> Option<Duration> {
        let (limit, at) = match call.kind {
            SyscallKind::Read => return self.device.read_limit,
            SyscallKind::Poll(limit) => (limit, call.args[2]),
            SyscallKind::Select(limit) => (limit, call.args[4]),
            SyscallKind::Epoll(limit) => (limit, call.args[3]),
            SyscallKind::Nap | SyscallKind::Restarted | SyscallKind::Other => return None,
        };
        match limit {
            // The upper half of a register may be garbage, and a negative limit means none.
            Limit::Milliseconds => u32::try_from(at & 0xffff_ffff)
                .ok()
                .filter(|&limit| i32::try_from(limit).is_ok())
                .map(|limit| Duration::from_millis(limit.into())),
            Limit::Microseconds if at != 0 => self.time(at, 1000),
            Limit::Nanoseconds if at != 0 => self.time(at, 1),
            Limit::Microseconds | Limit::Nanoseconds => None,
        }
    }

    /// A time in the program's memory: seconds and fractions.
    fn time(&self, address: u64, nanoseconds: u64) -> Option<Duration> {
        let bytes = self.memory(address, 16)?;
        let (seconds, parts) = bytes.split_at(8);
        let seconds = u64::from_ne_bytes(seconds.try_into().ok()?);
        let parts = u64::from_ne_bytes(parts.try_into().ok()?);
        let parts = Duration::from_nanos(parts.checked_mul(nanoseconds)?);
        Duration::from_secs(seconds).checked_add(parts)
    }

    /// `none`: a wait for no descriptors is a sleep.
    fn judge_set(&self, descriptors: Option<Vec<u64>>, none: bool) -> Blocked {
        if none {
            return Blocked::Napping;
        }
        let Some(descriptors) = descriptors else {
            return Blocked::Otherwise;
        };
        let (mut terminal, mut others) = (false, false);
        for descriptor in descriptors {
            match self.of(descriptor) {
                Of::Terminal => terminal = true,
                Of::Other => others = true,
                Of::Nothing => {}
            }
        }
        match (terminal, others) {
            (true, false) => Blocked::lasting(Waits::Terminal),
            (true, true) => Blocked::lasting(Waits::AmongOthers),
            (false, _) => Blocked::Otherwise,
        }
    }

    /// The kind of file behind a descriptor.
    fn of(&self, descriptor: u64) -> Of {
        use rustix::fs::FileType;
        /// The device number of `/dev/tty`: the terminal of the process that
        /// opens it.
        const OWN: (u32, u32) = (5, 0);
        // The upper half of a descriptor's register may be garbage.
        let descriptor = descriptor & 0xffff_ffff;
        let Ok(stat) = rustix::fs::stat(format!("{}/fd/{descriptor}", self.folder)) else {
            return Of::Nothing;
        };
        let device = (
            rustix::fs::major(stat.st_rdev),
            rustix::fs::minor(stat.st_rdev),
        );
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::CharacterDevice if stat.st_rdev == self.device.number || device == OWN => {
                Of::Terminal
            }
            FileType::CharacterDevice | FileType::Socket | FileType::Fifo => Of::Other,
            // Signals, timers, events of its own threads, or watched files.
            _ => Of::Nothing,
        }
    }

    /// The descriptors from which a `poll` waits to read.
    fn polled(&self, list: u64, count: u64) -> Option<Vec<u64>> {
        /// The poll events for input.
        const INPUT: i16 = libc::POLLIN | libc::POLLRDNORM;
        const SIZE: usize = size_of::<libc::pollfd>();
        let count = usize::try_from(count).ok().filter(|&it| it <= 1024)?;
        let bytes = self.memory(list, count * SIZE)?;
        let entries = bytes.chunks_exact(SIZE).filter_map(|entry| {
            let descriptor = i32::from_ne_bytes(entry[..4].try_into().ok()?);
            let events = i16::from_ne_bytes(entry[4..6].try_into().ok()?);
            (events & INPUT != 0).then(|| u64::try_from(descriptor).ok())?
        });
        Some(entries.collect())
    }

    /// The descriptors from which a `select` waits to read.
    fn selected(&self, count: u64, list: u64) -> Option<Vec<u64>> {
        let count = usize::try_from(count & 0xffff_ffff)
            .ok()
            .filter(|&it| it <= 1024)?;
        let bytes = self.memory(list, count.div_ceil(8))?;
        let is_set = |&it: &usize| bytes[it / 8] & (1 << (it % 8)) != 0;
        Some((0..count).filter(is_set).map(|it| it as u64).collect())
    }

    /// The descriptors that an `epoll` watches.
    fn epolled(&self, descriptor: u64) -> Option<Vec<u64>> {
        let descriptor = descriptor & 0xffff_ffff;
        let info = std::fs::read_to_string(format!("{}/fdinfo/{descriptor}", self.folder)).ok()?;
        let watched = info.lines().filter_map(|line| {
            let mut words = line.strip_prefix("tfd:")?.split_ascii_whitespace();
            let target = words.next()?.parse().ok()?;
            let events = u32::from_str_radix(words.nth(1)?, 16).ok()?;
            (events & libc::EPOLLIN.cast_unsigned() != 0).then_some(target)
        });
        Some(watched.collect())
    }

    fn memory(&self, address: u64, length: usize) -> Option<Vec<u8>> {
        use rustix::fs::{Mode, OFlags, open};
        let path = format!("{}/mem", self.folder);
        let file = open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
        let mut bytes = vec![0; length];
        let read = rustix::io::pread(&file, &mut bytes, address).ok()?;
        (read == length).then_some(bytes)
    }
}

#[derive(PartialEq, Eq)]
enum Of {
    Terminal,
    /// A source that other processes write to.
    Other,
    Nothing,
}

/// The system call in which a thread is blocked.
#[derive(Debug, PartialEq, Eq)]
struct BlockedCall {
    kind: SyscallKind,
    args: [u64; 6],
}

/// The relevant system calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SyscallKind {
    Read,
    Poll(Limit),
    Select(Limit),
    Epoll(Limit),
    Nap,
    Restarted,
    Other,
}

/// The encoding of a system call's time limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    /// A number; negative means no limit.
    Milliseconds,
    /// In memory: seconds and microseconds.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(dead_code, reason = "newer architectures have only the newer calls")
    )]
    Microseconds,
    /// In memory: seconds and nanoseconds.
    Nanoseconds,
}

impl BlockedCall {
    /// Parses a line of `/proc`; `None` if the thread runs.
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace();
        // "running", or empty if it has exited.
        let number = words.next()?.parse().ok()?;
        let mut args = [0; 6];
        for arg in &mut args {
            let word = words.next().and_then(|word| word.strip_prefix("0x"));
            *arg = word.map_or(Some(0), |word| u64::from_str_radix(word, 16).ok())?;
        }
        let kind = SyscallKind::of(number);
        Some(Self { kind, args })
    }
}

impl SyscallKind {
    fn of(number: libc::c_long) -> Self {
        match number {
            libc::SYS_read | libc::SYS_readv => Self::Read,
            libc::SYS_ppoll => Self::Poll(Limit::Nanoseconds),
            libc::SYS_pselect6 => Self::Select(Limit::Nanoseconds),
            libc::SYS_epoll_pwait => Self::Epoll(Limit::Milliseconds),
            libc::SYS_epoll_pwait2 => Self::Epoll(Limit::Nanoseconds),
            libc::SYS_nanosleep | libc::SYS_clock_nanosleep => Self::Nap,
            libc::SYS_restart_syscall => Self::Restarted,
            // Newer architectures lack the older calls.
            #[cfg(target_arch = "x86_64")]
            libc::SYS_poll => Self::Poll(Limit::Milliseconds),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_select => Self::Select(Limit::Microseconds),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_epoll_wait => Self::Epoll(Limit::Milliseconds),
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
#[path = "foreground_tests.rs"]
mod tests;
