//! The names of a pool on the broker.

use windlass_hold_wire::LinkSession;

use crate::PoolError;

/// The longest name of a pool or a worker.
const LONGEST: usize = 48;

/// Whether a pool or a worker can be called so.
pub fn is_name(name: &str) -> bool {
    let is_part = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'_' || letter == b'-';
    !name.is_empty() && name.len() <= LONGEST && name.bytes().all(is_part)
}

/// The subjects, streams and buckets of one pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PoolNames {
    pub(crate) pool: String,
}

impl PoolNames {
    pub(crate) fn new(pool: &str) -> Result<Self, PoolError> {
        let pool = pool.to_owned();
        if is_name(&pool) {
            Ok(Self { pool })
        } else {
            Err(PoolError::Name {
                name: pool,
                what: "pool",
            })
        }
    }

    /// The bucket that shows which workers are there.
    pub(crate) fn workers(&self) -> String {
        format!("windlass-{}-workers", self.pool)
    }

    /// The subjects under which changes of that bucket are published.
    pub(crate) fn workers_changes(&self) -> String {
        format!("$KV.{}.", self.workers())
    }

    /// The bucket in which each start is claimed.
    pub(crate) fn claims(&self) -> String {
        format!("windlass-{}-claims", self.pool)
    }

    /// The work queue of starts.
    pub(crate) fn starts(&self) -> String {
        format!("windlass-{}-starts", self.pool)
    }

    /// The subject of starts for one worker, or for all with `*`.
    pub(crate) fn start(&self, worker: &str) -> String {
        format!("windlass.{}.start.{worker}", self.pool)
    }

    /// The subject on which a worker is asked for a link.
    pub(crate) fn open(&self, worker: &str) -> String {
        format!("windlass.{}.open.{worker}", self.pool)
    }

    /// The subject on which a worker is told to drain.
    pub(crate) fn drain(&self, worker: &str) -> String {
        format!("windlass.{}.drain.{worker}", self.pool)
    }

    /// The subject of a link's messages for the worker.
    pub(crate) fn to_worker(&self, link: &str) -> String {
        format!("windlass.{}.link.{link}.far", self.pool)
    }

    /// The subject of a link's messages for the runtime.
    pub(crate) fn to_runtime(&self, link: &str) -> String {
        format!("windlass.{}.link.{link}.near", self.pool)
    }
}

/// The key under which a start is claimed.
pub(crate) fn claim_key(session: &LinkSession, program: u64) -> String {
    format!("{:032x}.{program}", u128::from_be_bytes(*session))
}

/// A random word for a name that nobody guesses.
pub(crate) fn random_word() -> String {
    let mut bytes = [0; 16];
    // Without random numbers the system is beyond help; a link by a known name still works.
    let _ = getrandom::fill(&mut bytes);
    format!("{:032x}", u128::from_be_bytes(bytes))
}
