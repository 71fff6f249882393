//! Inspects the tree of a process from the runtime: its size, and whether it
//! sleeps.

use crate::process::ProcessShared;

#[cfg(target_os = "linux")]
pub(crate) use seen::{asleep, members, remaining, usage};

#[cfg(target_os = "linux")]
mod seen {
    use super::ProcessShared;
    use crate::linux::{Member, descendants, everyone, tasks};
    use crate::usage::{ResourceUse, cpu_time, exact_memory, memory_of};
    use crate::watch::TreeControl;

    /// Above this size memory is measured exactly, which takes longer.
    const MUCH_MEMORY: u64 = 64 << 20;

    /// The number of running processes of the tree, without the program.
    pub(crate) fn remaining(shared: &ProcessShared) -> usize {
        let program = shared.pid.cast_signed();
        let members = members(shared);
        // If the tree has ended meanwhile, the pids may have been reused.
        if shared.state.borrow().gone {
            return 0;
        }
        members
            .iter()
            .filter(|it| it.alive() && it.pid != program)
            .count()
    }

    /// The resource usage of the tree.
    pub(crate) fn usage(shared: &ProcessShared) -> ResourceUse {
        let members = members(shared);
        if shared.state.borrow().gone {
            return ResourceUse::default();
        }
        let alive = || members.iter().filter(|member| member.alive());
        let mut usage = alive().fold(ResourceUse::default(), |sum, member| ResourceUse {
            cpu: sum.cpu + cpu_time(member.pid).unwrap_or_default(),
            memory: sum.memory + memory_of(member.pid).unwrap_or_default(),
            processes: sum.processes + 1,
        });
        // Pages shared after a fork were counted once per process.
        if usage.processes > 1 && usage.memory > MUCH_MEMORY {
            let pages = alive().map(|member| exact_memory(member.pid));
            usage.memory = pages.map(|share| share.own + share.shared).sum();
        }
        usage
    }

    /// Whether every process of the tree sleeps or is stopped, and has not run during the check.
    pub(crate) fn asleep(shared: &ProcessShared) -> bool {
        let Some(first) = look(shared) else {
            return false;
        };
        // During the first check, a process may have woken another that we had already seen asleep, and then fallen
        // asleep itself. If no run count changed between two checks, that did not happen.
        look(shared).is_some_and(|second| first == second)
    }

    /// The run counts of all threads of the tree; `None` if one runs now, or if
    /// the program has exited, which is about to be reported.
    fn look(shared: &ProcessShared) -> Option<Vec<(i32, String)>> {
        let mut runs = Vec::new();
        let members = members(shared);
        let program = shared.pid.cast_signed();
        if !members.iter().any(|it| it.pid == program && it.alive()) {
            return None;
        }
        for member in members {
            for task in tasks(member.pid).unwrap_or_default() {
                let folder = format!("/proc/{}/task/{task}", member.pid);
                // The state is the first word after the name in parentheses.
                let stat = std::fs::read(format!("{folder}/stat")).unwrap_or_default();
                let state = memchr::memrchr(b')', &stat).and_then(|at| stat.get(at + 2));
                if !matches!(state, None | Some(b'S' | b'T' | b't' | b'Z' | b'X' | b'I')) {
                    return None;
                }
                runs.push((
                    task,
                    std::fs::read_to_string(format!("{folder}/schedstat")).unwrap_or_default(),
                ));
            }
        }
        Some(runs)
    }

    /// The processes of the tree.
    pub(crate) fn members(shared: &ProcessShared) -> Vec<Member> {
        match &shared.hold {
            TreeControl::Shim(hold) => descendants(hold.root()),
            TreeControl::Plain(hold) => {
                let group = hold.group();
                everyone()
                    .into_iter()
                    .filter(|it| it.group == group)
                    .collect()
            }
        }
    }
}

/// Unknown without `/proc`.
#[cfg(not(target_os = "linux"))]
pub(crate) fn remaining(_: &ProcessShared) -> usize {
    0
}

/// Unknown without `/proc`.
#[cfg(not(target_os = "linux"))]
pub(crate) fn usage(_: &ProcessShared) -> crate::ResourceUse {
    crate::ResourceUse::default()
}

/// Silence must suffice without `/proc`.
#[cfg(not(target_os = "linux"))]
pub(crate) fn asleep(_: &ProcessShared) -> bool {
    true
}
