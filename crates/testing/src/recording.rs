//! A recorder that stores everything in memory, in order.

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::sync::watch;
use windlass_runtime::{Entry, Recorder};

/// An entry of the recorder.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "tests hold few of them")]
pub enum Recorded {
    /// Something happened.
    Happened(Entry),
    /// The runtime asked for durability of everything so far.
    Durable,
}

/// A recorder in memory, which can be made slow.
#[derive(Debug)]
pub struct MemoryRecorder {
    told: Mutex<Vec<Recorded>>,
    held: watch::Sender<bool>,
}

impl Default for MemoryRecorder {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryRecorder {
    /// A recording that is durable at once.
    pub fn new() -> Self {
        Self {
            told: Mutex::default(),
            held: watch::Sender::new(false),
        }
    }

    /// All entries so far.
    pub fn told(&self) -> Vec<Recorded> {
        self.told.lock().clone()
    }

    /// From now on nothing becomes durable until [`MemoryRecorder::release`].
    pub fn hold(&self) {
        self.held.send_replace(true);
    }

    /// Completes held requests for durability.
    pub fn release(&self) {
        self.held.send_replace(false);
    }

    fn keep(&self, told: Recorded) {
        self.told.lock().push(told);
    }
}

#[async_trait]
impl Recorder for MemoryRecorder {
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
