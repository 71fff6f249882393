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

/// The places of one listener.
pub(crate) struct Places {
    free: Arc<Semaphore>,
    strangers: Strangers,
    taken: AtomicU64,
}

/// The connections that have not shown the token, the oldest first.
type Strangers = Arc<Mutex<BTreeMap<u64, CancellationToken>>>;

impl Places {
    pub(crate) fn new(count: usize) -> Self {
        Self {
            free: Arc::new(Semaphore::new(count)),
            strangers: Strangers::default(),
            taken: AtomicU64::new(0),
        }
    }

    /// Takes a slot for an unauthenticated client. If none is free, the oldest
    /// unauthenticated connection is closed; if all are authenticated, this
    /// waits.
    pub(crate) async fn take(&self) -> ConnectionSlot {
        let permit = if let Ok(permit) = Arc::clone(&self.free).try_acquire_owned() {
            permit
        } else {
            let oldest = self.strangers.lock().pop_first();
            if let Some((_, leave)) = oldest {
                leave.cancel();
            }
            let free = Arc::clone(&self.free).acquire_owned();
            free.await.expect("the semaphore is never closed")
        };
        let number = self.taken.fetch_add(1, Ordering::Relaxed);
        let leave = CancellationToken::new();
        self.strangers.lock().insert(number, leave.clone());
        ConnectionSlot {
            leave,
            _permit: permit,
            visitor: Visitor(Arc::new(PlaceEntry {
                number,
                strangers: Arc::clone(&self.strangers),
            })),
        }
    }
}

/// A taken place, until it is dropped.
pub(crate) struct ConnectionSlot {
    /// Cancelled when the connection must make room.
    pub(crate) leave: CancellationToken,
    /// Its client.
    pub(crate) visitor: Visitor,
    _permit: OwnedSemaphorePermit,
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.visitor.is_known();
    }
}

/// The client of a connection. It accompanies each request, so that the token
/// check can mark it as authenticated.
#[derive(Clone)]
pub(crate) struct Visitor(Arc<PlaceEntry>);

struct PlaceEntry {
    number: u64,
    strangers: Strangers,
}

impl Visitor {
    /// The client has shown the token: it keeps its place.
    pub(crate) fn is_known(&self) {
        self.0.strangers.lock().remove(&self.0.number);
    }
}
