//! Holds process trees together on Linux, with a zygote, a shim per program, and lifelines.
//!
//! Start at [`start`]. `docs/design/processes.md` explains the whole design.
//!
//! - In the runtime's process: `zygotes` (provides shims), `start` (sends the start order), `link` (communicates with a
//!   shim), `foreground` (inspects the programs of a terminal), `guard` (handles a dead zygote), `sweep` (cleans up after
//!   a dead runtime; `scope` separates tests), and `sandbox` (prepares confinements, with `ruleset`, `filter`, `mounts`,
//!   `sightings`, `private`, `placeholder` and `proxy`).
//! - In any process: `ancestry` (whether it descends from a shim) and `peer` (whether a client does).
//! - In separate processes: `zygote` and `shim`, with `end` (ends a tree), `enter` (starts a confined program),
//!   `namespaces` (creates its namespaces) and `supervise` (enforces its limits). `brand` marks all of them.

mod ancestry;
mod brand;
mod brief_waits;
mod cgroup;
mod confine_message;
mod confine_wire;
mod end;
mod enter;
mod filter;
mod filter_program;
mod foreground;
mod git_exclude;
mod guard;
mod held_streams;
mod holder;
mod keep_wire;
mod keeping;
mod limit;
mod link;
mod marker;
mod mounts;
mod namespaces;
mod peer;
mod placeholder;
mod plain_child;
mod private;
mod proxy;
mod registration;
mod retained;
mod ruleset;
mod sandbox;
#[cfg(debug_assertions)]
mod scope;
mod shim;
mod sightings;
mod socket;
mod spawn;
mod start;
mod supervise;
mod support;
mod sweep;
mod sys;
mod tree;
mod wire;
mod writing;
mod zygote;
mod zygotes;

use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) use ancestry::descends_from_tool;
pub(crate) use brief_waits::BriefWaits;
pub(crate) use confine_message::{ConfineMessage, Outliving};
pub(crate) use foreground::{BriefWait, Device, Foreground, Runs, Waits, foreground, is_theirs};
pub(crate) use guard::OWN_SESSIONS;
pub(crate) use keeping::{KeepPreparation, adopt, end_held, held_output, holder_socket, look_up};
pub(crate) use link::{ShimControl, ShimMonitor};
pub(crate) use peer::peer_is_tool;
pub(crate) use plain_child::PlainChild;
pub(crate) use retained::{Retained, TakeOutcome};
pub(crate) use sandbox::{PrepareError, Prepared, Sandbox};
pub(crate) use start::{Extras, start};
pub(crate) use support::sandbox_support;
pub(crate) use sweep::{end_holder, sweep};
pub(crate) use tree::{Member, descendants, everyone, read_small, tasks};
pub(crate) use zygotes::Zygotes;

/// A shim or zygote that was stopped more often than this is killed instead of
/// continued.
const STOPS: u32 = 16;

static READY: AtomicBool = AtomicBool::new(false);

/// See [`crate::init`].
pub(crate) fn init() {
    zygote::run_if_started_as_one();
    hide_from_tools();
    limit::raise();
    READY.store(true, Ordering::Release);
}

/// Prevents other processes of this user from reading this one's memory, environment and descriptors, and from
/// attaching a debugger. Lasts until the next `execve`.
fn hide_from_tools() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

/// Whether [`init`] has run, so that this executable can be started as a
/// zygote.
pub(crate) fn ready() -> bool {
    READY.load(Ordering::Acquire)
}

/// The marker for programs that this process starts without a zygote.
pub(crate) fn own_marker() -> Option<(&'static str, String)> {
    Some((marker::VARIABLE, marker::RuntimeId::own().ok()?.to_string()))
}
