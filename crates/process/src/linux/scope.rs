//! The scope of a sweep, which keeps concurrent tests from ending each other's leftovers.
//!
//! Only programs with debug assertions have scopes; all others sweep everything. A scope is a thread, its owner, which
//! the environment of a runtime names ([`VARIABLE`]). It lasts as long as its owner. A runtime with a scope sweeps only
//! leftovers of that scope; one without sweeps all leftovers except those of a scope whose owner still runs.
//!
//! No tool can escape a sweep by a scope:
//!
//! - Every process carries the owner as a number, like the brand: the hard limit of the resident set (`RLIMIT_RSS`),
//!   which Linux has ignored since 2.4. It can only be lowered, and lower numbers mean later threads.
//! - An owner that has started after the runtime does not count. A runtime without a scope puts its own id there.
//! - A runtime accepts an owner only between itself and the nearest shim above it. So an owner that a tool names is a
//!   process of that tool, which is swept itself.

use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::marker::RuntimeId;
use super::tree::{Member, tasks};
use super::{ancestry, brand};

/// The variable that names the owner, in the form of the link `/proc/thread-self`: `PID/task/TID`.
pub(super) const VARIABLE: &str = "WINDLASS_SWEEP_SCOPE";
/// The limit that carries the owner, in `/proc/PID/limits`.
const LIMIT: &str = "Max resident set";

/// Whether a process of a dead runtime belongs to the scope that this runtime sweeps.
pub(super) fn covers(pid: i32, runtime: RuntimeId) -> bool {
    owner_of(pid, runtime) == own()
}

/// The number for everything that this runtime starts.
pub(super) fn number(runtime: RuntimeId) -> Option<u64> {
    brand::encode(own().unwrap_or(runtime))
}

/// Puts the number on this process and all its descendants.
pub(super) fn put_on(number: u64) {
    let current = getrlimit(Resource::Rss).maximum;
    if current.is_none_or(|current| number < current) {
        let limit = Rlimit {
            current: Some(number),
            maximum: Some(number),
        };
        let _ = setrlimit(Resource::Rss, limit);
    }
}

/// The owner of this runtime's scope.
fn own() -> Option<RuntimeId> {
    static OWN: OnceLock<Option<RuntimeId>> = OnceLock::new();
    *OWN.get_or_init(|| {
        let named = std::env::var(VARIABLE).ok()?;
        accepted(&named, RuntimeId::own().ok()?.pid)
    })
}

/// The named thread, if its process is above the runtime and no shim is between them.
fn accepted(named: &str, runtime: i32) -> Option<RuntimeId> {
    let (process, thread) = named.split_once("/task/")?;
    let (process, thread): (i32, i32) = (process.parse().ok()?, thread.parse().ok()?);
    let above = ancestry::ancestors(runtime);
    let mut below_shim = above.iter().take_while(|pid| !super::guard::is_shim(**pid));
    let is_accepted = below_shim.any(|pid| *pid == process)
        && tasks(process).is_ok_and(|tasks| tasks.contains(&thread));
    let start = Member::read(thread).filter(|_| is_accepted)?.start;
    Some(RuntimeId { pid: thread, start })
}

/// The owner of the scope of a process, if it still runs.
fn owner_of(pid: i32, runtime: RuntimeId) -> Option<RuntimeId> {
    let owner = brand::decode(brand::hard_limit(pid, LIMIT).ok()??)?;
    (owner.start <= runtime.start && owner.alive()).then_some(owner)
}

#[cfg(test)]
#[path = "scope_tests.rs"]
mod tests;
