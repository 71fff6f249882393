//! A lost link: the leases of its programs, and the attempts to connect again.
//!
//! Start at [`Link::lose`].

use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant, SystemTime};

use super::{Link, LinkMaker};

/// The delay between attempts to reconnect: initial and maximum.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

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

    /// The elapsed time of the leases; `None` if the link is not lost.
    fn lease_elapsed(&self) -> Option<Duration> {
        let lost = self.state.lock().lost?.at;
        let counted = self.maker.lease_since(lost);
        Some(counted.map_or(Duration::ZERO, |since| since.elapsed()))
    }

    /// Whether a program needs the link.
    fn is_needed(&self) -> bool {
        let state = self.state.lock();
        let is_dropped = !state.dropped.is_empty();
        drop(state);
        is_dropped || self.all_programs().iter().any(|it| !it.is_left())
    }

    /// Gives up programs whose lease has expired; the far side has ended them. Returns whether others need the link.
    fn give_up(&self, elapsed: Duration, why: &str) -> bool {
        let name = &self.options.name;
        let mut others = false;
        for program in self.all_programs() {
            let lease = program.lease();
            if lease > elapsed {
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
        state.dropped.retain(|_, end| end.lease > elapsed);
        others |= !state.dropped.is_empty();
        if !others {
            state.lost = None;
        }
        others
    }

    /// The time until the next lease expires.
    fn next_lease(&self, elapsed: Duration) -> Duration {
        let programs = self.all_programs();
        let mut leases: Vec<Duration> = programs.iter().map(|program| program.lease()).collect();
        leases.extend(self.state.lock().dropped.values().map(|end| end.lease));
        let left = leases.iter().filter_map(|lease| lease.checked_sub(elapsed));
        left.filter(|left| !left.is_zero())
            .min()
            .unwrap_or(BACKOFF.1)
    }

    /// Connects once, and meanwhile gives up programs whose lease expires: an attempt can take as long as a person
    /// needs for an answer.
    async fn attempt(self: &Arc<Self>) -> Attempt {
        let mut connecting = pin!(self.connect(Vec::new()));
        loop {
            let Some(elapsed) = self.lease_elapsed() else {
                return Attempt::Over;
            };
            let left = self.next_lease(elapsed);
            let failure = match tokio::time::timeout(left, &mut connecting).await {
                Ok(Ok(_)) => return Attempt::Over,
                Ok(Err(error)) => Some(error.to_string()),
                Err(_) => None,
            };
            let Some(elapsed) = self.lease_elapsed() else {
                return Attempt::Over;
            };
            let why = failure.as_deref().unwrap_or("it does not answer");
            tracing::debug!(host = self.options.name, why, "the host is not reached");
            if !self.give_up(elapsed, why) {
                return Attempt::Over;
            }
            if failure.is_some() {
                return Attempt::Failed(self.next_lease(elapsed));
            }
        }
    }
}

/// The outcome of an attempt to connect.
enum Attempt {
    /// There is a link, or nothing needs one any more.
    Over,
    /// It failed; the next lease expires after this time.
    Failed(Duration),
}

/// Reconnects with backoff.
async fn reconnect(link: Weak<Link>) {
    let mut wait = BACKOFF.0;
    loop {
        let Some(link) = link.upgrade() else { return };
        if !link.is_needed() {
            link.state.lock().lost = None;
            return;
        }
        let Attempt::Failed(left) = link.attempt().await else {
            return;
        };
        drop(link);
        // Wake up when the next lease expires, even during a longer delay.
        tokio::time::sleep(wait.min(left)).await;
        wait = (wait * 2).min(BACKOFF.1);
    }
}
