//! Whether this process descends from a shim.
//!
//! A shim is a subreaper, so everything that its program started stays below it: neither `setsid` nor a double fork nor
//! a cleared environment leads out. The walk goes up from this process, parent by parent.

use rustix::io::Errno;
use rustix::process::{Pid, getpid, test_kill_process};

use super::guard::is_shim;
use super::marker;
use super::tree::Member;

/// A walk begins anew when a process on its way has gone meanwhile; at most so often.
const WALKS: usize = 16;

/// See [`crate::descends_from_tool`].
pub(crate) fn descends_from_tool() -> bool {
    // What was started without a shim has nothing but its marker.
    if std::env::var_os(marker::VARIABLE).is_some() {
        return true;
    }
    let own = getpid().as_raw_nonzero().get();
    (0..WALKS).find_map(|_| walk(own)).unwrap_or(true)
}

/// Whether there is a shim above a process; `None` when somebody on the way went meanwhile.
fn walk(from: i32) -> Option<bool> {
    let mut member = Member::read(from)?;
    loop {
        let parent = member.parent;
        // Whoever started the first process of this namespace is out of sight.
        let Some(pid) = Pid::from_raw(parent) else {
            return Some(false);
        };
        if is_shim(parent) {
            return Some(true);
        }
        let Some(next) = Member::read(parent) else {
            return match test_kill_process(pid) {
                // It is hidden, as those of other users may be.
                Err(Errno::PERM) => Some(false),
                Err(_) => None,
                // It is this user's own, and somebody hides it.
                Ok(()) => Some(true),
            };
        };
        if next.start > member.start {
            // The parent has gone, and its id is another's.
            return None;
        }
        member = next;
    }
}
