//! Locks that a reader of the event stream holds.
//!
//! Start at [`Holding`]. A page names its locks with its stream. If the stream
//! breaks and no other stream names them within [`GRACE`], they are handed
//! back: the page is gone.

use std::collections::HashMap;
use std::time::Duration;

use axum::http::HeaderMap;
use parking_lot::Mutex;

use crate::api::Api;
use crate::error::ApiError;
use crate::proxy;

/// How long a page has to read again. It does so each time that it draws other
/// screens, and after a connection has failed.
const GRACE: Duration = Duration::from_secs(8);
/// The most locks that one reader may hold.
const MOST: usize = 64;

/// How many streams name each lock.
pub(crate) type Holders = Mutex<HashMap<HeldLock, usize>>;

/// A lock and its place.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct HeldLock {
    session: String,
    handle: String,
    lock: String,
}

/// Guard: the locks are held while it lives.
pub(crate) struct Holding {
    api: Api,
    locks: Vec<HeldLock>,
}

impl Holding {
    /// Holds the locks of a list `SESSION/HANDLE/LOCK` by comma.
    pub(crate) fn new(api: &Api, list: &str) -> Result<Self, ApiError> {
        let named = list.split(',').map(str::trim).filter(|one| !one.is_empty());
        let locks: Option<Vec<HeldLock>> = named.map(held_lock).collect();
        let locks = locks.filter(|locks| locks.len() <= MOST).ok_or_else(|| {
            ApiError::bad(format!(
                "`holding` must be a list of at most {MOST} SESSION/HANDLE/LOCK by comma"
            ))
        })?;
        let mut holders = api.0.holders.lock();
        for lock in &locks {
            *holders.entry(lock.clone()).or_default() += 1;
        }
        drop(holders);
        let api = api.clone();
        Ok(Self { api, locks })
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        let mut holders = self.api.0.holders.lock();
        for lock in self.locks.drain(..) {
            if let Some(count) = holders.get_mut(&lock) {
                *count -= 1;
                if *count == 0 {
                    windlass_task::spawn(hand_back_unless_held(self.api.clone(), lock));
                }
            }
        }
    }
}

/// Hands a lock back unless a stream names it within the grace.
async fn hand_back_unless_held(api: Api, lock: HeldLock) {
    tokio::time::sleep(GRACE).await;
    {
        let mut holders = api.0.holders.lock();
        if holders.get(&lock) != Some(&0) {
            return;
        }
        holders.remove(&lock);
    }
    let HeldLock {
        session,
        handle,
        lock,
    } = lock;
    // It may have been handed back, or have ended: both are as good.
    if let Some(here) = api.sessions().get(&session) {
        if let Ok(handle) = here.handle(&handle) {
            let _ = handle.unlock(&lock);
        }
    } else if let Some((peer, _)) = proxy::owner(&api, &HeaderMap::new(), &session).await {
        let path = format!("/api/v1/sessions/{session}/handles/{handle}/lock/{lock}");
        let _ = peer.delete(&path).await;
    }
}

fn held_lock(text: &str) -> Option<HeldLock> {
    let mut parts = text.split('/').filter(|part| is_name(part));
    let held = HeldLock {
        session: parts.next()?.to_owned(),
        handle: parts.next()?.to_owned(),
        lock: parts.next()?.to_owned(),
    };
    let is_whole = text.split('/').count() == 3;
    is_whole.then_some(held)
}

/// Whether a text may stand in a path as it is.
pub(crate) fn is_name(text: &str) -> bool {
    let fits = |character: char| character.is_ascii_alphanumeric() || "_.-".contains(character);
    !text.is_empty() && text.chars().all(fits)
}

#[cfg(test)]
#[path = "holding_tests.rs"]
mod tests;
