//! The two ways a program is kept, behind one face: by a shim, or as a plain process group.

use std::task::{Context, Poll};
use std::time::Duration;

use crate::driver::News;
use crate::plain;

/// The caller's side: orders.
pub(crate) enum Hold {
    #[cfg(target_os = "linux")]
    Shim(crate::linux::Hold),
    Plain(plain::Hold),
}

/// The task's side: news.
pub(crate) enum Watch {
    #[cfg(target_os = "linux")]
    Shim(crate::linux::Watch),
    Plain(plain::Watch),
}

impl Hold {
    pub(crate) fn signal(&self, number: i32) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Shim(hold) => hold.signal(number),
            Self::Plain(hold) => hold.signal(number),
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

    /// Lets go of a program that is kept; any other is released.
    pub(crate) fn leave(&self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Shim(hold) => hold.leave(),
            Self::Plain(hold) => hold.release(),
        }
    }
}

impl Watch {
    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<News> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Shim(watch) => watch.poll_next(cx),
            Self::Plain(watch) => watch.poll_next(cx),
        }
    }

    /// Gives back a keeper that is free, if it is one that can keep another program.
    pub(crate) fn recycle(self, hold: &Hold) {
        match (self, hold) {
            #[cfg(target_os = "linux")]
            (Self::Shim(watch), Hold::Shim(hold)) => watch.recycle(hold),
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
