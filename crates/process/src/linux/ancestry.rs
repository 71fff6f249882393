//! Detects whether a process descends from a shim.
//!
//! A shim is a subreaper, so all descendants of its program stay below it,
//! despite `setsid`, double forks or a cleared environment. The walk goes up
//! from a process through its parents. If shim, zygote and runtime were killed,
//! the brand identifies the process.

use rustix::io::Errno;
use rustix::process::{Pid, getpid, test_kill_process};

use super::guard::is_shim;
use super::tree::Member;
use super::{brand, marker};

/// The maximum number of restarts of a walk when a process on its way has
/// exited.
const WALKS: usize = 16;

/// See [`crate::descends_from_tool`].
pub(crate) fn descends_from_tool() -> bool {
    // A process that was started without a shim has only its marker.
    if std::env::var_os(marker::VARIABLE).is_some() || brand::is_on_us() {
        return true;
    }
    is_below(own(), is_shim, &[])
}

/// Whether a process descends from this one, or from a shim that is not an ancestor of this one.
pub(super) fn is_below_us_or_another_shim(pid: i32) -> bool {
    let own = own();
    let above = ancestors(own);
    is_below(pid, |pid| pid == own || is_shim(pid), &above)
}

fn own() -> i32 {
    getpid().as_raw_nonzero().get()
}

/// The processes above a process, the nearest first.
pub(super) fn ancestors(pid: i32) -> Vec<i32> {
    let parent = |member: &Member| Member::read(member.parent);
    let line = std::iter::successors(Member::read(pid), parent).skip(1);
    line.map(|it| it.pid).collect()
}

fn is_below(pid: i32, is_tool: impl Fn(i32) -> bool, end: &[i32]) -> bool {
    let walks = (0..WALKS).find_map(|_| walk(pid, &is_tool, end));
    walks.unwrap_or(true)
}

/// Whether there is a tool's process between a process and `end`; `None` if a
/// process on the way exited meanwhile.
fn walk(from: i32, is_tool: impl Fn(i32) -> bool, end: &[i32]) -> Option<bool> {
    let mut member = Member::read(from)?;
    loop {
        let parent = member.parent;
        // The parent of the first process of this namespace is not visible.
        let Some(pid) = Pid::from_raw(parent) else {
            return Some(false);
        };
        if end.contains(&parent) {
            return Some(false);
        }
        if is_tool(parent) {
            return Some(true);
        }
        let Some(next) = Member::read(parent) else {
            return match test_kill_process(pid) {
                // It is hidden, as processes of other users may be.
                Err(Errno::PERM) => Some(false),
                Err(_) => None,
                // It belongs to this user but is hidden.
                Ok(()) => Some(true),
            };
        };
        if next.start > member.start {
            // The parent has exited, and its pid was reused.
            return None;
        }
        member = next;
    }
}
