//! Checks whether the user's limits suffice for a command.
//!
//! Otherwise tokio panics at its first thread or descriptor, or waits for ever
//! for later threads.

use std::sync::RwLock;
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
    let gate = RwLock::new(());
    let closed = gate.write();
    thread::scope(|scope| {
        let wait = || drop(gate.read());
        let threads = (0..wanted).map(|_| thread::Builder::new().spawn_scoped(scope, wait));
        let started = threads.take_while(Result::is_ok).count();
        drop(closed);
        started
    })
}
