//! Ends all descendants of this process, with verification.
//!
//! Start at [`TreeShutdown`] (with grace, for a shim that must stay responsive)
//! or [`kill_children`] (at once, for orphans). Neither sleeps: the caller
//! waits for a child to change, or for the time in [`EndProgress`].

use std::collections::HashSet;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use windlass_hold_wire::{HolderReport, SURVIVOR_LIMIT};

use super::sys::{self, Reaped};
use super::tree::{Member, descendants};

/// The time limit for `SIGKILL` before the remaining processes count as
/// survivors.
const KILL_LIMIT: Duration = Duration::from_secs(5);
/// The minimum time between two walks during the grace, however often children
/// change.
const GRACE_STEP: Duration = Duration::from_millis(10);
/// The time between two walks while killing: initial and maximum.
const KILL_STEP: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(100));

/// The end of a tree, in progress.
pub(super) struct TreeShutdown {
    root: i32,
    /// The group that the program led, which may outlive the program.
    group: i32,
    /// Whether the processes are on a terminal.
    terminal: bool,
    /// All processes seen running, by pid and start time.
    seen: HashSet<(i32, u64)>,
    phase: EndPhase,
    reported: bool,
}

enum EndPhase {
    /// `SIGTERM` was sent; `SIGKILL` follows at the deadline.
    Grace {
        deadline: Instant,
        looked: Option<Instant>,
    },
    Kill {
        since: Instant,
        step: Duration,
    },
}

/// The result of a step of a [`TreeShutdown`].
pub(super) struct EndProgress {
    /// The report to send to the runtime now.
    pub(super) report: Option<HolderReport>,
    /// The latest time for the next step; a changed child is a reason for an
    /// earlier one.
    pub(super) next: Duration,
}

impl TreeShutdown {
    /// Starts to end the descendants of `root`, which is this process.
    pub(super) fn new(root: i32, group: i32, terminal: bool, deadline: Instant) -> Self {
        Self {
            root,
            group,
            terminal,
            seen: HashSet::new(),
            phase: EndPhase::Grace {
                deadline,
                looked: None,
            },
            reported: false,
        }
    }

    /// Moves the deadline forward, never back.
    pub(super) fn hasten(&mut self, sooner: Instant) {
        if let EndPhase::Grace { deadline, .. } = &mut self.phase {
            *deadline = sooner.min(*deadline);
        }
    }

    /// The report when no process is left.
    pub(super) fn childless(&mut self) -> Option<HolderReport> {
        let report = HolderReport::Ended {
            ended: self.seen.len().try_into().unwrap_or(u32::MAX),
            survivors: Vec::new(),
        };
        (!self.reported).then_some(report)
    }

    /// Takes the next step. The caller has reaped every ended child.
    pub(super) fn advance(&mut self) -> EndProgress {
        let now = Instant::now();
        if let EndPhase::Grace { deadline, looked } = &mut self.phase {
            if now < *deadline {
                let due = looked.map_or(now, |looked| looked + GRACE_STEP);
                if now < due {
                    let next = due.min(*deadline) - now;
                    return EndProgress { report: None, next };
                }
                *looked = Some(now);
                let next = *deadline - now;
                self.ask();
                return EndProgress { report: None, next };
            }
            self.phase = EndPhase::Kill {
                since: now,
                step: KILL_STEP.0,
            };
        }
        self.kill(now)
    }

    /// Sends `SIGTERM` to processes that have not had it yet.
    fn ask(&mut self) {
        for member in descendants(self.root) {
            if member.alive() && self.seen.insert((member.pid, member.start)) {
                member.signal(Signal::TERM);
                // An interactive shell ignores `SIGTERM`, but reacts to the loss of its terminal.
                if self.terminal && member.ignores(Signal::TERM) {
                    member.signal(Signal::HUP);
                }
                // A stopped process would not receive it.
                member.signal(Signal::CONT);
            }
        }
    }

    fn kill(&mut self, now: Instant) -> EndProgress {
        let members = descendants(self.root);
        let alive = members.iter().filter(|member| member.alive());
        self.seen
            .extend(alive.map(|member| (member.pid, member.start)));
        kill_all(self.root, self.group, &members);
        let EndPhase::Kill { since, step } = &mut self.phase else {
            unreachable!("only a killing ending kills");
        };
        let next = *step;
        *step = (*step * 2).min(KILL_STEP.1);
        let late = now.duration_since(*since) >= KILL_LIMIT && !self.reported;
        self.reported |= late;
        EndProgress {
            report: late.then(|| self.survivors(&members)),
            next,
        }
    }

    fn survivors(&self, members: &[Member]) -> HolderReport {
        let alive: Vec<_> = members.iter().filter(|member| member.alive()).collect();
        let ended = self.seen.len().saturating_sub(alive.len());
        let named = alive.iter().take(SURVIVOR_LIMIT);
        HolderReport::Ended {
            ended: ended.try_into().unwrap_or(u32::MAX),
            survivors: named
                .map(|member| (member.pid.cast_unsigned(), member.name.clone()))
                .collect(),
        }
    }
}

/// Kills `members`, which descend from `root`, and their process groups. A
/// group is killed atomically, so that one that forks quickly cannot escape.
fn kill_all(root: i32, program_group: i32, members: &[Member]) {
    let own = Member::read(root).map(|root| root.group);
    let mut done = HashSet::new();
    for member in members {
        // Only kill a group that one of them or the program leads; any other may contain unrelated processes.
        let leads = members.iter().any(|leader| leader.pid == member.group);
        if (leads || member.group == program_group)
            && Some(member.group) != own
            && done.insert(member.group)
            && let Some(group) = Pid::from_raw(member.group)
        {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
    for member in members.iter().filter(|member| member.alive()) {
        member.signal(Signal::KILL);
    }
}

/// Kills every child of this process that `spare` does not name, with its
/// descendants, and reaps them. Returns when they are gone or after
/// [`KILL_LIMIT`].
pub(super) fn kill_children(
    root: i32,
    mut fetched: impl FnMut(i32),
    mut spare: impl FnMut(&Member) -> bool,
) {
    let since = Instant::now();
    let mut step = KILL_STEP.0;
    while since.elapsed() < KILL_LIMIT {
        while let Reaped::Child { pid, .. } = sys::reap() {
            fetched(pid);
        }
        let mut spared = HashSet::new();
        let mut members = Vec::new();
        // Parents come before their children, so that the descendants of a spared process are spared too.
        for member in descendants(root) {
            let by_parent = member.parent != root && spared.contains(&member.parent);
            if by_parent || member.parent == root && spare(&member) {
                spared.insert(member.pid);
            } else {
                members.push(member);
            }
        }
        if members.is_empty() {
            return;
        }
        kill_all(root, 0, &members);
        sys::wait(None, Some(step));
        step = (step * 2).min(KILL_STEP.1);
    }
}
