//! Enforces the limits of a tree in its shim: memory, processes, CPU time, wall
//! time and bytes written.
//!
//! Used where the kernel has no group to limit. Memory is the sum over the
//! processes; pages shared after a fork are counted repeatedly, so a sum that
//! is too high is measured again exactly.

use std::time::{Duration, Instant};

use windlass_sandbox::{LimitKind, ResourceLimits};

use super::cgroup::ControlGroup;
use super::tree::{Member, descendants, has_more_than};
use super::writing::WriteAccount;
use crate::usage::{cpu_time, exact_memory, fetched_cpu_time, memory_files, memory_of};

/// The time between two checks.
const INTERVAL: Duration = Duration::from_millis(50);

/// The supervision of one tree's limits.
pub(super) struct Supervision {
    root: i32,
    limits: ResourceLimits,
    started: Instant,
    /// The time of the last check. There is none at the start: a short program is not checked, and every limit may be
    /// exceeded briefly.
    looked: Instant,
    exceeded: Option<LimitKind>,
    /// The maximum CPU time so far. A process that is exiting is briefly missing from all counts.
    spent: Duration,
    /// The CPU time of the shim's reaped children when this tree started.
    before: Duration,
    /// The control group of the tree, if any.
    group: Option<ControlGroup>,
    /// The written bytes of the tree, if they are limited.
    writing: Option<WriteAccount>,
}

impl Supervision {
    /// `None` if there is nothing to supervise.
    pub(super) fn new(
        root: i32,
        limits: &ResourceLimits,
        group: Option<ControlGroup>,
    ) -> Option<Self> {
        let looks = limits.memory.is_some()
            || limits.processes.is_some()
            || limits.cpu.is_some()
            || limits.wall.is_some()
            || limits.disk.is_some();
        let now = Instant::now();
        let spent_before = || fetched_cpu_time(root).unwrap_or_default();
        looks.then(|| Self {
            root,
            limits: *limits,
            started: now,
            looked: now,
            exceeded: None,
            spent: Duration::ZERO,
            before: limits.cpu.map_or(Duration::ZERO, |_| spent_before()),
            group,
            writing: limits.disk.map(|_| WriteAccount::open(root)),
        })
    }

    /// The limit for which the kernel has ended the tree, if any.
    pub(super) fn ended_by_kernel(&self) -> Option<LimitKind> {
        let group = self.group.as_ref()?;
        group.ran_out_of_memory().then_some(LimitKind::Memory)
    }

    /// Kills the tree atomically, if possible.
    pub(super) fn kill(&self) {
        if let Some(group) = &self.group {
            group.kill();
        }
    }

    /// Takes the exceeded limit, if any.
    pub(super) fn exceeded(&mut self) -> Option<LimitKind> {
        self.exceeded.take()
    }

    /// Checks the limits if it is time; returns the time until the next check.
    pub(super) fn look(&mut self) -> Duration {
        let now = Instant::now();
        if now < self.looked + INTERVAL {
            return self.looked + INTERVAL - now;
        }
        self.looked = now;
        self.exceeded = self.judge(now);
        let wall = self
            .limits
            .wall
            .map(|wall| wall.saturating_sub(now - self.started));
        let wall = wall.unwrap_or(INTERVAL).max(Duration::from_millis(1));
        let looks_at_tree = self.limits.memory.is_some()
            || self.limits.processes.is_some()
            || self.limits.cpu.is_some()
            || self.limits.disk.is_some();
        if looks_at_tree {
            wall.min(INTERVAL)
        } else {
            wall
        }
    }

    fn judge(&mut self, now: Instant) -> Option<LimitKind> {
        let limits = self.limits;
        if limits.wall.is_some_and(|wall| now - self.started >= wall) {
            return Some(LimitKind::Wall);
        }
        if let Some(kind) = self.ended_by_kernel() {
            return Some(kind);
        }
        let is_more = |limit: u32| has_more_than(self.root, limit as usize);
        if limits.processes.is_some_and(is_more) {
            return Some(LimitKind::Processes);
        }
        if limits.memory.is_none() && limits.cpu.is_none() && limits.disk.is_none() {
            return None;
        }
        let members = descendants(self.root);
        let files = match limits.memory {
            Some(_) => memory_files(members.iter().map(|it| it.pid)),
            None => 0,
        };
        let is_above = |limit| is_above(limit, &members, files);
        if limits.memory.is_some_and(is_above) {
            return Some(LimitKind::Memory);
        }
        if let Some(limit) = limits.cpu {
            let running: Duration = members.iter().filter_map(|it| cpu_time(it.pid)).sum();
            let fetched = fetched_cpu_time(self.root).unwrap_or_default();
            let fetched = fetched.saturating_sub(self.before);
            let counted = self.group.as_ref().and_then(ControlGroup::cpu);
            let seen = counted.unwrap_or_default().max(running + fetched);
            self.spent = self.spent.max(seen);
            if self.spent >= limit {
                return Some(LimitKind::Cpu);
            }
        }
        let writing = self.writing.as_mut().zip(limits.disk);
        if writing.is_some_and(|(account, limit)| account.exceeds(limit, self.root, &members)) {
            return Some(LimitKind::Disk);
        }
        None
    }
}

fn is_above(limit: u64, members: &[Member], files: u64) -> bool {
    let sum: u64 = members.iter().filter_map(|it| memory_of(it.pid)).sum();
    if sum + files <= limit {
        return false;
    }
    let (mut own, mut shared) = (0, 0);
    for share in members.iter().map(|it| exact_memory(it.pid)) {
        own += share.own;
        shared += share.shared;
    }
    // Mapped pages of an in-memory file are part of both numbers.
    own + shared.max(files) > limit
}
