//! How programs are held together on Linux: a zygote, a shim per program, and lifelines.
//!
//! Start at [`start`]. In the runtime's process run `zygotes` (gets shims), `start` (sends the order), `link` (talks to
//! a shim), `foreground` (what the programs of a terminal do), `guard` (what a dead zygote leaves) and `sweep` (what a dead runtime left); in any process, `ancestry` (is it below a shim). In processes of their own run
//! `zygote` and `shim`, with `end` for ending a tree. The rest is for both. The page `docs/design/processes.md` tells
//! the whole story.

mod ancestry;
mod end;
mod foreground;
mod guard;
mod limit;
mod link;
mod marker;
mod shim;
mod socket;
mod spawn;
mod start;
mod sweep;
mod sys;
mod tree;
mod wire;
mod zygote;
mod zygotes;

use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) use ancestry::descends_from_tool;
pub(crate) use foreground::{
    BRIEF, BriefWait, Device, Foreground, Runs, Waits, foreground, is_theirs,
};
pub(crate) use guard::OWN_SESSIONS;
pub(crate) use link::{Hold, Watch};
pub(crate) use start::start;
pub(crate) use sweep::sweep;
pub(crate) use tree::{Member, descendants, everyone, tasks};
pub(crate) use zygotes::Zygotes;

static READY: AtomicBool = AtomicBool::new(false);

/// See [`crate::init`].
pub(crate) fn init() {
    zygote::run_if_started_as_one();
    limit::raise();
    READY.store(true, Ordering::Release);
}

/// Whether [`init`] ran, so that this executable can be started as a zygote.
pub(crate) fn ready() -> bool {
    READY.load(Ordering::Acquire)
}

/// What this process carries into the programs that it starts without a zygote.
pub(crate) fn own_marker() -> Option<(&'static str, String)> {
    Some((marker::VARIABLE, marker::RuntimeId::own().ok()?.to_string()))
}
