//! Chooses a worker for a program. Pure functions.

use crate::WorkerPresence;

/// A worker to choose from.
pub(crate) struct WorkerCandidate<'a> {
    pub(crate) presence: &'a WorkerPresence,
    /// Programs that this runtime has placed there since the last heartbeat.
    pub(crate) placed: u32,
    /// Programs of the same session that run there.
    pub(crate) related: u32,
    /// Whether the last program of the same session was placed there.
    pub(crate) is_last: bool,
    /// Whether it refused this start, or was not reached.
    pub(crate) is_avoided: bool,
}

/// The outcome of a choice.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PlacementChoice<'a> {
    /// The chosen worker.
    Worker(&'a str),
    /// Workers have the labels, but no free slot.
    Full,
    /// No worker has the labels.
    Unlabelled,
    /// There are no workers.
    Empty,
}

/// Chooses among the workers that have all labels and a free slot. While half of its slots are free, the worker with
/// most programs of the same session is preferred, then the one that the session used last. Otherwise the worker with
/// the lowest share of used slots is chosen, then the one with the lowest load per CPU.
pub(crate) fn choose<'a>(
    candidates: &[WorkerCandidate<'a>],
    labels: &[String],
) -> PlacementChoice<'a> {
    if candidates.is_empty() {
        return PlacementChoice::Empty;
    }
    let has_labels = |worker: &WorkerPresence| labels.iter().all(|it| worker.labels.contains(it));
    let labelled: Vec<_> = candidates
        .iter()
        .filter(|it| has_labels(it.presence))
        .collect();
    if labelled.is_empty() {
        return PlacementChoice::Unlabelled;
    }
    let taken = |it: &WorkerCandidate<'_>| it.presence.running + it.placed;
    let is_free = |it: &&&WorkerCandidate<'_>| {
        !it.is_avoided && !it.presence.is_draining && taken(it) < it.presence.slots
    };
    let free: Vec<_> = labelled.iter().filter(is_free).collect();
    let is_liked = |it: &&&&WorkerCandidate<'_>| {
        let has_session = it.related > 0 || it.is_last;
        has_session && taken(it) < it.presence.slots.div_ceil(2)
    };
    let liked = free.iter().filter(is_liked);
    let liked = liked.max_by_key(|it| (it.related, it.is_last));
    let part = |it: &WorkerCandidate<'_>| {
        let worker = it.presence;
        let taken = u64::from(taken(it)) * 1_000_000 / u64::from(worker.slots.max(1));
        (taken, worker.load / worker.cpus.max(1))
    };
    let least = || free.iter().min_by_key(|it| part(it));
    match liked.or_else(least) {
        Some(found) => PlacementChoice::Worker(&found.presence.name),
        None => PlacementChoice::Full,
    }
}

#[cfg(test)]
#[path = "placement_tests.rs"]
mod tests;
