//! The runtime's end of a control socket: sends orders and receives events.

use std::future::poll_fn;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::Interest;
use windlass_hold_wire::{HolderOrder, HolderReport};

use super::filter::FilterOptions;
use super::guard::{KnownKeeper, is_shim};
use super::socket::{self, Received};
use super::tree::Member;
use super::wire::{REPORT_LIMIT, Report};
use super::zygotes::{IdleShim, RunningZygote, Zygotes};
use crate::driver::News;
use crate::readiness::{Registered, register};
use crate::{Exit, Receipt, Survivor};

/// The time limit for a shim's reply, after the grace period and the time for killing.
const ANSWER: Duration = Duration::from_secs(5);
/// How long a shim may take to kill its tree before it reports survivors, with a margin.
const KILLING: Duration = Duration::from_secs(6);

/// Sends orders to a shim. Dropping it, or [`ShimControl::release`], breaks the lifeline.
pub(crate) struct ShimControl {
    /// `None` when the tree is gone: the shim may then have another program.
    control: Mutex<Option<Arc<OwnedFd>>>,
    shim: i32,
    /// The shim's zygote, if it is ours.
    zygote: Option<Arc<RunningZygote>>,
    /// The grace period of a kept program: its lifeline may break without ending it.
    kept: Option<Duration>,
    /// Whether the shim has completed the last order, or is gone.
    answered: Arc<AtomicBool>,
}

/// Receives reports of a shim.
pub(crate) struct ShimMonitor {
    control: Registered,
    shim: i32,
    /// Registers it with the watchers of zygotes while it has a program.
    keeper: Option<KnownKeeper>,
    answered: Arc<AtomicBool>,
    /// The pool to which an idle shim returns.
    home: Weak<Zygotes>,
    /// The shim's own filter.
    filter: Option<FilterOptions>,
    /// The wait status of a program that had exited before it was adopted.
    exited: Option<i32>,
}

impl ShimControl {
    /// `kept` is the grace period of a kept program.
    pub(super) fn new(
        watch: &ShimMonitor,
        zygote: Option<Arc<RunningZygote>>,
        kept: Option<Duration>,
    ) -> Self {
        Self {
            control: Mutex::new(Some(Arc::clone(watch.control.get_ref()))),
            shim: watch.shim,
            zygote,
            kept,
            answered: Arc::clone(&watch.answered),
        }
    }

    /// The process whose descendants are the tree.
    pub(crate) fn root(&self) -> i32 {
        self.shim
    }

    /// Sends a signal to the program's group, if the program still runs.
    pub(crate) fn signal(&self, number: i32) {
        if let Ok(number) = u8::try_from(number) {
            self.send(&HolderOrder::Signal(number).write());
        }
    }

    /// Makes the holder of a kept program drop its copy of the input's pipe.
    pub(crate) fn close_input(&self) {
        if self.kept.is_some() {
            self.send(&HolderOrder::CloseInput.write());
        }
    }

    /// Starts to end the tree.
    pub(crate) fn end(&self, grace: Duration) {
        self.send(&HolderOrder::End { grace }.write());
        self.expect_answer(grace.saturating_add(KILLING));
    }

    /// Releases the tree: the shim ends it with the grace period of its command.
    pub(crate) fn release(&self) {
        if let Some(grace) = self.kept {
            self.end(grace);
        }
        self.leave();
    }

    /// Breaks the lifeline. A kept program continues; any other is ended.
    pub(crate) fn leave(&self) {
        if let Some(control) = self.control.lock().take() {
            let _ = rustix::net::shutdown(&control, rustix::net::Shutdown::Write);
            if self.kept.is_none() {
                // It closes its own end as soon as it notices this.
                self.expect_answer(Duration::ZERO);
            }
        }
    }

    /// Kills the shim if it does not reply in time. Its tree then goes to the zygote, which ends it.
    fn expect_answer(&self, time: Duration) {
        let shim = Member::read(self.shim).filter(|it| is_shim(it.pid));
        let (Some(shim), Ok(runtime)) = (shim, tokio::runtime::Handle::try_current()) else {
            return;
        };
        let answered = Arc::clone(&self.answered);
        let time = time.saturating_add(ANSWER);
        runtime.spawn(async move {
            tokio::time::sleep(time).await;
            if !answered.load(Ordering::Acquire) {
                shim.signal(rustix::process::Signal::KILL);
            }
        });
    }

    fn send(&self, order: &[u8]) {
        // The lock is held while sending, so that an order never reaches the next program of a reused shim.
        if let Some(control) = &*self.control.lock() {
            // A shim that is gone has ended its tree; the monitor reports that.
            let _ = socket::send(control.as_fd(), order, &[]);
        }
    }
}

impl ShimMonitor {
    pub(super) fn new(
        control: OwnedFd,
        home: &Arc<Zygotes>,
        filter: Option<FilterOptions>,
    ) -> io::Result<Self> {
        Ok(Self {
            control: register(Arc::new(control), Interest::READABLE)?,
            shim: 0,
            keeper: None,
            answered: Arc::default(),
            home: Arc::downgrade(home),
            filter,
            exited: None,
        })
    }

    /// Receives reports of an adopted program's shim.
    pub(crate) fn adopted(control: OwnedFd, shim: i32, exited: Option<i32>) -> io::Result<Self> {
        Ok(Self {
            control: register(Arc::new(control), Interest::READABLE)?,
            shim,
            keeper: Some(KnownKeeper::new(shim)),
            answered: Arc::default(),
            home: Weak::new(),
            filter: None,
            exited,
        })
    }

    /// Sends orders to an adopted program's shim.
    pub(crate) fn hold(&self, grace: Duration) -> ShimControl {
        ShimControl::new(self, None, Some(grace))
    }

    /// Returns an idle shim to the pool. Afterwards `hold` has no effect.
    pub(crate) fn recycle(self, hold: &ShimControl) {
        // A released shim was told to exit.
        let taken = hold.control.lock().take();
        let control = self.control.into_inner();
        if taken.is_some_and(|taken| Arc::ptr_eq(&taken, &control))
            && let (Some(home), Some(control)) = (self.home.upgrade(), Arc::into_inner(control))
            && let Some(zygote) = &hold.zygote
        {
            home.give_back(IdleShim {
                control,
                zygote: Arc::clone(zygote),
                filter: self.filter,
            });
        }
    }

    pub(super) fn send(&self, order: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        socket::send(self.control.get_ref().as_fd(), order, fds)
    }

    /// The first report, which also identifies the shim.
    pub(super) async fn first(&mut self) -> Result<Report, ShimGone> {
        let report = poll_fn(|cx| self.poll_report(cx)).await;
        if let Ok(Report::Started { shim, .. }) = &report {
            self.shim = shim.cast_signed();
            self.keeper = Some(KnownKeeper::new(self.shim));
        }
        report
    }

    /// The next event. [`News::Gone`] is the last.
    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<News> {
        if let Some(status) = self.exited.take() {
            let exit = Exit::from_wait_status(status);
            return Poll::Ready(News::Exited { exit, idle: false });
        }
        loop {
            let report = ready!(self.poll_report(cx));
            if matches!(
                report,
                Err(_) | Ok(Report::Running(HolderReport::Ended { .. }))
            ) {
                self.answered.store(true, Ordering::Release);
            }
            return Poll::Ready(match report {
                Err(ShimGone { .. }) => News::Gone,
                Ok(Report::Running(HolderReport::Exited { status, idle })) => News::Exited {
                    exit: Exit::from_wait_status(status),
                    idle,
                },
                Ok(Report::Running(HolderReport::Idle)) => News::Idle,
                Ok(Report::Running(HolderReport::Ended { ended, survivors })) => {
                    News::Ended(Receipt {
                        ended: ended as usize,
                        survivors: survivors.into_iter().map(survivor).collect(),
                    })
                }
                Ok(Report::Exceeded(kind)) => News::Exceeded(kind),
                Ok(Report::Started { .. } | Report::Failed { .. }) => continue,
            });
        }
    }

    /// The explanation for a program whose shim disappeared.
    pub(crate) fn loss(&self) -> String {
        format!(
            "its shim (pid {}) was killed; everything it had started was ended",
            self.shim
        )
    }

    fn poll_report(&mut self, cx: &mut Context<'_>) -> Poll<Result<Report, ShimGone>> {
        let mut buffer = [0; REPORT_LIMIT];
        loop {
            let Ok(mut guard) = ready!(self.control.poll_read_ready(cx)) else {
                return Poll::Ready(Err(ShimGone { unread: false }));
            };
            match socket::receive(self.control.get_ref().as_fd(), &mut buffer, drop) {
                Received::Message(length) => {
                    if let Some(report) = Report::read(&buffer[..length]) {
                        return Poll::Ready(Ok(report));
                    }
                }
                Received::Nothing => guard.clear_ready(),
                Received::End { unread } => return Poll::Ready(Err(ShimGone { unread })),
            }
        }
    }
}

/// The shim is gone, perhaps without reading an order.
pub(super) struct ShimGone {
    pub(super) unread: bool,
}

fn survivor((pid, name): (u32, Vec<u8>)) -> Survivor {
    Survivor {
        pid,
        name: String::from_utf8_lossy(&name).into_owned(),
    }
}

pub(super) fn milliseconds(duration: Duration) -> u32 {
    duration.as_millis().try_into().unwrap_or(u32::MAX)
}
