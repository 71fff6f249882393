//! A recorder that keeps what it is told, in order.

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::sync::watch;
use windlass_runtime::{Entry, Recorder};

/// One thing that a recorder was told.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "tests hold few of them")]
pub enum Recorded {
    /// Something happened.
    Happened(Entry),
    /// The runtime asked for everything so far to be made durable.
    Durable,
}

/// Keeps everything in memory, and can be slow on demand.
#[derive(Debug)]
pub struct Recording {
    told: Mutex<Vec<Recorded>>,
    held: watch::Sender<bool>,
}

impl Default for Recording {
    fn default() -> Self {
        Self::new()
    }
}

impl Recording {
    /// A recording that is durable at once.
    pub fn new() -> Self {
        Self {
            told: Mutex::default(),
            held: watch::Sender::new(false),
        }
    }

    /// Everything told so far.
    pub fn told(&self) -> Vec<Recorded> {
        self.told.lock().clone()
    }

    /// From now on nothing becomes durable until [`Recording::release`].
    pub fn hold(&self) {
        self.held.send_replace(true);
    }

    /// What was held becomes durable.
    pub fn release(&self) {
        self.held.send_replace(false);
    }

    fn keep(&self, told: Recorded) {
        self.told.lock().push(told);
    }
}

#[async_trait]
impl Recorder for Recording {
    fn happened(&self, entry: &Entry) {
        self.keep(Recorded::Happened(entry.clone()));
    }

    async fn durable(&self) {
        let mut held = self.held.subscribe();
        // `self` holds the sender, so there is always a next value.
        let _ = held.wait_for(|held| !held).await;
        self.keep(Recorded::Durable);
    }
}
