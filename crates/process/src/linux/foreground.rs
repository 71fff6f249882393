//! What the foreground of a terminal does: whether somebody in it waits for input.
//!
//! Start at [`foreground`]. `/proc/PID/task/TID/syscall` says in which system call a thread is blocked; if that is a
//! read, its descriptor says of what, and if it is one that waits for several descriptors, the list of them is in the
//! program's memory. Nothing is guessed from what the program wrote. The page `docs/design/settling.md` tells why this
//! is enough, and where it is not.

use std::path::Path;
use std::time::Duration;

use rustix::process::Pid;

use super::tree::{Member, descendants, everyone, read_small, tasks};
use crate::terminal::Keeper;

/// A foreground in which nobody runs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Foreground {
    /// What the one who reads the terminal waits for, if there is one.
    pub(crate) reader: Option<Waits>,
    /// Those who sleep for a time, and will go on by themselves.
    pub(crate) naps: Runs,
    /// Those who read the terminal and will soon go on by themselves, if nobody reads it for as long as it takes.
    pub(crate) brief: Vec<BriefWait>,
}

/// Somebody who reads the terminal and will soon go on by himself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BriefWait {
    pub(crate) thread: i32,
    /// How often it has run so far, as the system tells it.
    pub(crate) runs: Vec<u8>,
    /// How long it waits at most.
    pub(crate) limit: Duration,
}

/// A terminal as the system calls of its programs name it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Device {
    pub(crate) number: u64,
    /// A read gives up after this time, if the program has set the terminal so.
    pub(crate) read_limit: Option<Duration>,
}

/// A wait for the terminal that ends by itself within this time may be for an answer of the terminal, or for the rest of
/// a key.
pub(crate) const BRIEF: Duration = Duration::from_millis(500);

/// What somebody who reads the terminal waits for; the surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Waits {
    /// For the terminal, and nothing else.
    Terminal,
    /// For the terminal and for others, any of which may make him go on.
    AmongOthers,
    /// He sleeps, and we may not see why.
    Unseen,
}

/// Looks at the processes of `group`, among those that `keeper` holds; `None` if one of them runs. `device` is their
/// terminal.
pub(crate) fn foreground(group: Pid, keeper: Keeper, device: Device) -> Option<Foreground> {
    let group = group.as_raw_nonzero().get();
    let (first, runs) = look(group, keeper, device)?;
    // One thread cannot change while it sleeps. Among several, one may have woken another that we had already seen
    // asleep, and fallen asleep itself before we looked at it. If nobody has run between two looks, nobody did.
    if runs.len() > 1 && look(group, keeper, device)?.1 != runs {
        return None;
    }
    Some(first)
}

/// Whether somebody who is held by `keeper` is in `group`.
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

/// Threads, and how often each has run so far, as the system tells it.
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
                Life::Runs => return None,
                Life::Ended => continue,
                // What it was stopped in may have been a read, and still stands there as its system call. But it takes
                // no input: somebody else will have the terminal, or will let it go on.
                Life::Stopped { runs: so_far } => {
                    runs.push((id, so_far));
                    continue;
                }
                Life::Sleeps { runs: so_far } => runs.push((id, so_far)),
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

/// What a thread is at.
enum Life {
    Runs,
    /// It sleeps; this is how often it has run so far.
    Sleeps {
        runs: Vec<u8>,
    },
    /// By a signal or by a debugger, and somebody will have to let it go on.
    Stopped {
        runs: Vec<u8>,
    },
    Ended,
}

/// Why a thread does not run.
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

    fn life(&self) -> Life {
        let mut buffer = [0; 1024];
        let stat = read_small(&format!("{}/stat", self.folder), &mut buffer).ok();
        let stat = stat.map(|length| &buffer[..length]);
        // The state is the first word after the name in brackets.
        let state = stat.and_then(|stat| stat.get(memchr::memrchr(b')', stat)? + 2));
        match state {
            None | Some(b'Z' | b'X') => Life::Ended,
            Some(b'S' | b'I') => Life::Sleeps { runs: self.runs() },
            Some(b'T' | b't') => Life::Stopped { runs: self.runs() },
            Some(_) => Life::Runs,
        }
    }

    /// How often it has run so far, as the system tells it.
    fn runs(&self) -> Vec<u8> {
        let mut buffer = [0; 128];
        let length = read_small(&format!("{}/schedstat", self.folder), &mut buffer).unwrap_or(0);
        buffer[..length].to_vec()
    }

    /// Why it does not run; `None` if it does now.
    fn blocked(&self) -> Option<Blocked> {
        let mut buffer = [0; 256];
        let length = match read_small(&format!("{}/syscall", self.folder), &mut buffer) {
            Ok(length) => length,
            // It has just ended.
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => return None,
            Err(_) if !Path::new(&self.folder).exists() => return None,
            // It has changed its user, or the system shows this to nobody.
            Err(_) => return Some(Blocked::lasting(Waits::Unseen)),
        };
        let line = std::str::from_utf8(&buffer[..length]).ok()?;
        let call = Call::parse(line)?;
        Some(self.judge(&call))
    }

    fn judge(&self, call: &Call) -> Blocked {
        let [first, second, third, ..] = call.args;
        let blocked = match call.kind {
            Kind::Read if self.of(first) == Of::Terminal => Blocked::lasting(Waits::Terminal),
            Kind::Poll(_) => self.judge_set(self.polled(first, second), second == 0),
            Kind::Select(_) => {
                self.judge_set(self.selected(first, second), second == 0 && third == 0)
            }
            Kind::Epoll(_) => self.judge_set(self.epolled(first), false),
            Kind::Nap => Blocked::Napping,
            // A wait that was stopped and continued; its arguments are where they were.
            Kind::Restarted => match self.judge_set(self.polled(first, second), false) {
                Blocked::Otherwise => Blocked::Napping,
                blocked => blocked,
            },
            Kind::Read | Kind::Other => Blocked::Otherwise,
        };
        match blocked {
            Blocked::Reading { waits, .. } => Blocked::Reading {
                waits,
                limit: self.limit(call),
            },
            blocked => blocked,
        }
    }

    /// How long a wait for the terminal takes at most.
    fn limit(&self, call: &Call) -> Option<Duration> {
        let (limit, at) = match call.kind {
            Kind::Read => return self.device.read_limit,
            Kind::Poll(limit) => (limit, call.args[2]),
            Kind::Select(limit) => (limit, call.args[4]),
            Kind::Epoll(limit) => (limit, call.args[3]),
            Kind::Nap | Kind::Restarted | Kind::Other => return None,
        };
        match limit {
            // A register holds rubbish in its upper half, and a limit below zero is none.
            Limit::Milliseconds => u32::try_from(at & 0xffff_ffff)
                .ok()
                .filter(|&limit| i32::try_from(limit).is_ok())
                .map(|limit| Duration::from_millis(limit.into())),
            Limit::Microseconds if at != 0 => self.time(at, 1000),
            Limit::Nanoseconds if at != 0 => self.time(at, 1),
            Limit::Microseconds | Limit::Nanoseconds => None,
        }
    }

    /// A time in the program's memory: seconds, and parts of one.
    fn time(&self, address: u64, nanoseconds: u64) -> Option<Duration> {
        let bytes = self.memory(address, 16)?;
        let (seconds, parts) = bytes.split_at(8);
        let seconds = u64::from_ne_bytes(seconds.try_into().ok()?);
        let parts = u64::from_ne_bytes(parts.try_into().ok()?);
        let parts = Duration::from_nanos(parts.checked_mul(nanoseconds)?);
        Duration::from_secs(seconds).checked_add(parts)
    }

    /// Waiting for none of all descriptors is a way to sleep for a time.
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

    /// What a descriptor is of.
    fn of(&self, descriptor: u64) -> Of {
        use rustix::fs::FileType;
        /// What `/dev/tty` is: the terminal of whoever opens it.
        const OWN: (u32, u32) = (5, 0);
        // The registers of a descriptor hold rubbish in their upper halves.
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
            // Signals, timers, events of its own threads, watched files.
            _ => Of::Nothing,
        }
    }

    /// The descriptors that a `poll` wants to read.
    fn polled(&self, list: u64, count: u64) -> Option<Vec<u64>> {
        /// What makes a poll return when there is input.
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

    /// The descriptors that a `select` wants to read.
    fn selected(&self, count: u64, list: u64) -> Option<Vec<u64>> {
        let count = usize::try_from(count & 0xffff_ffff)
            .ok()
            .filter(|&it| it <= 1024)?;
        let bytes = self.memory(list, count.div_ceil(8))?;
        let is_set = |&it: &usize| bytes[it / 8] & (1 << (it % 8)) != 0;
        Some((0..count).filter(is_set).map(|it| it as u64).collect())
    }

    /// The descriptors that an `epoll` was told to watch.
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
    /// Something that others write to.
    Other,
    Nothing,
}

/// A system call that a thread is blocked in.
#[derive(Debug, PartialEq, Eq)]
struct Call {
    kind: Kind,
    args: [u64; 6],
}

/// The system calls that matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    Poll(Limit),
    Select(Limit),
    Epoll(Limit),
    Nap,
    Restarted,
    Other,
}

/// How a system call is told how long to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    /// As a number; below zero there is no limit.
    Milliseconds,
    /// In memory: seconds and millionths of one.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(dead_code, reason = "newer architectures have only the newer calls")
    )]
    Microseconds,
    /// In memory: seconds and billionths of one.
    Nanoseconds,
}

impl Call {
    /// Reads what `/proc` says; `None` if the thread runs.
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace();
        // "running", or nothing at all once it has ended.
        let number = words.next()?.parse().ok()?;
        let mut args = [0; 6];
        for arg in &mut args {
            let word = words.next().and_then(|word| word.strip_prefix("0x"));
            *arg = word.map_or(Some(0), |word| u64::from_str_radix(word, 16).ok())?;
        }
        let kind = Kind::of(number);
        Some(Self { kind, args })
    }
}

impl Kind {
    fn of(number: libc::c_long) -> Self {
        match number {
            libc::SYS_read | libc::SYS_readv => Self::Read,
            libc::SYS_ppoll => Self::Poll(Limit::Nanoseconds),
            libc::SYS_pselect6 => Self::Select(Limit::Nanoseconds),
            libc::SYS_epoll_pwait => Self::Epoll(Limit::Milliseconds),
            libc::SYS_epoll_pwait2 => Self::Epoll(Limit::Nanoseconds),
            libc::SYS_nanosleep | libc::SYS_clock_nanosleep => Self::Nap,
            libc::SYS_restart_syscall => Self::Restarted,
            // Newer architectures have only the newer ones.
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
