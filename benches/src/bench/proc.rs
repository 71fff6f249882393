//! What `/proc` says of processes.

use std::fs;
use std::path::Path;

use rustix::process::Pid;

/// A process as `/proc/PID/stat` tells it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub(super) pid: u32,
    pub(super) parent: u32,
    state: State,
}

/// What a process does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Sleeps,
    Zombie,
    Other,
}

impl Seen {
    /// It has exited and nobody has waited for it.
    pub(super) fn is_zombie(&self) -> bool {
        self.state == State::Zombie
    }
}

/// Whether a process sleeps until something happens.
pub(super) fn sleeps(pid: Pid) -> bool {
    seen(Path::new(&format!("/proc/{pid}"))).is_some_and(|seen| seen.state == State::Sleeps)
}

/// Every process that descends from this one, this one not included.
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

/// The proportional share of the memory that a process uses, in KiB.
pub(super) fn proportional(pid: u32) -> f64 {
    number(&format!("/proc/{pid}/smaps_rollup"), "Pss:")
}

/// The memory that this process has at the moment, in KiB.
pub(super) fn resident() -> f64 {
    number("/proc/self/status", "VmRSS:")
}

/// The memory that a process has at the moment, in KiB.
pub(super) fn resident_of(pid: u32) -> f64 {
    number(&format!("/proc/{pid}/status"), "VmRSS:")
}

/// The most memory that this process has had since [`forget_peak`], in KiB.
pub(super) fn peak() -> f64 {
    number("/proc/self/status", "VmHWM:")
}

/// Lets the peak begin anew.
pub(super) fn forget_peak() {
    fs::write("/proc/self/clear_refs", "5").expect("it is our own");
}

/// How many threads this process has.
pub(super) fn threads() -> f64 {
    number("/proc/self/status", "Threads:")
}

/// Gives memory that was freed back to the system, where the allocator can:
/// it would hide what is taken next.
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

/// How many descriptors a process holds.
pub(super) fn descriptors(pid: u32) -> usize {
    let listed = fs::read_dir(format!("/proc/{pid}/fd")).expect("it runs and is ours");
    listed.count()
}

fn everyone() -> Vec<Seen> {
    let entries = fs::read_dir("/proc").expect("`/proc` is there").flatten();
    entries.filter_map(|entry| seen(&entry.path())).collect()
}

/// `None` for what is no process, or none any more.
fn seen(folder: &Path) -> Option<Seen> {
    let pid = folder.file_name()?.to_str()?.parse().ok()?;
    let stat = fs::read_to_string(folder.join("stat")).ok()?;
    // The name in brackets may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = match fields.next()? {
        "S" => State::Sleeps,
        "Z" => State::Zombie,
        _ => State::Other,
    };
    let parent = fields.next()?.parse().ok()?;
    Some(Seen { pid, parent, state })
}

/// The number that a field begins with.
fn number(path: &str, field: &str) -> f64 {
    let text = fs::read_to_string(path).expect("it runs and is ours");
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    let first = line.and_then(|line| line.split_ascii_whitespace().next()?.parse().ok());
    first.expect("the system tells this field")
}
