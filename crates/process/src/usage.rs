//! How much of the machine processes use, as `/proc` tells it.

use std::time::Duration;

/// The use of a program with everything that it has started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResourceUse {
    /// CPU time, of processes that have ended too where their parents have fetched them.
    pub cpu: Duration,
    /// Bytes of memory that are the processes' own.
    pub memory: u64,
    /// Processes that run.
    pub processes: usize,
}

/// Bytes of memory of a process: its own pages, shared memory and swapped pages.
#[cfg(target_os = "linux")]
pub(crate) fn memory_of(pid: i32) -> Option<u64> {
    let mut buffer = [0; 4096];
    let length = crate::linux::read_small(&format!("/proc/{pid}/status"), &mut buffer).ok()?;
    let text = std::str::from_utf8(&buffer[..length]).ok()?;
    let mut kilobytes = 0;
    for line in text.lines() {
        let names = ["RssAnon:", "RssShmem:", "VmSwap:"];
        let value = names.iter().find_map(|name| line.strip_prefix(name));
        let number = value.and_then(|value| value.split_ascii_whitespace().next());
        kilobytes += number.and_then(|it| it.parse::<u64>().ok()).unwrap_or(0);
    }
    Some(kilobytes * 1024)
}

/// CPU time of a process and of those of its children that it has fetched.
#[cfg(target_os = "linux")]
pub(crate) fn cpu_time(pid: i32) -> Option<Duration> {
    let [user, system, children_user, children_system] = ticks(pid)?;
    Some(duration(user + system + children_user + children_system))
}

/// CPU time of the children that a process has fetched.
#[cfg(target_os = "linux")]
pub(crate) fn fetched_cpu_time(pid: i32) -> Option<Duration> {
    let [_, _, user, system] = ticks(pid)?;
    Some(duration(user + system))
}

#[cfg(target_os = "linux")]
fn ticks(pid: i32) -> Option<[u64; 4]> {
    let mut buffer = [0; 1024];
    let length = crate::linux::read_small(&format!("/proc/{pid}/stat"), &mut buffer).ok()?;
    let close = memchr::memrchr(b')', &buffer[..length])?;
    let rest = std::str::from_utf8(&buffer[close + 2..length]).ok()?;
    let mut fields = rest.split(' ').skip(11);
    let mut next = || fields.next()?.parse().ok();
    Some([next()?, next()?, next()?, next()?])
}

#[cfg(target_os = "linux")]
fn duration(ticks: u64) -> Duration {
    let per_second = rustix::param::clock_ticks_per_second().max(1);
    Duration::from_millis(ticks.saturating_mul(1000) / per_second)
}
