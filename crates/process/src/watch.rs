//! Two kinds of process trees behind one interface: held by a shim, or a plain
//! process group.

use std::time::Duration;

use crate::plain;

/// Sends orders to the tree.
pub(crate) enum TreeControl {
    #[cfg(target_os = "linux")]
    Shim(crate::linux::ShimControl),
    Plain(plain::ChildControl),
}

/// Receives events from the tree. The driver polls it.
pub(crate) enum TreeMonitor {
    #[cfg(target_os = "linux")]
    Shim(crate::linux::ShimMonitor),
    Plain(plain::ChildMonitor),
}

impl TreeControl {
    pub(crate) fn signal(&self, number: i32) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Shim(hold) => hold.signal(number),
            Self::Plain(hold) => hold.signal(number),
        }
    }

    /// Closes other copies of the input's pipe, after ours.
    pub(crate) fn close_input(&self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Shim(hold) => hold.close_input(),
            Self::Plain(_) => {}
        }
    }

    pub(crate) fn end(&self, grace: Duration) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Shim(hold) => hold.end(grace),
            Self::Plain(hold) => hold.end(grace),
        }
    }

    pub(crate) fn release(&self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Shim(hold) => hold.release(),
            Self::Plain(hold) => hold.release(),
        }
    }

    /// Releases a kept program; any other is ended.
    pub(crate) fn leave(&self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Shim(hold) => hold.leave(),
            Self::Plain(hold) => hold.release(),
        }
    }
}

impl TreeMonitor {
    /// Returns an idle shim for reuse, if there is one.
    pub(crate) fn recycle(self, hold: &TreeControl) {
        match (self, hold) {
            #[cfg(target_os = "linux")]
            (Self::Shim(watch), TreeControl::Shim(hold)) => watch.recycle(hold),
            _ => {}
        }
    }

    pub(crate) fn loss(&self) -> String {
        match self {
            #[cfg(target_os = "linux")]
            Self::Shim(watch) => watch.loss(),
            Self::Plain(_) => String::from("its status could not be fetched"),
        }
    }
}
