//! Names of a pool's subjects, streams and buckets.

use windlass_hold_wire::{LinkSession, ProgramOrigin};

use crate::PoolError;

/// The maximum length of a name.
const LONGEST: usize = 48;

/// Whether this is a valid name of a pool or worker.
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

    /// The bucket of present workers.
    pub(crate) fn workers(&self) -> String {
        format!("windlass-{}-workers", self.pool)
    }

    /// The subjects of that bucket's changes.
    pub(crate) fn workers_changes(&self) -> String {
        format!("$KV.{}.", self.workers())
    }

    /// The bucket of claims.
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

    /// The stream of stored output.
    pub(crate) fn output(&self) -> String {
        format!("windlass-{}-output", self.pool)
    }

    /// The subjects of that stream.
    pub(crate) fn all_output(&self) -> String {
        format!("windlass.{}.output.>", self.pool)
    }

    /// The subject of the stored output of one program.
    pub(crate) fn output_of(&self, origin: &ProgramOrigin) -> String {
        let ProgramOrigin { session, program } = origin;
        let key = claim_key(session, *program);
        format!("windlass.{}.output.{key}", self.pool)
    }

    /// The stream of programs that runtimes have given up.
    pub(crate) fn losses(&self) -> String {
        format!("windlass-{}-lost", self.pool)
    }

    /// The subjects of programs that were given up, of one worker or of all with `*`.
    pub(crate) fn all_lost(&self, worker: &str) -> String {
        format!("windlass.{}.lost.{worker}.>", self.pool)
    }

    /// The subject that notes that a program of a worker was given up.
    pub(crate) fn lost(&self, worker: &str, origin: &ProgramOrigin) -> String {
        let key = claim_key(&origin.session, origin.program);
        format!("windlass.{}.lost.{worker}.{key}", self.pool)
    }

    /// The program of such a subject.
    pub(crate) fn lost_program(subject: &str) -> Option<ProgramOrigin> {
        let mut parts = subject.rsplit('.');
        let program = parts.next()?.parse().ok()?;
        let session = u128::from_str_radix(parts.next()?, 16).ok()?;
        Some(ProgramOrigin {
            session: session.to_be_bytes(),
            program,
        })
    }

    /// The subject for link requests to a worker.
    pub(crate) fn open(&self, worker: &str) -> String {
        format!("windlass.{}.open.{worker}", self.pool)
    }

    /// The subject for drain requests to a worker.
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

/// The key of the claim of a start.
pub(crate) fn claim_key(session: &LinkSession, program: u64) -> String {
    format!("{:032x}.{program}", u128::from_be_bytes(*session))
}

/// A random word that cannot be guessed.
pub(crate) fn random_word() -> String {
    let mut bytes = [0; 16];
    // If this fails, the name can be guessed, but the link still works.
    let _ = getrandom::fill(&mut bytes);
    format!("{:032x}", u128::from_be_bytes(bytes))
}
