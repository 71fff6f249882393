//! Limits the number of connections.
//!
//! A client that has presented the token keeps its connection. Of the
//! unauthenticated ones, the oldest is closed to make room, so that they cannot
//! lock out others.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// The slots of one listener.
pub struct ConnectionSlots {
    free: Arc<Semaphore>,
    unauthenticated: Unauthenticated,
    taken: AtomicU64,
}

/// The unauthenticated connections, oldest first.
type Unauthenticated = Arc<Mutex<BTreeMap<u64, CancellationToken>>>;

impl ConnectionSlots {
    /// This many, all free.
    pub fn new(count: usize) -> Self {
        Self {
            free: Arc::new(Semaphore::new(count)),
            unauthenticated: Unauthenticated::default(),
            taken: AtomicU64::new(0),
        }
    }

    /// Takes a slot for an unauthenticated client. If none is free, the oldest
    /// unauthenticated connection is closed; if all are authenticated, this
    /// waits.
    pub async fn take(&self) -> ConnectionSlot {
        let permit = if let Ok(permit) = Arc::clone(&self.free).try_acquire_owned() {
            permit
        } else {
            let oldest = self.unauthenticated.lock().pop_first();
            if let Some((_, leave)) = oldest {
                leave.cancel();
            }
            let free = Arc::clone(&self.free).acquire_owned();
            free.await.expect("the semaphore is never closed")
        };
        let number = self.taken.fetch_add(1, Ordering::Relaxed);
        let leave = CancellationToken::new();
        self.unauthenticated.lock().insert(number, leave.clone());
        ConnectionSlot {
            leave,
            _permit: permit,
            client: SlotClient(Arc::new(SlotEntry {
                number,
                unauthenticated: Arc::clone(&self.unauthenticated),
            })),
        }
    }
}

/// A taken slot. Dropping it frees the slot.
pub struct ConnectionSlot {
    /// Cancelled when the connection must make room.
    pub leave: CancellationToken,
    /// Its client.
    pub client: SlotClient,
    _permit: OwnedSemaphorePermit,
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.client.remove();
    }
}

/// The client of a connection. It accompanies each request, so that the token
/// check can mark it as authenticated.
#[derive(Clone)]
pub struct SlotClient(Arc<SlotEntry>);

struct SlotEntry {
    number: u64,
    unauthenticated: Unauthenticated,
}

impl SlotClient {
    /// Keeps the slot for this client, which has presented the token.
    pub fn mark_authenticated(&self) {
        self.remove();
    }

    /// Removes it from the connections that make room for others.
    fn remove(&self) {
        self.0.unauthenticated.lock().remove(&self.0.number);
    }
}
