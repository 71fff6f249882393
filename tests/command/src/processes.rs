//! A tree of processes that is hard to end, and a look at `/proc`.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::eventually;

/// How many processes a [`Victim`] has.
pub const VICTIMS: usize = 7;

/// A foreground process, a background child, a child that ignores `SIGTERM`
/// (with one of its own), a double fork under `nohup`, a daemon, and a daemon
/// without an environment. Each carries a number of seconds to sleep that no
/// other process has, and is killed by its pid when this is dropped.
pub struct Victim {
    token: String,
}

impl Victim {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let token = format!("9{:07}.{next:04}", std::process::id());
        Self { token }
    }

    /// The line that starts it; the shell that runs it is the foreground.
    pub fn script(&self) -> String {
        let token = &self.token;
        format!(
            "sleep {token} & \
             sh -c 'trap \"\" TERM; sleep {token}; :' & \
             (nohup sleep {token} >/dev/null 2>&1 &) ; \
             setsid sleep {token} & \
             setsid env -i /bin/sleep {token} & \
             wait; : {token}"
        )
    }

    /// A line that starts three processes: a shell, a background child and a daemon.
    pub fn trio(&self) -> String {
        let token = &self.token;
        format!("sleep {token} & setsid sleep {token} & wait; : {token}")
    }

    /// A process that only sleeps, under the same number.
    pub fn sleep(&self) -> String {
        format!("sleep {}", self.token)
    }

    /// The same, in the place of the shell that would run it.
    pub fn only_sleep(&self) -> String {
        format!("exec {}", self.sleep())
    }

    /// Those of its processes that live.
    pub fn alive(&self) -> Vec<u32> {
        let has = |pid: &u32| {
            let args = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&args).contains(&self.token)
        };
        pids().filter(has).collect()
    }

    /// All of it runs: two shells, and five that sleep.
    pub fn is_up(&self) -> bool {
        let pids = self.alive();
        let sleeping = pids.iter().filter(|pid| name(**pid) == "sleep").count();
        pids.len() == VICTIMS && sleeping == VICTIMS - 2
    }

    #[track_caller]
    pub fn wait_until_up(&self) {
        eventually("the victim is up", || self.is_up());
    }

    /// The process that holds its tree together: the parent of the foreground.
    pub fn shim(&self) -> u32 {
        let pids = self.alive();
        let foreground = pids.iter().find(|pid| {
            let parent = parent(**pid);
            name(**pid) == "sh" && parent.is_some_and(|parent| !pids.contains(&parent))
        });
        parent(*foreground.expect("it runs")).expect("it runs")
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        for pid in self.alive() {
            kill(pid);
        }
    }
}

pub fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The short name of a process.
pub fn name(pid: u32) -> String {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    name.trim().to_owned()
}

/// The state and the parent of a process; `None` when it is gone.
fn stat(pid: u32) -> Option<(char, u32)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

pub fn parent(pid: u32) -> Option<u32> {
    stat(pid).map(|(_, parent)| parent)
}

/// It has exited, whether or not its parent has waited for it.
pub fn has_exited(pid: u32) -> bool {
    stat(pid).is_none_or(|(state, _)| state == 'Z')
}

/// The processes that descend from this one, with their states.
pub fn descendants(ancestor: u32) -> Vec<(u32, char)> {
    let all: Vec<(u32, char, u32)> = pids()
        .filter_map(|pid| stat(pid).map(|(state, parent)| (pid, state, parent)))
        .collect();
    let mut found: Vec<(u32, char)> = Vec::new();
    let mut parents = vec![ancestor];
    while let Some(next) = parents.pop() {
        for (pid, state, _) in all.iter().filter(|(_, _, parent)| *parent == next) {
            found.push((*pid, *state));
            parents.push(*pid);
        }
    }
    found
}

/// How many descriptors a process has open.
pub fn descriptors(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count()
}

/// Kills a process; one that has gone already is no matter.
pub fn kill(pid: u32) {
    signal(pid, Signal::KILL);
}

pub fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(pid.cast_signed()).expect("no pid is zero");
    let _ = kill_process(pid, signal);
}

/// The far end that has the programs of a session now, by the folder of sessions.
pub fn far_end_in(folder: &Path) -> Option<u32> {
    let sessions = fs::read_dir(folder).ok()?;
    let pids = sessions.flatten().filter_map(|session| {
        let text = fs::read_to_string(session.path().join("lock")).ok()?;
        text.trim().parse().ok()
    });
    pids.into_iter().find(|pid| !has_exited(*pid))
}
