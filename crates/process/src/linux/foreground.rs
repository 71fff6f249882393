//! What the foreground of a terminal does: whether somebody in it waits for input.
//!
//! Start at [`foreground`]. `/proc/PID/task/TID/syscall` says in which system call a thread is blocked; if that is a
//! read, its descriptor says of what, and if it is one that waits for several descriptors, the list of them is in the
//! program's memory. Nothing is guessed from what the program wrote. The page `docs/design/settling.md` tells why this
//! is enough, and where it is not.

use std::path::Path;

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
}

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
pub(crate) fn foreground(group: Pid, keeper: Keeper, device: u64) -> Option<Foreground> {
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

fn look(group: i32, keeper: Keeper, device: u64) -> Option<(Foreground, Runs)> {
    let mut runs = Runs::new();
    let mut seen = Foreground {
        reader: None,
        naps: Runs::new(),
    };
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
                Blocked::Reading(waits) => {
                    seen.reader = Some(seen.reader.map_or(waits, |other| other.min(waits)));
                }
                Blocked::Napping => seen.naps.extend(runs.last().cloned()),
                Blocked::Otherwise => {}
            }
        }
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
    Reading(Waits),
    Napping,
    Otherwise,
}

struct Thread {
    folder: String,
    device: u64,
}

impl Thread {
    fn new(process: i32, id: i32, device: u64) -> Self {
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
            Err(_) => return Some(Blocked::Reading(Waits::Unseen)),
        };
        let line = std::str::from_utf8(&buffer[..length]).ok()?;
        let call = Call::parse(line)?;
        Some(self.judge(&call))
    }

    fn judge(&self, call: &Call) -> Blocked {
        let [first, second, third, ..] = call.args;
        match call.kind {
            Kind::Read if self.of(first) == Of::Terminal => Blocked::Reading(Waits::Terminal),
            Kind::Poll => self.judge_set(self.polled(first, second), second == 0),
            Kind::Select => self.judge_set(self.selected(first, second), second == 0 && third == 0),
            Kind::Epoll => self.judge_set(self.epolled(first), false),
            Kind::Nap => Blocked::Napping,
            // A wait that was stopped and continued; its arguments are where they were.
            Kind::Restarted => match self.judge_set(self.polled(first, second), false) {
                Blocked::Otherwise => Blocked::Napping,
                blocked => blocked,
            },
            Kind::Read | Kind::Other => Blocked::Otherwise,
        }
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
            (true, false) => Blocked::Reading(Waits::Terminal),
            (true, true) => Blocked::Reading(Waits::AmongOthers),
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
            FileType::CharacterDevice if stat.st_rdev == self.device || device == OWN => {
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
    Poll,
    Select,
    Epoll,
    Nap,
    Restarted,
    Other,
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
            libc::SYS_ppoll => Self::Poll,
            libc::SYS_pselect6 => Self::Select,
            libc::SYS_epoll_pwait | libc::SYS_epoll_pwait2 => Self::Epoll,
            libc::SYS_nanosleep | libc::SYS_clock_nanosleep => Self::Nap,
            libc::SYS_restart_syscall => Self::Restarted,
            // Newer architectures have only the newer ones.
            #[cfg(target_arch = "x86_64")]
            libc::SYS_poll => Self::Poll,
            #[cfg(target_arch = "x86_64")]
            libc::SYS_select => Self::Select,
            #[cfg(target_arch = "x86_64")]
            libc::SYS_epoll_wait => Self::Epoll,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
#[path = "foreground_tests.rs"]
mod tests;
