//! Ends leftovers of dead runtimes at the next start.
//!
//! Normally there are none: shims end their trees when their runtime dies. This
//! handles the case that runtime, zygote and shim were all killed together, or
//! stopped.

use std::collections::{HashMap, HashSet};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};

use super::guard::is_shim;
use super::holder;
use super::marker::RuntimeId;
#[cfg(debug_assertions)]
use super::scope;
use super::tree::{Member, descendants, everyone};

/// The time between `SIGTERM` and `SIGKILL` for leftovers, and after it.
const GRACE: Duration = Duration::from_secs(1);
/// The time limit for a shim that is ending its tree. A program can imitate a
/// shim's name, so the wait is bounded.
const PATIENCE: Duration = Duration::from_secs(30);
/// The number of passes: processes fork while others are ended.
const LOOKS: usize = 32;

/// Ends every process that carries the brand or marker of a dead runtime, with
/// its descendants, and returns their number. Spared are live runtimes
/// (including this one) with their descendants, the ancestors of this process,
/// and processes marked in another PID namespace, such as a container's, where
/// the marker's numbers mean nothing. Trees with a working shim are left to it
/// for [`PATIENCE`]; a stopped shim does not count as working. Holders keep
/// their programs for the next runtime and are spared too: `holders`, and all
/// processes with their name. A program that imitates this name is spared until
/// its user ends it. With debug assertions, only leftovers of one scope are
/// ended (`scope`).
pub(crate) fn sweep(holders: &[u32]) -> usize {
    super::private::sweep();
    let Ok(own) = RuntimeId::own() else {
        return 0;
    };
    let mut ended = 0;
    let mut asked = false;
    let patience = Instant::now() + PATIENCE;
    for _ in 0..LOOKS {
        let left = Leftovers::look(own, Instant::now() < patience, holders);
        let processes: Vec<_> = left.processes.into_iter().filter_map(open).collect();
        if !processes.is_empty() {
            // Later processes are children of some that have received `SIGTERM` already.
            ended += end(&processes, !asked);
            asked = true;
        } else if left.shims.is_empty() {
            break;
        } else {
            let shims: Vec<_> = left.shims.into_iter().filter_map(open).collect();
            wait_for_all(&shims, patience);
        }
    }
    ended
}

/// Ends a holder and its descendants; `None` if there is no such holder.
pub(crate) fn end_holder((pid, start): (u32, u64), limit: Duration) -> Option<usize> {
    let holder = Member::read(pid.cast_signed())?;
    if holder.start != start || !is_shim(holder.pid) {
        return None;
    }
    let tree = || -> Vec<_> {
        let living = descendants(holder.pid).into_iter().filter(Member::alive);
        living.filter_map(open).collect()
    };
    let deadline = Instant::now() + limit;
    let mut ended = end(&tree(), true);
    // The holder last: while it lives, its tree stays below it.
    loop {
        let tree = tree();
        if tree.is_empty() || Instant::now() >= deadline {
            break;
        }
        ended += end(&tree, false);
    }
    let holder = open(holder)?;
    end(&[holder], false);
    Some(ended)
}

/// Ends processes, and returns how many are gone.
fn end(leftovers: &[(Member, OwnedFd)], ask: bool) -> usize {
    if ask {
        for (member, _) in leftovers {
            member.signal(Signal::TERM);
            member.signal(Signal::CONT);
        }
        wait_for_all(leftovers, Instant::now() + GRACE);
    }
    for (member, pidfd) in leftovers {
        if !gone(pidfd) {
            member.signal(Signal::KILL);
        }
    }
    wait_for_all(leftovers, Instant::now() + GRACE);
    leftovers.iter().filter(|(_, pidfd)| gone(pidfd)).count()
}

/// The processes of dead runtimes.
struct Leftovers {
    /// Processes to end now.
    processes: Vec<Member>,
    /// Working shims and zygotes, which handle their own trees.
    shims: Vec<Member>,
}

impl Leftovers {
    fn look(own: RuntimeId, spare_shims: bool, holders: &[u32]) -> Self {
        let everyone: HashMap<i32, Member> =
            everyone().into_iter().map(|it| (it.pid, it)).collect();
        let lineage = |pid: i32| {
            let parents = std::iter::successors(everyone.get(&pid), |it| everyone.get(&it.parent));
            // An inconsistent snapshot may contain a cycle.
            parents.take(everyone.len())
        };
        let ancestors: HashSet<i32> = lineage(own.pid).map(|it| it.pid).collect();
        let mut runtimes: HashMap<RuntimeId, bool> = HashMap::from([(own, true)]);
        let mut marked = HashSet::new();
        for member in everyone.values().filter(|it| it.alive()) {
            if let Some(id) = RuntimeId::of(member.pid) {
                let alive = *runtimes.entry(id).or_insert_with(|| id.alive());
                #[cfg(debug_assertions)]
                if !alive && !scope::covers(member.pid, id) {
                    continue;
                }
                // A process that is older than the runtime of its marker does not belong to it.
                if !alive && member.start >= id.start && is_in_our_namespace(member.pid) {
                    marked.insert(member.pid);
                }
            }
        }
        let living = runtimes.iter().filter(|(_, alive)| **alive);
        let living: HashSet<i32> = living.map(|(id, _)| id.pid).collect();
        let is_holder = |it: &Member| {
            let answered = holders.contains(&it.pid.cast_unsigned());
            // A holder that did not answer us may belong to a runtime with another state directory.
            (answered || it.name == holder::NAME.to_bytes()) && is_shim(it.pid)
        };
        let works = |it: &&Member| {
            let is_marked = marked.contains(&it.pid);
            let is_at_work = spare_shims && !it.stopped() && is_shim(it.pid);
            is_marked && (is_at_work || is_holder(it))
        };
        let shims: Vec<Member> = everyone.values().filter(works).cloned().collect();
        let (holding, shims): (Vec<Member>, Vec<Member>) = shims.into_iter().partition(is_holder);
        for holder in holding.iter().filter(|it| it.stopped()) {
            // No runtime is left to continue it.
            holder.signal(Signal::CONT);
        }
        let above_holders: HashSet<i32> = holding
            .iter()
            .flat_map(|it| lineage(it.pid))
            .map(|it| it.pid)
            .collect();
        // A zygote stays as long as one of its shims.
        let shims: Vec<Member> = shims
            .into_iter()
            .filter(|it| !above_holders.contains(&it.pid))
            .collect();
        let left = everyone.values().filter(|member| {
            // A live runtime between it and the marked process owns it; a process above the marked one has adopted that
            // one.
            let owner =
                lineage(member.pid).find(|it| living.contains(&it.pid) || marked.contains(&it.pid));
            member.alive()
                && !ancestors.contains(&member.pid)
                && owner.is_some_and(|it| !living.contains(&it.pid))
                && !above_holders.contains(&member.pid)
                && !lineage(member.pid)
                    .any(|it| shims.iter().chain(&holding).any(|shim| shim.pid == it.pid))
        });
        Self {
            processes: left.cloned().collect(),
            shims,
        }
    }
}

/// Whether a process has only the pid that we see. This is readable even for processes that hide their namespaces.
fn is_in_our_namespace(pid: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let pids = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    pids.is_some_and(|pids| pids.split_ascii_whitespace().count() == 1)
}

fn open(member: Member) -> Option<(Member, OwnedFd)> {
    let pidfd = pidfd_open(Pid::from_raw(member.pid)?, PidfdFlags::empty()).ok()?;
    Some((member, pidfd))
}

fn wait_for_all(leftovers: &[(Member, OwnedFd)], deadline: Instant) {
    for (_, pidfd) in leftovers {
        let left = deadline.saturating_duration_since(Instant::now());
        let Ok(left) = Timespec::try_from(left) else {
            return;
        };
        let _ = poll(&mut [PollFd::new(pidfd, PollFlags::IN)], Some(&left));
    }
}

fn gone(pidfd: &OwnedFd) -> bool {
    let mut polls = [PollFd::new(pidfd, PollFlags::IN)];
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    poll(&mut polls, Some(&now)).is_ok_and(|ready| ready > 0)
}
