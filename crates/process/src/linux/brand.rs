//! The brand: the id of the runtime, encoded as a resource limit of everything that its zygote starts.
//!
//! A process inherits its limits. Without privileges it can only lower a hard limit, never raise it. So unlike the
//! marker in the environment, the brand survives `env -i`, `execve`, any number of forks, and the death of runtime,
//! zygote and shim. `/proc/PID/limits` shows it to everybody, even for processes that are otherwise hidden. The limit
//! is that of file locks, which Linux has ignored since 2.4.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::marker::RuntimeId;
use super::tree::read_small;

/// The highest brand. Later runtimes have lower ones, so that a runtime that
/// was started by a tool can apply its own.
const TOP: u64 = 1 << 62;
/// The number of bits of the largest pid.
const PID_BITS: u32 = 22;
/// Enough for the clock ticks of about twenty years.
const START_BITS: u32 = 36;
/// The limit that carries it, in `/proc/PID/limits`.
const LIMIT: &str = "Max file locks";

/// Brands this process and all its descendants.
pub(super) fn put_on(id: RuntimeId) {
    let current = getrlimit(Resource::Locks).maximum;
    let wanted = encode(id).filter(|wanted| current.is_none_or(|current| *wanted < current));
    // A lower limit still distinguishes the descendants of this process from others.
    let Some(limit) = wanted.or_else(|| current.and_then(|current| current.checked_sub(1))) else {
        return;
    };
    let limit = Rlimit {
        current: Some(limit),
        maximum: Some(limit),
    };
    let _ = setrlimit(Resource::Locks, limit);
}

/// The runtime whose brand a process carries, if the brand is intact.
pub(super) fn of(pid: i32) -> Option<RuntimeId> {
    decode(hard_limit(pid, LIMIT).ok()??)
}

/// Whether this process carries a brand.
pub(super) fn is_on_us() -> bool {
    getrlimit(Resource::Locks)
        .maximum
        .and_then(decode)
        .is_some()
}

/// Whether a process carries a brand that this process does not, or a lowered
/// limit that may hide one. An error if that cannot be read.
pub(super) fn is_below_ours(pid: i32) -> io::Result<bool> {
    let ours = getrlimit(Resource::Locks).maximum.unwrap_or(u64::MAX);
    Ok(hard_limit(pid, LIMIT)?.unwrap_or(u64::MAX) < ours)
}

/// Whether a process carries this process's own brand, or a lower one. An error if it is not visible.
pub(super) fn is_ours_or_below(pid: i32) -> io::Result<bool> {
    let Some(ours) = getrlimit(Resource::Locks).maximum else {
        return is_below_ours(pid);
    };
    Ok(hard_limit(pid, LIMIT)?.is_some_and(|limit| limit <= ours))
}

/// The number of a process or thread. Later ones have lower numbers.
pub(super) fn encode(id: RuntimeId) -> Option<u64> {
    let pid = u64::try_from(id.pid).ok()?;
    let fits = pid >> PID_BITS == 0 && id.start >> START_BITS == 0;
    fits.then(|| TOP - (id.start << PID_BITS | pid))
}

/// The process or thread of a number.
pub(super) fn decode(limit: u64) -> Option<RuntimeId> {
    let number = TOP.checked_sub(limit)?;
    let (start, pid) = (number >> PID_BITS, number & ((1 << PID_BITS) - 1));
    let pid = i32::try_from(pid).ok().filter(|&pid| pid > 0)?;
    (start >> START_BITS == 0).then_some(RuntimeId { pid, start })
}

/// A hard limit of a process, by its name in `/proc/PID/limits`; `None` if it is unlimited.
pub(super) fn hard_limit(pid: i32, name: &str) -> io::Result<Option<u64>> {
    let mut buffer = [0; 4096];
    let length = read_small(&format!("/proc/{pid}/limits"), &mut buffer)?;
    let text = std::str::from_utf8(&buffer[..length]).map_err(io::Error::other)?;
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let hard = line.and_then(|line| line.split_ascii_whitespace().nth(1));
    match hard {
        Some("unlimited") => Ok(None),
        Some(number) => number.parse().map(Some).map_err(io::Error::other),
        None => Err(io::ErrorKind::NotFound.into()),
    }
}

#[cfg(test)]
#[path = "brand_tests.rs"]
mod tests;
