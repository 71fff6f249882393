//! The marker in every program's environment, by which a later runtime finds the processes of a dead one.

use std::fmt;
use std::io;
use std::str::FromStr;
use std::sync::OnceLock;

use super::brand;
use super::tree::Member;

/// The variable that marks a program as ours.
pub(super) const VARIABLE: &str = "WINDLASS_RUNTIME";
/// [`VARIABLE`] with its `=`.
pub(super) const PREFIX: &[u8] = b"WINDLASS_RUNTIME=";

/// A runtime process, identified by pid and start time within a boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct RuntimeId {
    pub(super) pid: i32,
    /// In clock ticks since boot.
    pub(super) start: u64,
}

impl RuntimeId {
    /// This process.
    pub(super) fn own() -> io::Result<Self> {
        static OWN: OnceLock<RuntimeId> = OnceLock::new();
        if let Some(&own) = OWN.get() {
            return Ok(own);
        }
        let pid = rustix::process::getpid().as_raw_nonzero().get();
        let member = Member::read(pid).ok_or_else(|| io::Error::other("`/proc` cannot be read"))?;
        let start = member.start;
        Ok(*OWN.get_or_init(|| Self { pid, start }))
    }

    /// Whether it still runs.
    pub(super) fn alive(self) -> bool {
        Member::read(self.pid).is_some_and(|it| it.start == self.start && it.alive())
    }

    /// The runtime that a process belongs to: by its brand or, without one, by
    /// its initial environment.
    pub(super) fn of(pid: i32) -> Option<Self> {
        brand::of(pid).or_else(|| Self::in_environment(pid))
    }

    fn in_environment(pid: i32) -> Option<Self> {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
        let entry = environment
            .split(|&byte| byte == 0)
            .find_map(|entry| entry.strip_prefix(PREFIX))?;
        std::str::from_utf8(entry).ok()?.parse().ok()
    }
}

impl fmt::Display for RuntimeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.pid, self.start)
    }
}

impl FromStr for RuntimeId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (pid, start) = text.split_once('-').ok_or(())?;
        Ok(Self {
            pid: pid.parse().map_err(drop)?,
            start: start.parse().map_err(drop)?,
        })
    }
}
