//! Ending what a dead runtime left, at the next start.
//!
//! Normally there is nothing: shims end their trees when their runtime dies. This is for what is left when runtime,
//! zygote and shim were all killed together.

use std::collections::{HashMap, HashSet};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};

use super::guard::is_shim;
use super::marker::RuntimeId;
use super::tree::{Member, everyone};

/// How long leftovers have between `SIGTERM` and `SIGKILL`, and after it.
const GRACE: Duration = Duration::from_secs(1);

/// Ends every process that carries the marker of a runtime that is dead, with all that descends from it, and returns
/// how many are gone. Spared are runtimes that live (this one too) with what descends from them, the ancestors of this
/// one, whatever they carry, trees whose shim still lives, because it ends them itself, and all that is marked in another
/// namespace of pids, such as a container's: the marker's numbers mean nothing here.
pub(crate) fn sweep() -> usize {
    let Ok(own) = RuntimeId::own() else {
        return 0;
    };
    let leftovers: Vec<(Member, OwnedFd)> = leftovers(own).into_iter().filter_map(open).collect();
    for (member, _) in &leftovers {
        member.signal(Signal::TERM);
        member.signal(Signal::CONT);
    }
    wait_for_all(&leftovers);
    for (member, pidfd) in &leftovers {
        if !gone(pidfd) {
            member.signal(Signal::KILL);
        }
    }
    wait_for_all(&leftovers);
    leftovers.iter().filter(|(_, pidfd)| gone(pidfd)).count()
}

fn leftovers(own: RuntimeId) -> Vec<Member> {
    let everyone: HashMap<i32, Member> = everyone().into_iter().map(|it| (it.pid, it)).collect();
    let lineage = |pid: i32| {
        let parents = std::iter::successors(everyone.get(&pid), |it| everyone.get(&it.parent));
        // Should the snapshot be torn, a loop in it must not be ours.
        parents.take(everyone.len())
    };
    let ancestors: HashSet<i32> = lineage(own.pid).map(|it| it.pid).collect();
    let mut runtimes: HashMap<RuntimeId, bool> = HashMap::from([(own, true)]);
    let mut marked = HashSet::new();
    let here = namespace(own.pid);
    for member in everyone.values().filter(|it| it.alive()) {
        if let Some(id) = RuntimeId::of(member.pid) {
            let alive = *runtimes.entry(id).or_insert_with(|| id.alive());
            // A process that is older than the runtime whose marker it carries is not what the marker says.
            if !alive && member.start >= id.start && namespace(member.pid) == here {
                marked.insert(member.pid);
            }
        }
    }
    let living = runtimes.iter().filter(|(_, alive)| **alive);
    let living: HashSet<i32> = living.map(|(id, _)| id.pid).collect();
    let left = everyone.values().filter(|member| {
        // A living runtime between it and the marked one owns it; above the marked one is whoever adopted that.
        let owner =
            lineage(member.pid).find(|it| living.contains(&it.pid) || marked.contains(&it.pid));
        member.alive()
            && !ancestors.contains(&member.pid)
            && owner.is_some_and(|it| !living.contains(&it.pid))
            && !lineage(member.pid).any(|it| marked.contains(&it.pid) && is_shim(it.pid))
    });
    left.cloned().collect()
}

/// The namespace whose numbers a process knows.
fn namespace(pid: i32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/ns/pid")).ok()
}

fn open(member: Member) -> Option<(Member, OwnedFd)> {
    let pidfd = pidfd_open(Pid::from_raw(member.pid)?, PidfdFlags::empty()).ok()?;
    Some((member, pidfd))
}

fn wait_for_all(leftovers: &[(Member, OwnedFd)]) {
    let deadline = Instant::now() + GRACE;
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
