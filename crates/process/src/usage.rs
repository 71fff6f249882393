//! Resource usage of processes, from `/proc`.

use std::time::Duration;

/// The resource usage of a program and its descendants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResourceUse {
    /// CPU time, including ended processes that their parents have waited for.
    pub cpu: Duration,
    /// Bytes of memory, without pages of files.
    pub memory: u64,
    /// The number of running processes.
    pub processes: usize,
}

/// Bytes of memory of a process: private pages, shared memory and swapped pages.
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

/// A process's proportional share of its pages, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg(target_os = "linux")]
pub(crate) struct PageShare {
    /// Anonymous pages.
    pub(crate) own: u64,
    /// Pages of shared memory and of in-memory files.
    pub(crate) shared: u64,
}

/// A process's proportional share of its pages, in bytes; if that cannot be read, all of them.
#[cfg(target_os = "linux")]
pub(crate) fn exact_memory(pid: i32) -> PageShare {
    let mut buffer = [0; 2048];
    let length = crate::linux::read_small(&format!("/proc/{pid}/smaps_rollup"), &mut buffer);
    let text = length
        .ok()
        .and_then(|length| std::str::from_utf8(&buffer[..length]).ok());
    let Some(text) = text else {
        return PageShare {
            own: memory_of(pid).unwrap_or(0),
            shared: 0,
        };
    };
    let kilobytes = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.split_ascii_whitespace().next());
        number
            .and_then(|number| number.parse::<u64>().ok())
            .unwrap_or(0)
    };
    PageShare {
        own: (kilobytes("Pss_Anon:") + kilobytes("SwapPss:")) * 1024,
        shared: kilobytes("Pss_Shmem:") * 1024,
    }
}

/// Bytes of the in-memory files that these processes have open, mapped or not.
#[cfg(target_os = "linux")]
pub(crate) fn memory_files(pids: impl Iterator<Item = i32>) -> u64 {
    use std::os::unix::fs::MetadataExt;
    const BLOCK: u64 = 512;
    let mut seen = std::collections::HashSet::new();
    let mut bytes = 0;
    for pid in pids {
        let entries = std::fs::read_dir(format!("/proc/{pid}/fd"));
        for entry in entries.into_iter().flatten().flatten() {
            let path = entry.path();
            let target = std::fs::read_link(&path).unwrap_or_default();
            let target = target.to_string_lossy();
            if !target.starts_with("/memfd:") && !target.starts_with("/dev/shm/") {
                continue;
            }
            if let Ok(metadata) = path.metadata()
                && seen.insert((metadata.dev(), metadata.ino()))
            {
                bytes += metadata.blocks() * BLOCK;
            }
        }
    }
    bytes
}

/// The CPU time of a process and of its reaped children.
#[cfg(target_os = "linux")]
pub(crate) fn cpu_time(pid: i32) -> Option<Duration> {
    let [user, system, children_user, children_system] = ticks(pid)?;
    Some(duration(user + system + children_user + children_system))
}

/// The CPU time of a process's reaped children.
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
