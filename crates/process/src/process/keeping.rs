//! A program that is kept for another owner: its address, the notes for that owner, and its release.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::{Process, Side};
use crate::watch::TreeControl;
use crate::{HeldKey, OwnerNotes, ReadNoter};

/// The grace period of a remote program that is released.
const LEFT_GRACE: Duration = Duration::from_secs(2);

impl Process {
    /// The address of the program for another process, if it is kept.
    pub fn held_key(&self) -> Option<&HeldKey> {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.held_key(),
        };
        #[cfg(target_os = "linux")]
        return shared.kept.as_ref().map(|kept| &kept.key);
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// The process that holds the tree, and its start time in clock ticks since
    /// boot; `None` if there is none.
    pub fn holder(&self) -> Option<(u32, u64)> {
        let Side::Local(shared) = self.side() else {
            return None;
        };
        #[cfg(target_os = "linux")]
        if let TreeControl::Shim(hold) = &shared.hold {
            let member = crate::linux::Member::read(hold.root())?;
            return Some((member.pid.cast_unsigned(), member.start));
        }
        None
    }

    /// Records the read position for the next owner of the program, if it is
    /// kept. Does not keep the program alive.
    pub fn read_noter(&self) -> Option<ReadNoter> {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.read_noter(),
        };
        #[cfg(target_os = "linux")]
        {
            let kept = shared.kept.as_ref()?;
            let retained = Arc::clone(&kept.retained);
            Some(Box::new(move |offset| retained.set_cursor(offset)))
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = shared;
            None
        }
    }

    /// The recorded read position, also from before an adoption.
    pub fn noted_read(&self) -> u64 {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.noted_read(),
        };
        #[cfg(target_os = "linux")]
        return shared
            .kept
            .as_ref()
            .map_or(0, |kept| kept.retained.cursor());
        #[cfg(not(target_os = "linux"))]
        0
    }

    /// The notes for the next owner of the program, if it is kept on this machine.
    pub fn owner_notes(&self) -> Option<OwnerNotes> {
        let Side::Local(shared) = self.side() else {
            return None;
        };
        #[cfg(target_os = "linux")]
        return shared.kept.as_ref().map(|kept| OwnerNotes {
            retained: Arc::clone(&kept.retained),
        });
        #[cfg(not(target_os = "linux"))]
        {
            let _ = shared;
            None
        }
    }

    /// Releases the program. A kept one continues and its lease begins; any
    /// other is ended. Reading has stopped when this returns.
    pub async fn leave(&self) {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => {
                if remote.held_key().is_some() {
                    remote.leave().await;
                } else {
                    remote.end(LEFT_GRACE).await;
                }
                return;
            }
        };
        shared.left.store(true, Ordering::Release);
        shared.drained().await;
        shared.hold.leave();
    }
}
