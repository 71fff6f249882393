//! A lost link: the leases of its programs, and the attempts to connect again.
//!
//! Start at [`Link::lose`].

use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use tokio::time::Instant;
use windlass_process::{lease_left, lease_wait, note_lease};

use super::{DroppedEnd, Link, LinkMaker};

/// The delay between attempts to reconnect: initial and maximum.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// How long the leases of a lost link have counted; `None` while they do not count.
#[derive(Debug, Clone, Copy)]
struct LeaseTime(Option<Duration>);

impl LeaseTime {
    /// The rest of a lease.
    fn left(self, lease: Duration) -> Duration {
        self.0.map_or(lease, |counted| lease_left(lease, counted))
    }
}

/// The loss of a link.
#[derive(Debug, Clone, Copy)]
pub(super) struct LinkLoss {
    pub(super) at: Instant,
    /// The time of the last message on the clock, for people.
    pub(super) since: SystemTime,
}

impl LinkMaker {
    /// When the lease of a lost link started to count; `None` if it does not count yet.
    pub(super) fn lease_since(&self, lost: Instant) -> Option<Instant> {
        match self {
            Self::Command(_) => Some(lost),
            Self::Source(source) => source.lease_since().map(|since| since.max(lost)),
        }
    }
}

impl Link {
    /// Handles a broken link after this time of silence: reconnects while a program needs it and a lease has not
    /// expired.
    pub(super) fn lose(self: &Arc<Self>, number: u64, silence: Duration) {
        {
            let mut state = self.state.lock();
            if state.links != number {
                return;
            }
            state.sender = None;
            state.lost = Some(LinkLoss {
                at: Instant::now(),
                since: SystemTime::now() - silence,
            });
        }
        self.wake_all();
        windlass_task::spawn(reconnect(Arc::downgrade(self)));
    }

    /// The time of the leases; `None` if the link is not lost.
    fn lease_time(&self) -> Option<LeaseTime> {
        let lost = self.state.lock().lost?.at;
        let since = self.maker.lease_since(lost);
        Some(LeaseTime(since.map(|since| since.elapsed())))
    }

    /// Whether a program needs the link.
    fn is_needed(&self) -> bool {
        let state = self.state.lock();
        let is_dropped = !state.dropped.is_empty();
        drop(state);
        is_dropped || self.all_programs().iter().any(|it| !it.is_left())
    }

    /// Gives up programs whose lease has expired; the far side has ended them. Returns whether others need the link.
    fn give_up(&self, time: LeaseTime, why: &str) -> bool {
        let name = &self.options.name;
        let mut others = false;
        for program in self.all_programs() {
            let lease = program.lease();
            if !time.left(lease).is_zero() {
                others = true;
                continue;
            }
            let why = format!(
                "host `{name}` was unreachable for its lease of {} s ({why}); the host ends the \
                 program",
                lease.as_secs()
            );
            program.lose(&why, 0);
            self.state.lock().programs.remove(&program.number);
        }
        let mut state = self.state.lock();
        let is_held = |end: &DroppedEnd| !time.left(end.lease).is_zero();
        state.dropped.retain(|_, end| is_held(end));
        others |= !state.dropped.is_empty();
        if !others {
            state.lost = None;
        }
        others
    }

    /// The time until the next lease expires; none if it has expired.
    fn next_lease(&self, time: LeaseTime) -> Duration {
        let programs = self.all_programs();
        let mut leases: Vec<Duration> = programs.iter().map(|program| program.lease()).collect();
        leases.extend(self.state.lock().dropped.values().map(|end| end.lease));
        let left = leases.into_iter().map(|lease| time.left(lease));
        left.min().unwrap_or(BACKOFF.1)
    }

    /// Connects once, and meanwhile gives up programs whose lease expires: an attempt can take as long as a person
    /// needs for an answer.
    async fn attempt(self: &Arc<Self>) -> Attempt {
        let mut connecting = pin!(self.connect(Vec::new()));
        loop {
            let Some(time) = self.lease_time() else {
                return Attempt::Over;
            };
            if time.0.is_none() {
                note_lease(|| format!("{}: leases do not count", self.options.name));
            }
            let failure = tokio::select! {
                biased;
                connected = &mut connecting => match connected {
                    Ok(_) => return Attempt::Over,
                    Err(error) => Some(error.to_string()),
                },
                () = lease_wait(self.next_lease(time)) => None,
            };
            let Some(time) = self.lease_time() else {
                return Attempt::Over;
            };
            let why = failure.as_deref().unwrap_or("it does not answer");
            tracing::debug!(host = self.options.name, why, "the host is not reached");
            if !self.give_up(time, why) {
                return Attempt::Over;
            }
            if failure.is_some() {
                return Attempt::Failed;
            }
        }
    }
}

/// The outcome of an attempt to connect.
enum Attempt {
    /// There is a link, or nothing needs one any more.
    Over,
    Failed,
}

/// Reconnects with backoff.
async fn reconnect(link: Weak<Link>) {
    let mut wait = BACKOFF.0;
    loop {
        let Some(connected) = link.upgrade() else {
            return;
        };
        if !connected.is_needed() {
            connected.state.lock().lost = None;
            return;
        }
        if let Attempt::Over = connected.attempt().await {
            return;
        }
        drop(connected);
        pause(&link, wait).await;
        wait = (wait * 2).min(BACKOFF.1);
    }
}

/// Waits for this time, or until the next lease expires.
async fn pause(link: &Weak<Link>, time: Duration) {
    let over = Instant::now() + time;
    loop {
        let left = {
            let Some(link) = link.upgrade() else { return };
            let Some(time) = link.lease_time() else {
                return;
            };
            link.next_lease(time)
        };
        let left = left.min(over.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            return;
        }
        lease_wait(left).await;
    }
}
