//! Checks whether the user's limits suffice for a command.
//!
//! Otherwise tokio panics at its first thread or descriptor, or waits for ever
//! for later threads.

use std::sync::{Arc, Barrier};
use std::thread;

use anyhow::bail;
use rustix::process::{Resource, getrlimit};

/// Threads besides tokio's workers: for files, input, the record, the zygote and
/// signals.
const OTHERS: usize = 6;

/// The minimum number of open files for a command and one tool, with a margin.
const FILES: u64 = 32;

/// Fails if too few files can be open at once.
pub(crate) fn check_files() -> anyhow::Result<()> {
    let limit = getrlimit(Resource::Nofile).current;
    match limit {
        Some(limit) if limit < FILES => bail!(
            "at least {FILES} open files are needed, and the limit is {limit}; raise it (`ulimit \
             -n`)"
        ),
        _ => Ok(()),
    }
}

/// The number of worker threads: one per processor, or fewer if the process
/// limit requires it.
pub(crate) fn workers() -> anyhow::Result<usize> {
    let wanted = thread::available_parallelism().map_or(1, usize::from);
    let started = startable(wanted + OTHERS);
    match started.checked_sub(OTHERS) {
        None | Some(0) => bail!(
            "only {started} of {} threads could be started; end other programs of this user, or \
             raise the limits (`ulimit -u`, `ulimit -v`)",
            OTHERS + 1
        ),
        Some(workers) => Ok(workers),
    }
}

/// The number of threads that can be started at once, up to `wanted`. They have
/// ended when this returns.
fn startable(wanted: usize) -> usize {
    let mut threads = Vec::with_capacity(wanted);
    let gates: Vec<Arc<Barrier>> = (0..wanted).map(|_| Arc::new(Barrier::new(2))).collect();
    for gate in &gates {
        let theirs = Arc::clone(gate);
        let spawned = thread::Builder::new().spawn(move || {
            theirs.wait();
        });
        match spawned {
            Ok(thread) => threads.push(thread),
            Err(_) => break,
        }
    }
    let started = threads.len();
    for (gate, thread) in gates.iter().zip(threads) {
        gate.wait();
        let _ = thread.join();
    }
    started
}
