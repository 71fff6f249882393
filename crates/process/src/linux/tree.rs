//! Process ancestry, from `/proc`.
//!
//! Start at [`descendants`]. A process that hides (`setsid`, double fork,
//! cleared environment) still has a parent, or its subreaper if that has
//! exited, so a walk down from a subreaper finds all of them. A walk is not
//! atomic: callers that must be sure repeat it until nothing is left.

use std::io::{self, Read};

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

/// The content of `/proc/PID/stat`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) pid: i32,
    pub(crate) name: Vec<u8>,
    pub(crate) state: u8,
    pub(crate) parent: i32,
    pub(crate) group: i32,
    pub(crate) session: i32,
    pub(crate) threads: u32,
    /// The start time in clock ticks since boot. With the pid it identifies a
    /// process uniquely.
    pub(crate) start: u64,
}

impl Member {
    /// Reads one process; `None` if it does not exist.
    pub(crate) fn read(pid: i32) -> Option<Self> {
        let mut buffer = [0; 1024];
        let length = read_small(&format!("/proc/{pid}/stat"), &mut buffer).ok()?;
        Self::parse(pid, &buffer[..length])
    }

    fn parse(pid: i32, line: &[u8]) -> Option<Self> {
        // The name may contain spaces and parentheses; the rest of the line contains none.
        let open = memchr::memchr(b'(', line)?;
        let close = memchr::memrchr(b')', line)?;
        let rest = std::str::from_utf8(line.get(close + 2..)?).ok()?;
        let mut fields = rest.split(' ');
        let state = *fields.next()?.as_bytes().first()?;
        let mut number = |skip: usize| fields.nth(skip)?.parse::<i64>().ok();
        let parent = number(0)?;
        let group = number(0)?;
        let session = number(0)?;
        let threads = number(13)?;
        let start = number(1)?;
        Some(Self {
            pid,
            name: line[open + 1..close].to_vec(),
            state,
            parent: parent.try_into().ok()?,
            group: group.try_into().ok()?,
            session: session.try_into().ok()?,
            threads: threads.try_into().ok()?,
            start: start.try_into().ok()?,
        })
    }

    /// Whether it is not a zombie. The first thread may have exited before the
    /// others.
    pub(crate) fn alive(&self) -> bool {
        !matches!(self.state, b'Z' | b'X') || self.threads > 1
    }

    /// Whether it is stopped, by a signal or a debugger.
    pub(crate) fn stopped(&self) -> bool {
        matches!(self.state, b'T' | b't')
    }

    /// Whether it ignores this signal.
    pub(crate) fn ignores(&self, signal: Signal) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid));
        let status = status.unwrap_or_default();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        ignored.is_some_and(|mask| mask >> (signal.as_raw() - 1) & 1 == 1)
    }

    /// Signals exactly this process, and nothing if its pid has been reused.
    pub(crate) fn signal(&self, signal: Signal) {
        let Some(pid) = Pid::from_raw(self.pid) else {
            return;
        };
        match pidfd_open(pid, PidfdFlags::empty()) {
            // The pidfd refers either to the process that now has the pid, or to one that is gone, which receives no
            // signal.
            Ok(pidfd) => {
                if Self::read(self.pid).is_some_and(|now| now.start == self.start) {
                    let _ = pidfd_send_signal(&pidfd, signal);
                }
            }
            Err(rustix::io::Errno::SRCH) => {}
            // Not available before Linux 5.3.
            Err(_) => {
                if Self::read(self.pid).is_some_and(|now| now.start == self.start) {
                    let _ = kill_process(pid, signal);
                }
            }
        }
    }
}

/// All descendants of `root`, parents before children, without `root`.
pub(crate) fn descendants(root: i32) -> Vec<Member> {
    let mut found: Vec<Member> = Vec::new();
    let Ok(children) = children(root) else {
        return descendants_by_scan(root);
    };
    add(&mut found, children, root, root);
    let mut next = 0;
    while next < found.len() {
        let pid = found[next].pid;
        // The children of a process that has exited are now below `root`; the next walk finds them.
        if let Ok(children) = self::children(pid) {
            add(&mut found, children, pid, root);
        }
        next += 1;
    }
    found
}

/// Whether more than this many running processes descend from `root`. Stops
/// early: during a fork bomb, every extra check gives the bomb more time.
pub(crate) fn has_more_than(root: i32, limit: usize) -> bool {
    let Ok(mut found) = children(root) else {
        return descendants(root).iter().filter(|it| it.alive()).count() > limit;
    };
    let mut next = 0;
    let mut alive = 0;
    while next < found.len() && alive <= limit {
        let pid = found[next];
        alive += usize::from(Member::read(pid).is_some_and(|member| member.alive()));
        // A list that exceeds the limit need not become longer.
        if found.len() - next <= limit + 1 {
            found.extend(children(pid).unwrap_or_default());
        }
        next += 1;
    }
    alive > limit
}

fn add(found: &mut Vec<Member>, children: Vec<i32>, parent: i32, root: i32) {
    for pid in children {
        // The pid may have been reused since it was listed.
        let member = Member::read(pid).filter(|it| it.parent == parent || it.parent == root);
        if let Some(member) = member
            && !found.iter().any(|it| it.pid == pid)
        {
            found.push(member);
        }
    }
}

/// The direct children of all threads of a process.
pub(crate) fn children(pid: i32) -> io::Result<Vec<i32>> {
    let mut children = Vec::new();
    let mut tasks = tasks(pid)?;
    tasks.sort_unstable_by_key(|&task| task != pid);
    for task in tasks {
        match std::fs::File::open(format!("/proc/{pid}/task/{task}/children")) {
            Ok(mut file) => {
                let mut text = String::new();
                // A process that exits meanwhile has no children.
                let _ = file.read_to_string(&mut text);
                children.extend(
                    text.split_ascii_whitespace()
                        .filter_map(|it| it.parse::<i32>().ok()),
                );
            }
            // The first thread always exists: if the file is missing, the kernel does not support it.
            Err(error) if task == pid => return Err(error),
            Err(_) => {}
        }
    }
    Ok(children)
}

/// The threads of a process.
pub(crate) fn tasks(pid: i32) -> io::Result<Vec<i32>> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/task"))?;
    Ok(entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect())
}

/// Every visible process.
pub(crate) fn everyone() -> Vec<Member> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| Member::read(entry.file_name().to_str()?.parse().ok()?))
        .collect()
}

/// [`descendants`] for kernels without `children` files.
fn descendants_by_scan(root: i32) -> Vec<Member> {
    let mut rest = everyone();
    let mut found: Vec<Member> = Vec::new();
    let mut next = 0;
    let mut parent = root;
    loop {
        found.extend(rest.extract_if(.., |it| it.parent == parent));
        let Some(member) = found.get(next) else {
            return found;
        };
        parent = member.pid;
        next += 1;
    }
}

/// Reads a file of `/proc` that fits into one read.
pub(crate) fn read_small(path: &str, buffer: &mut [u8]) -> io::Result<usize> {
    use rustix::fs::{Mode, OFlags, open};
    let file = open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    Ok(rustix::io::retry_on_intr(|| {
        rustix::io::read(&file, &mut *buffer)
    })?)
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
