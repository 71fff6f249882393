//! Reads `/proc`.

use std::fs;
use std::path::Path;

use rustix::process::Pid;

/// A process according to `/proc/PID/stat`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub(super) pid: u32,
    pub(super) parent: u32,
    state: State,
}

/// The state of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Sleeps,
    Zombie,
    Other,
}

impl Seen {
    /// Whether it has exited and was not waited for.
    pub(super) fn is_zombie(&self) -> bool {
        self.state == State::Zombie
    }
}

/// Whether a process sleeps interruptibly.
pub(super) fn sleeps(pid: Pid) -> bool {
    seen(Path::new(&format!("/proc/{pid}"))).is_some_and(|seen| seen.state == State::Sleeps)
}

/// All descendants of this process.
pub(super) fn descendants() -> Vec<Seen> {
    let all = everyone();
    let mut found: Vec<Seen> = Vec::new();
    let mut parents = vec![std::process::id()];
    while let Some(parent) = parents.pop() {
        let children = all.iter().filter(|seen| seen.parent == parent);
        for child in children {
            parents.push(child.pid);
            found.push(*child);
        }
    }
    found
}

/// The proportional set size of a process, in KiB.
pub(super) fn proportional(pid: u32) -> f64 {
    number(&format!("/proc/{pid}/smaps_rollup"), "Pss:")
}

/// The resident memory of this process, in KiB.
pub(super) fn resident() -> f64 {
    number("/proc/self/status", "VmRSS:")
}

/// The resident memory of a process, in KiB.
pub(super) fn resident_of(pid: u32) -> f64 {
    number(&format!("/proc/{pid}/status"), "VmRSS:")
}

/// The peak memory of this process since [`forget_peak`], in KiB.
pub(super) fn peak() -> f64 {
    number("/proc/self/status", "VmHWM:")
}

/// Resets the peak.
pub(super) fn forget_peak() {
    fs::write("/proc/self/clear_refs", "5").expect("it is our own");
}

/// The number of threads of this process.
pub(super) fn threads() -> f64 {
    number("/proc/self/status", "Threads:")
}

/// Returns freed memory to the system, if the allocator can. Otherwise it would
/// hide later allocations.
#[cfg_attr(
    target_env = "gnu",
    expect(unsafe_code, reason = "only the C library knows what it holds back")
)]
pub(super) fn give_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it may be called at any time, and touches free memory only.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// The number of open descriptors of a process.
pub(super) fn descriptors(pid: u32) -> usize {
    let listed = fs::read_dir(format!("/proc/{pid}/fd")).expect("it runs and is ours");
    listed.count()
}

fn everyone() -> Vec<Seen> {
    let entries = fs::read_dir("/proc").expect("`/proc` is there").flatten();
    entries.filter_map(|entry| seen(&entry.path())).collect()
}

/// `None` if it is not a process, or has ended.
fn seen(folder: &Path) -> Option<Seen> {
    let pid = folder.file_name()?.to_str()?.parse().ok()?;
    let stat = fs::read_to_string(folder.join("stat")).ok()?;
    // The name in parentheses may contain anything.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = match fields.next()? {
        "S" => State::Sleeps,
        "Z" => State::Zombie,
        _ => State::Other,
    };
    let parent = fields.next()?.parse().ok()?;
    Some(Seen { pid, parent, state })
}

/// The number at the beginning of a field.
fn number(path: &str, field: &str) -> f64 {
    let text = fs::read_to_string(path).expect("it runs and is ours");
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    let first = line.and_then(|line| line.split_ascii_whitespace().next()?.parse().ok());
    first.expect("the system tells this field")
}
